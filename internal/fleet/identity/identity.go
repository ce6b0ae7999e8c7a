// Package identity keeps who a home or a node is: its key, and the certificate of a home's
// engine. Each is made once, in a file that only its user can read.
//
// A certificate is not signed by anybody and holds no name. A node knows it by its SHA-256,
// which comes with the join token, so nobody who sits between a node and its home can show
// another one.
//
// The package refuses a file that others can read, a link in a file's place, and to replace
// what is there: a damaged key is an error, and never a new key.
package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/nkeys"

	"cordon/internal/plainfile"
)

const keyFile = "key"

// Key is the key of the home or node that keeps its files in a directory. It is made if it is
// not there.
func Key(dir string) (nkeys.KeyPair, error) {
	seed, err := once(filepath.Join(dir, keyFile), func() ([]byte, error) {
		k, err := nkeys.CreateUser()
		if err != nil {
			return nil, err
		}
		return k.Seed()
	})
	if err != nil {
		return nil, err
	}
	k, err := nkeys.FromSeed(seed)
	if err != nil {
		return nil, fmt.Errorf("%s holds no key: %w", filepath.Join(dir, keyFile), err)
	}
	return k, nil
}

// once reads a file, and makes it first if it is not there. Of two processes that make it at
// the same time, both read the file of one.
func once(path string, content func() ([]byte, error)) ([]byte, error) {
	text, err := Read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return text, err
	}
	if text, err = content(); err != nil {
		return nil, err
	}
	if err := create(path, text); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return Read(path)
}

// create writes a file that is not there. It has its name only when it is whole and on the disk.
func create(path string, text []byte) error {
	draft, err := draft(path, text)
	if err != nil {
		return err
	}
	defer os.Remove(draft) // made just now
	return os.Link(draft, path)
}

// Write replaces a file at once.
func Write(path string, text []byte) error {
	draft, err := draft(path, text)
	if err != nil {
		return err
	}
	if err := os.Rename(draft, path); err != nil {
		return errors.Join(err, os.Remove(draft))
	}
	return nil
}

func draft(path string, text []byte) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// Read reads a file that only its user can read.
func Read(path string) ([]byte, error) {
	f, err := plainfile.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if fi.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read or changed by others: it must have the mode 0600", path)
	}
	return plainfile.Bounded(f, plainfile.Line)
}
