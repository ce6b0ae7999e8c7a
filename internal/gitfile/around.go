package gitfile

import (
	"os"
	"path/filepath"
)

// CheckoutsAround lists the checkouts of the repositories that a directory lies in.
func CheckoutsAround(dir string) []string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	var list []string
	for up := dir; ; up = filepath.Dir(up) {
		if p, ok := PlaceAt(filepath.Join(up, ".git")); ok {
			list = append(list, up)
			if filepath.Base(p.Common) == ".git" {
				list = append(list, filepath.Dir(p.Common))
			}
			for _, linked := range p.Linked() {
				list = append(list, linked.Top)
			}
		}
		if up == filepath.Dir(up) {
			return list
		}
	}
}

// DirAround is the git directory that git finds from a directory. It returns "" if there
// is none.
func DirAround(dir string) string {
	for up := dir; up != ""; up = filepath.Dir(up) {
		entry := filepath.Join(up, ".git")
		if _, err := os.Lstat(entry); err == nil {
			if p, ok := PlaceAt(entry); ok {
				return p.GitDir
			}
			return entry // a pipe, for example
		}
		if _, err := os.Lstat(filepath.Join(up, "HEAD")); err == nil {
			return up
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	return ""
}
