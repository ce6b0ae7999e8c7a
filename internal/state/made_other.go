//go:build !linux

package state

// made is not known.
func made(string) string { return "" }
