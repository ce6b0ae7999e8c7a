//go:build !linux

package overlay

import "errors"

// Opaque is false: only Linux has such layers.
func Opaque(int) bool { return false }

// MakeOpaque is refused: only Linux has such layers.
func MakeOpaque(int) error { return errors.ErrUnsupported }
