package worksite

import (
	"os"
	"path/filepath"
)

// FindProgram finds a program by a list of directories. Relative ones are left out: a
// worker writes there.
func FindProgram(name, list string) string {
	for _, dir := range filepath.SplitList(list) {
		at := filepath.Join(dir, name)
		if fi, err := os.Stat(at); filepath.IsAbs(dir) && err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o111 != 0 {
			return at
		}
	}
	return ""
}
