//go:build !linux

package state

import "os"

func unlock(*os.File) {}
