//go:build !linux

package limit

// MachineMemory is 0 where there are no cells that a limit would be for.
func MachineMemory() (int64, error) { return 0, nil }

// SpareMemory is 0 there too.
func SpareMemory() int64 { return 0 }

func onDisk(string) bool { return true }
