package mailbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/post"
	"cordon/internal/worksite"
)

// Bounds of a question and of its answer.
const (
	maxText    = 8 << 10 // bytes
	maxOptions = 10
	maxOption  = 512 // bytes
	maxBy      = 64
)

// questionOf is a question as it is recorded.
func questionOf(r post.Request) (ledger.Question, error) {
	q := ledger.Question{Text: plainText(r.Text), By: clip(legible.PlainLine(r.By), maxBy)}
	switch {
	case q.Text == "":
		return q, errors.New("there is no question")
	case len(q.Text) > maxText:
		return q, fmt.Errorf("a question of more than %d bytes is too long", maxText)
	case len(r.Options) > maxOptions:
		return q, fmt.Errorf("a question has at most %d options", maxOptions)
	}
	for _, o := range r.Options {
		o = legible.PlainLine(o)
		if o == "" || len(o) > maxOption {
			return q, fmt.Errorf("an option has between 1 and %d bytes", maxOption)
		}
		q.Options = append(q.Options, o)
	}
	return q, nil
}

// plainText is text that a terminal and a model can be shown: without what is not
// printed, a control sequence above all, and without what only looks like nothing.
func plainText(s string) string { return strings.TrimSpace(legible.Plain(s)) }

// clip is the beginning of a text, of so many bytes.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// oneText is a text in a line, for a person.
func oneText(s string) string { return legible.Clip(legible.PlainLine(s), 120) }

// askedOf are the questions of one worker. The journal is read again when it has
// changed, once for all who ask.
type askedOf struct {
	s  *worksite.Site
	id lease.ID

	mu   sync.Mutex
	size int64
	time time.Time
	have []ledger.Inquiry
}

func (a *askedOf) list() ([]ledger.Inquiry, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fi, err := os.Stat(filepath.Join(a.s.State.Path(), journal.File))
	if err != nil {
		return nil, err
	}
	if fi.Size() == a.size && fi.ModTime().Equal(a.time) {
		return slices.Clone(a.have), nil
	}
	w, err := a.s.Find(string(a.id))
	if err != nil {
		return nil, err
	}
	a.have = w.Questions
	a.size, a.time = fi.Size(), fi.ModTime()
	return slices.Clone(a.have), nil
}

func (a *askedOf) question(number int) (ledger.Inquiry, error) {
	list, err := a.list()
	if err != nil {
		return ledger.Inquiry{}, err
	}
	if number < 1 || number > len(list) {
		return ledger.Inquiry{}, fmt.Errorf("you have asked no question q%d", number)
	}
	return list[number-1], nil
}

// WaitingFile names the questions whose answer somebody waits for, for those who
// answer. It only counts while the worker is at work.
const WaitingFile = "waiting"

// waiters are those who wait, by the number of their question.
type waiters struct {
	file string
	mu   sync.Mutex
	of   map[int]int
}

// enter notes somebody who waits, and returns how they leave.
func (w *waiters) enter(number int) (leave func()) {
	w.add(number, 1)
	return func() { w.add(number, -1) }
}

func (w *waiters) add(number, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[int]int{}
	}
	if w.of[number] += n; w.of[number] == 0 {
		delete(w.of, number)
	}
	w.say()
}

// say writes it down. Whoever cannot read it says less, which harms nobody.
func (w *waiters) say() {
	if len(w.of) == 0 {
		_ = os.Remove(w.file)
		return
	}
	b, err := json.Marshal(w.of)
	if err == nil {
		_ = os.WriteFile(w.file, b, 0o600)
	}
}
