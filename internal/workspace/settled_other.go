//go:build !linux

package workspace

// writeOut is for systems that tell one start of the machine from another.
func writeOut(string) error { return nil }
