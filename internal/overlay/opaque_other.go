//go:build !linux

package overlay

import "errors"

// Opaque is false: only Linux has such layers.
func Opaque(int) (bool, error) { return false, nil }

// MakeOpaque is refused: only Linux has such layers.
func MakeOpaque(int) error { return errors.ErrUnsupported }

// Forget has nothing to remove: only Linux has such layers.
func Forget(int) error { return nil }
