package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"cordon/internal/guard"
	"cordon/internal/lease"
	"cordon/internal/ledger"
)

// Decisions calls each with what a worker's guard decided, oldest first.
func (s *Session) Decisions(w *ledger.Worker, each func(guard.Record)) (guard.Tally, error) {
	return s.decisions(w.ID, each)
}

func (s *Session) decisions(id lease.ID, each func(guard.Record)) (guard.Tally, error) {
	f, err := openPlain(s.workerFile(id, decisionsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return guard.Tally{}, nil
	}
	if err != nil {
		return guard.Tally{}, err
	}
	defer f.Close()
	return guard.ReadRecords(f, each)
}

// openPlain opens a file to read it, and nothing else that has its name: without a
// cell a worker can put a pipe or a link there.
func openPlain(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is no plain file", name)
	}
	return f, nil
}

// tallies records what was decided about a worker while it ran.
func (s *Session) tallies(w *ledger.Worker) error {
	return errors.Join(s.tally(w.ID), s.tallyNetwork(w))
}

// tally records what the guard decided while a worker ran. A record that cannot
// be read is no reason to lose the worker's end.
func (s *Session) tally(id lease.ID) error {
	t, err := s.decisions(id, nil)
	if err != nil {
		s.Voice.Step(id, "guard", "its decisions cannot be read: "+oneLine(err))
		return nil
	}
	if t.Calls+t.Broken == 0 {
		return nil
	}
	s.Voice.Step(id, "guard", t.String())
	return s.append(id, ledger.Guarded, t)
}
