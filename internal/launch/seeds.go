package launch

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/agent"
)

// copySeeds puts what a client unpacked in a directory into the state of a worker, where nothing of that
// name is left, and makes the directories in which it sees the rest.
func copySeeds(to *os.Root, dir string, how *agent.Unpacking) error {
	from := os.DirFS(dir)
	for _, pattern := range how.Seeds {
		names, err := fs.Glob(from, pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := copySeed(to, from, name); err != nil {
				return err
			}
		}
	}
	for _, name := range how.Shown {
		if err := to.MkdirAll(filepath.FromSlash(name), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// copySeed copies a file.
func copySeed(to *os.Root, from fs.FS, name string) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
