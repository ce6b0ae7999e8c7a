package stages

import (
	"sync"

	"cordon/internal/cell"
	"cordon/internal/fleet/protocol"
	"cordon/internal/ledger"
)

// screen is the terminal of an interactive stage, which cordon attach joins here as if the worker ran here. What the
// node reports is shown on it. What is typed waits in memory, and nowhere else, until the node asks for it.
type screen struct {
	shows *cell.Screen

	mu      sync.Mutex
	fence   uint64 // of the grant for which it is typed
	heard   uint64 // strokes of that grant that the node has
	waiting []protocol.Stroke
	size    protocol.Stroke // the last
}

// The bounds of what is typed.
const (
	maxWaiting = 4096      // strokes for a node that does not ask: what is typed after that is lost
	maxAnswer  = 128 << 10 // bytes of one answer, but at least one stroke
)

// take notes what was typed.
func (s *screen) take(keys []byte, rows, cols uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := protocol.Stroke{Keys: keys, Rows: rows, Columns: cols}
	if keys == nil {
		s.size = next
	}
	if len(s.waiting) < maxWaiting {
		s.waiting = append(s.waiting, next)
	}
}

// grant begins anew for another grant, but for the size: what was typed before was for another process. A home that was
// started anew goes on where the node is.
func (s *screen) grant(fence, heard uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fence == fence {
		return
	}
	if s.fence != 0 {
		s.waiting = nil
	}
	s.fence, s.heard = fence, heard
	if len(s.waiting) == 0 && s.size.Rows > 0 {
		s.waiting = append(s.waiting, s.size)
	}
}

// after forgets the strokes that a node has, and returns the next ones. A question that comes late or again is about
// strokes that are forgotten, and gets none.
func (s *screen) after(heard uint64) (list []protocol.Stroke) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if heard < s.heard || heard-s.heard > uint64(len(s.waiting)) {
		return nil
	}
	s.waiting, s.heard = s.waiting[heard-s.heard:], heard
	for size, i := 0, 0; i < len(s.waiting); i++ {
		if size += len(s.waiting[i].Keys); i > 0 && size > maxAnswer {
			return s.waiting[:i:i]
		}
		list = s.waiting[: i+1 : i+1]
	}
	return list
}

// Typed returns what the operator has typed for a stage that a node has.
func (j *Journal) Typed(m protocol.Listen) []protocol.Stroke {
	j.mu.Lock()
	defer j.mu.Unlock()
	w, err := j.Site.Find(m.Lease)
	if err != nil || w.Away == nil || w.Away.Fence != m.Fence {
		return nil
	}
	s := j.screenOf(w)
	if s == nil {
		return nil
	}
	s.grant(m.Fence, m.Heard)
	return s.after(m.Heard)
}

// screenOf is the screen of a worker, which terminals can join from now on; nil if it is not interactive.
func (j *Journal) screenOf(w *ledger.Worker) *screen {
	s := j.screens[string(w.ID)]
	if s != nil || !w.Options.Interactive {
		return s
	}
	shows, err := cell.NewScreen(nil)
	if err != nil {
		return nil
	}
	s = &screen{shows: shows}
	shows.PassTo(s.take)
	j.closing.Wait() // of an earlier one at the same place
	if shows.Open(j.Site.State.Worker(string(w.ID))) != nil {
		return nil // the node goes on without
	}
	if j.screens == nil {
		j.screens = map[string]*screen{}
	}
	j.screens[string(w.ID)] = s
	return s
}

// closeScreens parts from the terminals of stages that no node has any more.
func (j *Journal) closeScreens() {
	for worker, s := range j.screens {
		if !j.open[worker] {
			delete(j.screens, worker)
			j.closing.Go(s.shows.Close)
		}
	}
}
