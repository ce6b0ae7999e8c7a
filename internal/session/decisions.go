package session

import (
	"errors"
	"io/fs"
	"os"

	"cordon/internal/guard"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
)

// Decisions calls each with what a worker's guard decided, oldest first.
func (s *Session) Decisions(w *ledger.Worker, each func(guard.Record)) (guard.Tally, error) {
	return s.decisions(w.ID, each)
}

func (s *Session) decisions(id lease.ID, each func(guard.Record)) (guard.Tally, error) {
	f, err := plainfile.Open(s.workerFile(id, decisionsFile), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return guard.Tally{}, nil
	}
	if err != nil {
		return guard.Tally{}, err
	}
	defer f.Close()
	return guard.ReadRecords(f, each)
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
