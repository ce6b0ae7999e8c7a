package supervisor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/background"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// Works reports whether a cordon process works on a worker, or is about to: one in the
// background names its worker before it takes the lock.
func Works(s *worksite.Site, id lease.ID) bool {
	held := func() bool { return s.State.Held(state.WorkerLock(string(id))) }
	return held() || background.Lives(console(s, id)) || held() // it may have begun while this looked
}

// Running are those workers on which a cordon process works, or whose supervisor was killed
// while the command ran.
func Running(s *worksite.Site, workers []*ledger.Worker) (list []*ledger.Worker) {
	for _, w := range workers {
		lost := w.Start != nil && w.Exit == nil && w.Discard == nil && w.Removal == nil
		if lost || Works(s, w.ID) {
			list = append(list, w)
		}
	}
	return list
}

// console is where a supervisor in the background says what it has to say; it holds the
// lock of that file until it ends.
func console(s *worksite.Site, id lease.ID) string { return s.WorkerFile(id, background.ConsoleFile) }

// beginning is how soon after its lease a run has its worker's lock.
const beginning = 2 * time.Second

// awaitBeginning gives a run whose lease was just sealed time to take its worker's lock.
func awaitBeginning(ctx context.Context, s *worksite.Site, w *ledger.Worker) {
	for w.Tree == nil && time.Since(w.Created) < beginning && ctx.Err() == nil && !Works(s, w.ID) {
		time.Sleep(20 * time.Millisecond)
	}
}

// Wait returns when no cordon process works on a worker, however the last one ended. The
// kernel tells of that: a lock ends with the process that holds it.
func Wait(ctx context.Context, s *worksite.Site, w *ledger.Worker) error {
	awaitBeginning(ctx, s, w)
	lock := filepath.Join(s.State.Path(), state.WorkerLock(string(w.ID)))
	for Works(s, w.ID) {
		for _, file := range []string{lock, console(s, w.ID)} {
			if err := awaitRelease(ctx, file); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// awaitRelease returns when nobody holds the lock of a file.
func awaitRelease(ctx context.Context, file string) error {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	got := make(chan error, 1)
	go func() {
		defer f.Close() // and with it the lock
		for {
			err := unix.Flock(int(f.Fd()), unix.LOCK_SH)
			if !errors.Is(err, unix.EINTR) {
				got <- err
				return
			}
		}
	}()
	select {
	case err := <-got:
		return err
	case <-ctx.Done():
		return ctx.Err() // the thread that waits ends with this process
	}
}
