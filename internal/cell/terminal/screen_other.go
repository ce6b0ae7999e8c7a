//go:build !linux

package terminal

import (
	"context"
	"os"
)

// Screen is the terminal of a worker, for others to join. Nobody does here.
type Screen struct{}

// NewScreen is a screen that shows nothing.
func NewScreen(*os.File) (*Screen, error) { return &Screen{}, nil }

// Write shows nothing.
func (*Screen) Write(p []byte) (int, error) { return len(p), nil }

// Open opens nothing.
func (*Screen) Open(string) error { return ErrNoScreen }

// Close closes nothing.
func (*Screen) Close() {}

// Join finds nothing to join.
func Join(context.Context, string, *os.File, func()) (Parting, error) { return "", ErrNoScreen }
