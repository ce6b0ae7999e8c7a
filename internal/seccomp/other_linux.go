//go:build linux && !amd64 && !arm64

package seccomp

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// There is no table for this architecture: its numbers, the order of clone's
// arguments and its second ABIs have not been looked at.
var errNoFilter = errors.New("seccomp: there is no filter for " + runtime.GOARCH)

func table() []Entry { return nil }

// Program is an error on this architecture.
func Program(bool) ([]unix.SockFilter, error) { return nil, errNoFilter }

// Load is an error on this architecture.
func Load([]unix.SockFilter, bool) (int, error) { return -1, errNoFilter }

// Supervise is an error on this architecture.
func Supervise(int, func(Refusal)) error { return errNoFilter }
