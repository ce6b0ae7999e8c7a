//go:build !linux

package limit

// MachineMemory is 0 where there are no cells that a limit would be for.
func MachineMemory() (int64, error) { return 0, nil }
