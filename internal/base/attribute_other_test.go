//go:build !linux

package base

import "golang.org/x/sys/unix"

func setAttribute(string) error { return unix.ENOTSUP }
