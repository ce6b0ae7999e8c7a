//go:build !linux

package main

// atOnce waits for a condition that files in some directories bring about.
func (s *site) atOnce(what string, holds func() bool, _ ...string) {
	s.t.Helper()
	s.await(what, holds)
}
