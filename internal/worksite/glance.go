package worksite

import (
	"errors"
	"slices"
	"time"

	"cordon/internal/gate"
	"cordon/internal/journal"
	"cordon/internal/ledger"
	"cordon/internal/state"
)

// Glance calls each with the workers of the repository around a directory and what can be
// said of them without git: whoever has landed counts as landed. It is for a line in a
// prompt.
func Glance(dir string, each func(*ledger.Worker, Standing)) error {
	place, there := state.Near(dir)
	if !there {
		return nil
	}
	s := &Site{State: place, Voice: Silent{}, Now: time.Now}
	l, err := s.Ledger()
	if err != nil {
		return err
	}
	for _, w := range l.Workers {
		if w.Removal != nil {
			continue
		}
		now := Standing{Facts: ledger.Facts{
			Held:     place.Held(state.WorkerLock(string(w.ID))),
			Ancestor: w.Gate != nil && w.Gate.Outcome == gate.Merged,
		}}
		now.Status = w.Status(now.Facts)
		each(w, now)
	}
	return nil
}

// Follow keeps what was read of the journal, so that Ledger and Events read only what is new. It is
// for one that looks again and again and writes nothing.
func (s *Site) Follow() error {
	if s.view != nil || !s.State.Exists() {
		return nil
	}
	r, err := s.reading()
	if err != nil {
		return err
	}
	s.view, s.fold, s.followed = r.view, r.fold, &followed{log: r.log, tail: r.log.Tail()}
	return nil
}

// followed are the events of a journal that were read so far.
type followed struct {
	log    *journal.Journal
	tail   *journal.Follower
	events []journal.Event
}

// all are the events with those that are new. A journal that was replaced is read anew.
func (f *followed) all() ([]journal.Event, error) {
	more, err := f.tail.More()
	if errors.Is(err, journal.ErrReplaced) {
		f.tail, f.events = f.log.Tail(), nil
		more, err = f.tail.More()
	}
	f.events = append(f.events, more...)
	return slices.Clip(f.events), err
}
