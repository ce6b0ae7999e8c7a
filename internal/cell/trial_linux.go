package cell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// trialPatience is how long a trial may take on a busy machine.
	trialPatience = time.Minute
	// trialRoom is how much of what it prints is looked at.
	trialRoom = 64 << 10
)

// tryFirst runs the command that the plan wants tried in the finished cell, before the worker and
// instead of it: nothing else runs there yet. What it prints goes into memory, and
// cordon judges it.
func (w *warden) tryFirst() error {
	t := w.spec.Trial
	if t == nil {
		return nil
	}
	var files [3]*os.File
	for i := range files {
		fd, err := unix.MemfdCreate("cordon-trial", unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
		if errors.Is(err, unix.EINVAL) { // of an older kernel
			fd, err = unix.MemfdCreate("cordon-trial", unix.MFD_CLOEXEC)
		}
		if err != nil {
			return fmt.Errorf("a trial: %w", err)
		}
		files[i] = os.NewFile(uintptr(fd), "trial")
		defer files[i].Close()
	}
	if _, err := files[0].WriteAt([]byte(t.Input), 0); err != nil {
		return fmt.Errorf("a trial: %w", err)
	}
	m := message{Trial: true}
	pid, err := syscall.ForkExec(t.Argv[0], t.Argv,
		ownSession(w.spec.Dir, w.spec.Env, [3]uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()}, [3]bool{}))
	if err == nil {
		m.Code, err = w.awaitTrial(pid)
	}
	if err != nil {
		m.Refused = fmt.Sprintf("%s: %v", t.Argv[0], err)
	}
	return w.control.send(m, int(files[1].Fd()), int(files[2].Fd()))
}

// awaitTrial waits for the end of the trial, and ends it when that takes too long.
func (w *warden) awaitTrial(pid int) (code int, err error) {
	late := time.After(trialPatience)
	for {
		var ws syscall.WaitStatus
		switch got, werr := syscall.Wait4(pid, &ws, syscall.WNOHANG, nil); {
		case errors.Is(werr, syscall.EINTR):
			continue
		case werr != nil:
			return 0, errors.Join(err, werr)
		case got == pid:
			return exitCode(ws), err
		}
		select {
		case <-w.children:
		case <-late:
			err = errors.New("it took too long")
			_ = syscall.Kill(pid, syscall.SIGKILL) // gone already is fine
		}
	}
}

// tried is what the cell says came of its trial.
func tried(m message, files []*os.File) *Tried {
	t := &Tried{Code: m.Code, Error: m.Refused}
	if len(files) != 2 {
		t.Error = "the cell did not say what it printed"
		return t
	}
	for i, to := range []*[]byte{&t.Stdout, &t.Stderr} {
		text, err := io.ReadAll(io.NewSectionReader(files[i], 0, trialRoom))
		if err != nil {
			t.Error = err.Error()
		}
		*to = text
	}
	return t
}
