// Package background starts cordon again in a session of its own, for cordon run -d and for
// decisions of a desk, and tells that other cordon so. It has no terminal; for an interactive worker it makes one,
// which nobody sees who does not attach.
//
// It refuses to believe a variable alone: who was not started by Start is no background.
package background

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"cordon/internal/fault"
)

// Background is what the cordon that was started so has.
type Background struct {
	Outer *os.File // the outer side of its terminal; nil: it has none
	Inner *os.File // the inner side, which the worker gets

	ready *os.File // takes the worker's name when the lease is sealed
}

// The variable that says so, and what it is: whether there is to be a terminal.
const (
	Variable        = "CORDON_BACKGROUND"
	withTerminal    = "terminal"
	withoutTerminal = "none"
)

// readyDescriptor is where the name is written.
const readyDescriptor = 3

// ConsoleFile is where such a cordon says what it has to say, among what is kept of a
// worker.
const ConsoleFile = "console"

// Start starts this command again in the background, and waits until its lease is sealed.
// Without a name it ended before that, with the code, and has said why.
func Start(ctx context.Context, interactive bool) (name string, pid, code int, err error) {
	s, err := begin(ctx, os.Args[1:], interactive, os.Stdout, os.Stderr)
	return s.Name, s.PID, s.Code, err
}

// Started is a cordon in the background.
type Started struct {
	Name string // of its worker; empty: it ended before its lease was sealed
	PID  int
	Code int    // with which it ended
	Said string // what it said until its lease was sealed
}

// Run starts this program in the background with other arguments, which are those of a
// cordon run --detach, for somebody who is not at a terminal.
func Run(ctx context.Context, args []string) (Started, error) {
	said, theirs, err := os.Pipe()
	if err != nil {
		return Started{}, err
	}
	defer said.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		theirs.Close()
		return Started{}, err
	}
	defer null.Close()
	heard := make(chan []byte, 1)
	go func() { // to its end, which is the seal: a full pipe would stop it before that
		text, _ := io.ReadAll(io.LimitReader(said, mostSaid))
		_, _ = io.Copy(io.Discard, said)
		heard <- text
	}()
	s, err := begin(ctx, args, false, null, theirs)
	theirs.Close()
	if s.Name != "" { // it says the rest elsewhere
		_ = said.SetReadDeadline(time.Unix(1, 0))
	}
	s.Said = string(<-heard)
	return s, err
}

// mostSaid is how much is kept of what a cordon says that starts no worker.
const mostSaid = 16 << 10

// begin starts this program, and waits until its lease is sealed or it has ended.
func begin(ctx context.Context, args []string, interactive bool, out, errs *os.File) (Started, error) {
	ready, theirs, err := os.Pipe()
	if err != nil {
		return Started{}, err
	}
	defer ready.Close()
	kind := withoutTerminal
	if interactive {
		kind = withTerminal
	}
	p, err := start(args, []string{Variable + "=" + kind}, []*os.File{out, errs, theirs})
	theirs.Close()
	if err != nil {
		return Started{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = p.Signal(syscall.SIGTERM) })
	text, err := io.ReadAll(ready)
	stop()
	name := strings.TrimSpace(string(text))
	if err != nil || name == "" { // it has said why
		state, err := p.Wait()
		if err != nil {
			return Started{}, err
		}
		return Started{Code: state.ExitCode()}, nil
	}
	go func() { _, _ = p.Wait() }() // nobody asks how it ended; a server leaves no dead process behind
	return Started{Name: name, PID: p.Pid}, nil
}

// Call starts this program with other arguments and variables, for a desk: out takes what it
// prints, and report is its descriptor 3. It ends by itself, whatever becomes of the caller.
func Call(args, env []string, out, report *os.File) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return start(args, env, []*os.File{out, null, report})
}

// start starts this program again, with arguments, more variables and descriptors from 1 on.
func start(args, env []string, files []*os.File) (*os.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return os.StartProcess(self, append([]string{"cordon"}, args...), &os.ProcAttr{
		Env: append(os.Environ(), env...), Files: append([]*os.File{null}, files...),
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

// Enter notices that this cordon was started by Start, and makes its terminal. It is nil
// if a person started it.
func Enter() (*Background, error) {
	kind, told := os.LookupEnv(Variable)
	if !told {
		return nil, nil
	}
	if err := os.Unsetenv(Variable); err != nil { // nobody else is meant
		return nil, err
	}
	ready := os.NewFile(readyDescriptor, "ready")
	if fi, err := ready.Stat(); err != nil || fi.Mode().Type() != os.ModeNamedPipe {
		return nil, &fault.MistakeError{Err: fmt.Errorf("%s is set, and it is not cordon run -d that set it", Variable)}
	}
	unix.CloseOnExec(readyDescriptor)
	b := &Background{ready: ready}
	if kind != withTerminal {
		return b, nil
	}
	outer, inner, err := pty.Open()
	if err != nil {
		return b, err
	}
	b.Outer, b.Inner = outer, inner
	return b, errors.Join(pty.Setsize(outer, &pty.Winsize{Rows: 24, Cols: 80}), unix.IoctlSetInt(int(inner.Fd()), unix.TIOCSCTTY, 0))
}

// Leased says that the lease of a worker is sealed: from here on this cordon says what it has
// to say to a file in the worker's directory, and nobody waits for it.
func (b *Background) Leased(id, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, ConsoleFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
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
	if _, err := fmt.Fprintln(b.ready, id); err != nil {
		return err
	}
	return b.ready.Close()
}

// Lives reports whether the cordon that writes to a console file still runs: it
// holds a lock on the file.
func Lives(console string) bool {
	f, err := os.OpenFile(console, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
