package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"cordon/internal/background"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/page"
	"cordon/internal/present"
	"cordon/internal/screen"
	"cordon/internal/session"
	"cordon/internal/state"
	"cordon/internal/terminal"
)

// followPause is how often it is looked for more. Nothing tells of it: the file
// grows in another process.
const followPause = 200 * time.Millisecond

// follow prints what a worker prints until nobody works on it any more, and says
// what became of it. An interruption ends the following and nothing else.
func (a *app) follow(ctx context.Context, s *session.Session, w *ledger.Worker, p page.Printed) error {
	t := tail{w: w, p: p, out: p.Player(w, terminal.ForScreen(a.out))}
	if a.json {
		t.out = p.Player(w, io.Discard) // the object has all of it
	}
	defer t.close()
	for {
		// First this, then what was printed: what came before the end is not lost.
		held := a.working(s, w.ID)
		if err := t.more(); err != nil {
			return err
		}
		if !held {
			return a.followed(ctx, s, &t)
		}
		select {
		case <-ctx.Done():
			a.say("%s keeps running: cordon logs -f %s", w.ID, w.ID)
			return codeError(exitInterrupted)
		case <-time.After(followPause):
		}
	}
}

// working reports whether a cordon works on a worker, or is about to: one in the background
// names its worker before it takes the lock.
func (a *app) working(s *session.Session, id lease.ID) bool {
	held := func() bool { return s.State.Held(state.WorkerLock(string(id))) }
	if held() {
		return true
	}
	w, err := s.Find(string(id))
	if err == nil && w.Start == nil && background.Lives(filepath.Join(s.State.Worker(string(id)), background.ConsoleFile)) {
		return true
	}
	return held() // it may have begun while this looked
}

// followed says what became of a worker, from the journal as it is now.
func (a *app) followed(ctx context.Context, s *session.Session, t *tail) error {
	w, err := s.Find(string(t.w.ID))
	if err != nil {
		return err
	}
	status, err := s.Status(ctx, w)
	if err != nil {
		return err
	}
	if err := t.out.End(); err != nil {
		return err
	}
	if a.json {
		return a.page().Whole(w, t.p, status)
	}
	if t.f == nil {
		a.say("%s %s", w.ID, t.p.Nothing)
	}
	a.say("%s", present.StatusLine(a.err, w, status))
	return nil
}

// tail is a file that grows. It may not be there yet.
type tail struct {
	w   *ledger.Worker
	p   page.Printed
	f   *os.File
	out *screen.Player
}

// more copies what has come since.
func (t *tail) more() (err error) {
	if t.f == nil {
		f, err := t.p.Open(t.w)
		if os.IsNotExist(err) {
			return nil
		}
		if err != nil {
			return err
		}
		t.f = f
	}
	n, err := io.Copy(t.out, t.f)
	if n == 0 && err == nil {
		err = t.out.Rest()
	}
	return err
}

func (t *tail) close() {
	if t.f != nil {
		t.f.Close()
	}
}
