//go:build !linux

package arena

// Act is how an attempt is done: on this system, none is.
type Act struct{}
