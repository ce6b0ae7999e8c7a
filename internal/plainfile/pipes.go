package plainfile

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
)

// PipeBelow finds a pipe or a device below a directory, among the files that count.
func PipeBelow(ctx context.Context, top string, counts func(string, fs.DirEntry) bool) (found string) {
	_ = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error { // what cannot be read, nobody can open
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil || d.IsDir() || d.Type().IsRegular() || !counts(path, d):
			return nil
		}
		if fi, err := os.Stat(path); err == nil && fi.Mode()&(fs.ModeNamedPipe|fs.ModeDevice) != 0 { // a socket refuses to be opened, at once
			found = path
			return fs.SkipAll
		}
		return nil
	})
	return found
}
