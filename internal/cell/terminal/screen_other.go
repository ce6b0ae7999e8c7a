//go:build !linux

package terminal

import (
	"context"
	"os"
)

// Screen is the terminal of a worker, for others to join. Nobody does here.
type Screen struct {
	// Sized is told nothing.
	Sized func(rows, columns uint16)
}

// NewScreen is a screen that shows nothing.
func NewScreen(*os.File) (*Screen, error) { return &Screen{}, nil }

// Write shows nothing.
func (*Screen) Write(p []byte) (int, error) { return len(p), nil }

// PassTo has nobody take anything.
func (*Screen) PassTo(func(keys []byte, rows, cols uint16)) {}

// Type types nowhere.
func (*Screen) Type(string) {}

// Open opens nothing.
func (*Screen) Open(string) error { return ErrNoScreen }

// Close closes nothing.
func (*Screen) Close() {}

// Join finds nothing to join.
func Join(context.Context, string, *os.File, func()) (Parting, error) { return "", ErrNoScreen }
