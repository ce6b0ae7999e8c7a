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

// tryFirst starts the command that the plan wants tried in the finished cell, before the worker and
// instead of it: nothing else runs there yet but the proof. What it prints goes into memory, and
// cordon judges it, when end has waited for it.
func (w *warden) tryFirst() (end func() error, err error) {
	t := w.spec.Trial
	if t == nil {
		return func() error { return nil }, nil
	}
	files, err := trialFiles(t.Input)
	if err != nil {
		return nil, fmt.Errorf("a trial: %w", err)
	}
	pid, failed := syscall.ForkExec(t.Argv[0], t.Argv,
		ownSession(w.spec.Dir, w.spec.Env, [3]uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()}, [3]bool{}))
	return func() error {
		defer closeFiles(files)
		m := message{Trial: true}
		if failed == nil {
			m.Code, failed = w.awaitTrial(pid)
		}
		if failed != nil {
			m.Refused = fmt.Sprintf("%s: %v", t.Argv[0], failed)
		}
		return w.control.send(m, int(files[1].Fd()), int(files[2].Fd()))
	}, nil
}

// trialFiles are the standard files of a trial, in memory.
func trialFiles(input string) (files []*os.File, err error) {
	for range 3 {
		fd, err := unix.MemfdCreate("cordon-trial", unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
		if errors.Is(err, unix.EINVAL) { // of an older kernel
			fd, err = unix.MemfdCreate("cordon-trial", unix.MFD_CLOEXEC)
		}
		if err != nil {
			return files, err
		}
		files = append(files, os.NewFile(uintptr(fd), "trial"))
	}
	_, err = files[0].WriteAt([]byte(input), 0)
	return files, err
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
