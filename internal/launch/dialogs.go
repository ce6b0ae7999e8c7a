package launch

import (
	"slices"
	"strings"
	"sync"

	"cordon/internal/agent"
	"cordon/internal/cell"
	"cordon/internal/screen"
)

// dialogs answers the questions of an interactive client that its kit knows and that
// nothing answers in advance: it follows what the client draws, and types the answer when
// the question is on the screen. Each is answered once, and none after the client's hooks
// reported: from then on a model may have a hand in what is drawn.
type dialogs struct {
	mu   sync.Mutex
	seen *screen.Screen
	left []agent.Dialog
	life *hookWatch
	keys func(string)
}

// answerDialogs answers those of the client on its terminal.
func (r *equipment) answerDialogs(s *cell.Screen) {
	if r.agent == nil || len(r.agent.kit.Dialogs) == 0 {
		return
	}
	d := &dialogs{
		seen: screen.New(screen.DefaultRows, screen.DefaultColumns), left: slices.Clone(r.agent.kit.Dialogs), life: r.agent.life,
		keys: func(keys string) { go s.Type(keys) }, // the client may have to draw before it reads
	}
	r.dialogs = d
	sized := s.Sized
	s.Sized = func(rows, columns uint16) {
		sized(rows, columns)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.seen.Resize(int(rows), int(columns))
	}
}

// Write follows what is drawn. It never fails and never waits.
func (d *dialogs) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.left) == 0 || d.life.reported() {
		return len(p), nil
	}
	_, _ = d.seen.Write(p) // it takes everything
	text := d.seen.Text()
	d.left = slices.DeleteFunc(d.left, func(q agent.Dialog) bool {
		for _, part := range q.Shows {
			if !strings.Contains(text, part) {
				return false
			}
		}
		d.keys(q.Keys)
		return true
	})
	return len(p), nil
}
