//go:build !linux

package testkernel

import "errors"

// Main has nothing to emulate.
func Main([]string) int { return 120 }

// Serve has nothing to answer for.
func Serve(string) (func() error, error) { return nil, errors.New("only on Linux") }
