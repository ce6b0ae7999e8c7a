package terminal

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Lend notes how a terminal is before a command has it, and returns how it is had back.
func Lend(tty *os.File) (back func()) {
	before, err := term.GetState(int(tty.Fd()))
	_, _ = tty.WriteString(keepTitle) // one that is gone has none
	return func() {
		takeBack(tty)
		makePlain(tty, true)
		if err == nil {
			_ = term.Restore(int(tty.Fd()), before) // one that is gone needs nothing
		}
	}
}

// takeBack makes this process group the terminal's foreground again.
func takeBack(tty *os.File) {
	signal.Ignore(syscall.SIGTTOU) // a background group is stopped for asking
	defer signal.Reset(syscall.SIGTTOU)
	_ = unix.IoctlSetPointerInt(int(tty.Fd()), unix.TIOCSPGRP, syscall.Getpgrp()) // a terminal that is gone needs nothing
}
