package terminal

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Screen is a terminal whose whole screen a command has. While a person has stopped the command with
// ctrl-z, the shell has the screen, as it was.
type Screen struct {
	on    *os.File
	mutex sync.Mutex // held while the screen is drawn, and while the shell has it
	stops chan os.Signal
	done  chan struct{} // closed: the command needs the screen no more
	ended chan struct{}
}

// Full takes the whole screen of a terminal.
func Full(on *os.File) *Screen {
	s := &Screen{on: on, stops: make(chan os.Signal, 1), done: make(chan struct{}), ended: make(chan struct{})}
	signal.Notify(s.stops, syscall.SIGTSTP)
	s.take()
	go s.lend()
	return s
}

// Restore gives the terminal back as it was.
func (s *Screen) Restore() {
	close(s.done)
	<-s.ended
	signal.Stop(s.stops)
	s.give()
}

func (s *Screen) take() { fmt.Fprint(s.on, "\x1b[?1049h\x1b[?25l") }

func (s *Screen) give() { fmt.Fprint(s.on, "\x1b[?25h\x1b[?1049l") }

// lend lets the shell have the screen whenever this process is stopped.
func (s *Screen) lend() {
	defer close(s.ended)
	for {
		select {
		case <-s.done:
			return
		case <-s.stops:
		}
		if !continuable() {
			continue // nor would the kernel stop it
		}
		s.mutex.Lock()
		s.give()
		stopped()
		s.take()
		s.mutex.Unlock()
	}
}

// stopped stops this process, and returns when it goes on.
func stopped() {
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	defer signal.Stop(goesOn)
	// Once it was listened to, the runtime ignores SIGTSTP.
	if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err == nil {
		<-goesOn
	}
}

// continuable reports whether a shell could continue this process: one of those above it in its session
// has another process group.
func continuable() bool {
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	for pid := os.Getppid(); pid > 1; pid = parentOf(pid) {
		above, err := unix.Getsid(pid)
		if err != nil || above != session {
			return false
		}
		if group, err := unix.Getpgid(pid); err != nil || group != unix.Getpgrp() {
			return err == nil
		}
	}
	return false
}

// parentOf is the parent of a process; 0: it is not known.
func parentOf(pid int) (parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	var state string
	rest := text[bytes.LastIndexByte(text, ')')+1:] // the name of a program may have any character
	if _, err := fmt.Sscan(string(rest), &state, &parent); err != nil {
		return 0
	}
	return parent
}
