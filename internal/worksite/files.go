package worksite

import (
	"os"
	"path/filepath"
)

// RealPath is a path with the links of what is there resolved.
func RealPath(p string) string { return RealPaths(p)[0] }

// RealPaths are paths with the links of what is there resolved. What they have in common is looked
// at once.
func RealPaths(list ...string) []string {
	seen, real := places{}, make([]string, len(list))
	for i, p := range list {
		real[i] = p
		if abs, err := filepath.Abs(p); err == nil {
			real[i] = seen.find(abs).real
		}
	}
	return real
}

// places are the paths that were looked at.
type places map[string]place

type place struct {
	real string
	gone bool // nothing is there, or it cannot be seen
}

func (all places) find(abs string) place {
	if abs == "/" {
		return place{real: abs}
	}
	if known, ok := all[abs]; ok {
		return known
	}
	dir := all.find(filepath.Dir(abs))
	at := place{filepath.Join(dir.real, filepath.Base(abs)), dir.gone}
	if !at.gone {
		at.look()
	}
	all[abs] = at
	return at
}

// look follows a link.
func (at *place) look() {
	fi, err := os.Lstat(at.real)
	if err == nil && fi.Mode()&os.ModeSymlink != 0 {
		var real string
		if real, err = filepath.EvalSymlinks(at.real); err == nil {
			at.real = real
		}
	}
	at.gone = err != nil
}

// WriteSynced writes a file for the operator alone, down to the disk.
func WriteSynced(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		return err
	}
	return f.Sync()
}

// Exists reports whether anything lies at a path, also a link that leads nowhere.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
