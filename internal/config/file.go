package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"cordon/internal/plainfile"
	"cordon/internal/strictyaml"
)

// Name is the name of the file in its directory.
const Name = "config.yaml"

const maxFile = 1 << 20

// Loaded is a configuration, and where it came from.
type Loaded struct {
	Config
	File  string           // where the file is, or would be
	There bool             // whether there is one
	Given strictyaml.Given // the keys that it gives, with their lines
}

// Dir is the directory of the operator's configuration, whether it is there or not. No
// cell can read or write it.
func Dir() (string, error) {
	base := os.Getenv("XDG_CONFIG_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no directory for your configuration: %w", err)
		}
		base = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(base) {
		return "", fmt.Errorf("XDG_CONFIG_HOME must be an absolute path, not %q", base)
	}
	return filepath.Join(base, "cordon"), nil
}

// Load reads the operator's configuration.
func Load() (Loaded, error) {
	dir, err := Dir()
	if err != nil {
		return Loaded{}, err
	}
	l := Loaded{Config: Default(), File: filepath.Join(dir, Name)}
	text, err := ReadOwn(l.File)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return Loaded{}, err
	}
	l.There = true
	l.Config, l.Given, err = Parse(l.File, text)
	if err != nil {
		return Loaded{}, err
	}
	return l, nil
}

// Secret reads the key of the webhook's signature. It is checked like the configuration,
// and nobody else may read it either.
func (l Loaded) Secret() ([]byte, error) {
	file := filepath.Join(filepath.Dir(l.File), l.Notify.Webhook.Secret)
	text, err := ReadOwn(file)
	if err != nil {
		return nil, err
	}
	fi, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if fi.Mode().Perm()&0o077 != 0 {
		return nil, refused(file, "others can read it", "chmod go= "+file)
	}
	return text, nil
}

// ReadOwn reads a file that only the operator, or root, can have written.
func ReadOwn(file string) ([]byte, error) {
	if _, err := os.Lstat(file); err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(file)
	if err != nil { // a link to nothing is not a missing file
		return nil, refused(file, err.Error(), "")
	}
	f, err := plainfile.Open(real, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, fmt.Errorf("%s: %w", real, err)
	}
	if err := owned(real, &st); err != nil {
		return nil, err
	}
	// The directories of both spellings: a link can be replaced in its own.
	for _, place := range []string{file, real} {
		if err := checkAbove(place); err != nil {
			return nil, err
		}
	}
	return plainfile.Bounded(f, maxFile)
}

// checkAbove refuses a file if others can write a directory above it, or if it lies in a
// repository.
func checkAbove(file string) error {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		var st unix.Stat_t
		if err := unix.Stat(dir, &st); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		if err := owned(dir, &st); err != nil {
			return err
		}
		if isRepository(dir) {
			return refused(file, "it lies inside the repository "+dir, "keep your configuration where no worktree can contain it")
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// owned refuses what others can change.
func owned(path string, st *unix.Stat_t) error {
	if problem, hint := plainfile.Foreign(path, st); problem != "" {
		return refused(path, problem, hint)
	}
	return nil
}

// isRepository reports whether a directory is the top of a worktree or a repository.
func isRepository(dir string) bool {
	there := func(names ...string) bool {
		for _, name := range names {
			if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
				return false
			}
		}
		return true
	}
	return there(".git") || there("HEAD", "objects", "refs")
}

func refused(path, problem, hint string) error {
	return &strictyaml.Error{Name: path, Problem: "your configuration is not used: " + problem, Hint: hint}
}
