package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"cordon/internal/ledger"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// cordon run -d starts itself again in a session of its own and waits until the lease
// is sealed. That other cordon has no terminal; for an interactive worker it makes one,
// which nobody sees who does not attach.

// background is what the cordon that was started so has.
type background struct {
	ready *os.File // takes the worker's name when the lease is sealed
	outer *os.File // the outer side of its terminal; nil: it has none
}

// The variable that says so, and what it is: whether there is to be a terminal.
const (
	backgroundVariable = "CORDON_BACKGROUND"
	withTerminal       = "terminal"
	withoutTerminal    = "none"
)

// readyDescriptor is where the name is written.
const readyDescriptor = 3

// consoleFile is where such a cordon says what it has to say, among what is kept of a
// worker.
const consoleFile = "console"

// detach starts this command in the background.
func (a *app) detach(ctx context.Context, interactive bool) error {
	ready, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	p, err := startBackground(interactive, theirs)
	theirs.Close()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = p.Signal(syscall.SIGTERM) })
	name, err := io.ReadAll(ready)
	stop()
	id := strings.TrimSpace(string(name))
	if err != nil || id == "" { // it has said why
		state, err := p.Wait()
		if err != nil {
			return err
		}
		return codeError(max(state.ExitCode(), exitFailed))
	}
	pid := p.Pid
	_ = p.Release() // nobody waits for it
	return a.sayDetached(id, pid, interactive)
}

func startBackground(interactive bool, ready *os.File) (*os.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	kind := withoutTerminal
	if interactive {
		kind = withTerminal
	}
	return os.StartProcess(self, append([]string{"cordon"}, os.Args[1:]...), &os.ProcAttr{
		Env: append(os.Environ(), backgroundVariable+"="+kind), Files: []*os.File{null, os.Stdout, os.Stderr, ready},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

func (a *app) sayDetached(id string, pid int, interactive bool) error {
	if a.json {
		return a.object(&view.Detached{Worker: id, Process: pid, Interactive: interactive})
	}
	a.print("%s  in the background", id)
	if interactive {
		a.say("  cordon attach %s     its terminal", id)
	} else {
		a.say("  cordon logs -f %s     what it prints, to the end", id)
	}
	a.say("  cordon show %s     its result", id)
	a.say("  kill %d     to stop it; nothing is lost", pid)
	return nil
}

// inBackground notices that this cordon was started by detach, and makes its terminal.
func (a *app) inBackground() error {
	kind, told := os.LookupEnv(backgroundVariable)
	if !told {
		return nil
	}
	if err := os.Unsetenv(backgroundVariable); err != nil { // nobody else is meant
		return err
	}
	ready := os.NewFile(readyDescriptor, "ready")
	if fi, err := ready.Stat(); err != nil || fi.Mode().Type() != os.ModeNamedPipe {
		return usage("%s is set, and it is not cordon run -d that set it", backgroundVariable)
	}
	unix.CloseOnExec(readyDescriptor)
	a.background = &background{ready: ready}
	if kind != withTerminal {
		return nil
	}
	outer, inner, err := pty.Open()
	if err != nil {
		return err
	}
	err = errors.Join(pty.Setsize(outer, &pty.Winsize{Rows: 24, Cols: 80}), unix.IoctlSetInt(int(inner.Fd()), unix.TIOCSCTTY, 0))
	a.in, a.background.outer = inner, outer
	return err
}

// leased says that the lease is sealed: from here on a cordon in the background says
// what it has to say to a file, and nobody waits for it.
func (a *app) leased(s *session.Session, w *ledger.Worker) error {
	if a.background == nil {
		return nil
	}
	dir := s.State.Worker(string(w.ID))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, consoleFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil { // held until this process ends
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	if err := errors.Join(unix.Dup2(int(f.Fd()), 1), unix.Dup2(int(f.Fd()), 2)); err != nil {
		return err
	}
	s.Voice = terminal.NewVoice(a.err)
	if _, err := fmt.Fprintln(a.background.ready, w.ID); err != nil {
		return err
	}
	return a.background.ready.Close()
}

// backgroundLives reports whether the cordon that writes to a console file still runs: it
// holds a lock on the file.
func backgroundLives(console string) bool {
	f, err := os.OpenFile(console, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
