package terminal

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// makePlain makes a terminal plain, and forgets what it has typed by itself. Nobody else
// reads it meanwhile. Errors do not matter: it may be gone.
func makePlain(tty *os.File, asked bool) {
	_, _ = tty.WriteString(plainScreen)
	if asked {
		time.Sleep(answerRoom)
	}
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	if err == nil && group != syscall.Getpgrp() {
		return // what is typed is for others, and who asks is stopped
	}
	_ = unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH)
}
