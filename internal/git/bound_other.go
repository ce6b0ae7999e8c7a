//go:build !linux

package git

// bound does nothing: the system cannot limit another process.
func bound(int) {}
