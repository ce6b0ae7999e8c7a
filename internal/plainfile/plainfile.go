// Package plainfile opens and reads regular files in places where somebody else may have
// put something of another kind: a named pipe, on which an open waits, a device without
// an end, a link that leads elsewhere.
//
// It never waits, and it reads no more than the caller allows. It does not say whether a
// path stays below a directory: open from an os.Root, or from an open directory, and pass
// the result to Check.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrKind says that something is not a regular file.
var ErrKind = errors.New("not a regular file")

// Flags are what an open needs so that it neither waits nor follows a link at the end of
// a path.
const Flags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// Bounds for Read.
const (
	Line = 64 << 10 // for a file of a line or two
	Text = 64 << 20 // for a file that git or a person writes
)

// Open opens a regular file, and follows no link at the end of its path. A file that flag
// creates is for its owner alone.
func Open(path string, flag int) (*os.File, error) {
	f, err := Check(os.OpenFile(path, flag|Flags, 0o600))
	if errors.Is(err, syscall.ELOOP) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("a symbolic link, %w", ErrKind)}
	}
	return f, err
}

// OpenLinked opens a regular file for reading, also through links: a file of the
// operator's own, who may keep it elsewhere.
func OpenLinked(path string) (*os.File, error) {
	return Check(os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

// Check takes the result of an open. It closes and refuses a file that is not regular.
func Check(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: ErrKind}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read reads what Open opens. A file of more than max bytes is an error.
func Read(path string, max int64) ([]byte, error) {
	f, err := Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Bounded(f, max)
}

// ReadLinked reads what OpenLinked opens. A file of more than max bytes is an error.
func ReadLinked(path string, max int64) ([]byte, error) {
	f, err := OpenLinked(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Bounded(f, max)
}

// Bounded reads an open file to its end. More than max bytes are an error.
func Bounded(f *os.File, max int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(b)) > max {
		err = &fs.PathError{Op: "read", Path: f.Name(), Err: fmt.Errorf("larger than %d bytes", max)}
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}
