package launch

import (
	"slices"
	"strings"
	"sync"
	"time"

	"cordon/internal/agent"
	"cordon/internal/cell"
	"cordon/internal/screen"
)

// dialogs answers the questions of an interactive client that its kit knows and that
// nothing answers in advance: it follows what the client draws, and types the answer when
// the question is on the screen. None is answered after the client's hooks reported: from
// then on a model may have a hand in what is drawn.
type dialogs struct {
	mu   sync.Mutex
	seen *screen.Screen
	left []agent.Dialog // that were not on the screen yet
	life *hookWatch
	keys func(string)
	over bool
}

// A client drops what was typed before its question was there to be read, and some time
// after that: the answer comes a little later, and again as long as the question stands.
const (
	answerAfter = 300 * time.Millisecond
	answerAgain = 2 * time.Second
	mostAnswers = 30
)

// answerDialogs answers those of the client on its terminal.
func (r *equipment) answerDialogs(s *cell.Screen) {
	if r.agent == nil || len(r.agent.kit.Dialogs) == 0 {
		return
	}
	d := &dialogs{
		seen: screen.New(screen.DefaultRows, screen.DefaultColumns), left: slices.Clone(r.agent.kit.Dialogs), life: r.agent.life,
		keys: s.Type,
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
	if d.life.reported() {
		return len(p), nil
	}
	_, _ = d.seen.Write(p) // it takes everything
	d.left = slices.DeleteFunc(d.left, func(q agent.Dialog) bool {
		asked := d.shows(q)
		if asked {
			go d.answer(q) // the client may have to draw before it reads
		}
		return asked
	})
	return len(p), nil
}

// shows reports whether a question is on the screen. The lock is held.
func (d *dialogs) shows(q agent.Dialog) bool {
	text := d.seen.Text()
	return !slices.ContainsFunc(q.Shows, func(part string) bool { return !strings.Contains(text, part) })
}

// answer types the answer to a question until it is gone.
func (d *dialogs) answer(q agent.Dialog) {
	wait := answerAfter
	for range mostAnswers {
		time.Sleep(wait)
		d.mu.Lock()
		asked := d.shows(q) && !d.life.reported() && !d.over
		d.mu.Unlock()
		if !asked {
			return
		}
		d.keys(q.Keys)
		wait = answerAgain
	}
}

// end says that the client has ended.
func (d *dialogs) end() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
}
