package worksite

import (
	"errors"
	"io/fs"
	"os"

	"cordon/internal/fault"
	"cordon/internal/guard"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
)

// Decisions calls each with what a worker's guard decided, oldest first.
func (s *Site) Decisions(w *ledger.Worker, each func(guard.Record)) (guard.Tally, error) {
	return s.DecisionsOf(w.ID, each)
}

// DecisionsOf calls each with the decisions of a worker's guard, oldest first.
func (s *Site) DecisionsOf(id lease.ID, each func(guard.Record)) (guard.Tally, error) {
	f, err := plainfile.Open(s.WorkerFile(id, DecisionsFile), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return guard.Tally{}, nil
	}
	if err != nil {
		return guard.Tally{}, err
	}
	defer f.Close()
	return guard.ReadRecords(f, each)
}

// RecordTallies records what was decided about a worker while it ran.
func (s *Site) RecordTallies(w *ledger.Worker) error {
	return errors.Join(s.tallyDecisions(w), s.TallyNetwork(w))
}

// tallyDecisions records what the guard decided while a worker ran. A record that cannot
// be read is no reason to lose the worker's end.
func (s *Site) tallyDecisions(w *ledger.Worker) error {
	id := w.ID
	t, err := s.DecisionsOf(id, nil)
	if err != nil {
		s.Voice.Step(id, "guard", "its decisions cannot be read: "+fault.OneLine(err))
		return nil
	}
	if t.Calls+t.Broken == 0 {
		return nil
	}
	s.Voice.Step(id, "guard", t.String())
	s.adviseReadRoots(w)
	return s.Append(id, ledger.Guarded, t)
}

// DecisionsFile is where a worker's guard writes what it decided.
const DecisionsFile = "decisions"
