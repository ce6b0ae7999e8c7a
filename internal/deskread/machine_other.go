//go:build !linux

package deskread

import "cordon/internal/desk"

// MachineOf knows nothing about this machine: workers run on Linux.
func MachineOf(string) desk.Machine { return desk.Machine{} }
