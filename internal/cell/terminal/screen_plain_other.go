//go:build !linux

package terminal

import "os"

// makePlain makes a terminal plain. It may be gone.
func makePlain(tty *os.File, _ bool) { _, _ = tty.WriteString(plainScreen) }
