package worksite

import (
	"sync"

	"cordon/internal/journal"
	"cordon/internal/ledger"
)

// reading is the journal, with what was read of it so far: whoever asks next reads only what is new.
type reading struct {
	log  *journal.Journal
	view *journal.View
	fold *ledger.Ledger
}

// readings opens one for a state that exists, once.
type readings struct {
	mu  sync.Mutex
	one *reading
}

func (s *Site) reading() (*reading, error) {
	s.readings.mu.Lock()
	defer s.readings.mu.Unlock()
	if s.readings.one == nil {
		log, err := journal.Open(s.State.Path())
		if err != nil {
			return nil, err
		}
		fold := ledger.Current()
		s.readings.one = &reading{log: log, view: log.View(ledger.FoldName, fold), fold: fold}
	}
	return s.readings.one, nil
}
