package mailbox

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"

	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// Entry is an open question of a worker.
type Entry struct {
	Worker *ledger.Worker
	Status ledger.Status
	ledger.Inquiry
	Waits Waits
}

// Waits says what becomes of an answer.
type Waits string

// The ways.
const (
	WaitsNow Waits = "waiting" // something in the worker's cell waits for it
	AtWork   Waits = "running" // the worker runs, and may ask for it
	Ended    Waits = "ended"   // nobody is there until the worker is resumed
)

// Inbox lists the open questions of all workers, oldest first. Those of a worker
// whose work is merged or thrown away are nobody's any more.
func Inbox(ctx context.Context, s *worksite.Site) ([]Entry, error) {
	l, err := s.Ledger()
	if err != nil {
		return nil, err
	}
	var asking []*ledger.Worker
	for _, w := range l.Workers {
		if len(w.Open()) > 0 && w.Removal == nil && w.Discard == nil {
			asking = append(asking, w)
		}
	}
	all, err := s.Standings(ctx, asking)
	if err != nil {
		return nil, err
	}
	var list []Entry
	for _, w := range asking {
		status := all[w.ID].Status
		if status == ledger.MergedIn {
			continue
		}
		for _, q := range w.Open() {
			list = append(list, Entry{w, status, q, WaitsFor(s, w, q.Number)})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].At.Before(list[j].At) })
	return list, nil
}

// WaitsFor says whether somebody waits for the answer to a question now.
func WaitsFor(s *worksite.Site, w *ledger.Worker, number int) Waits {
	if w.RunsAway() && s.State.Held(state.WorkerLock(string(w.ID))) {
		return AtWork // its node hands the answer over
	}
	if w.Start == nil || w.Exit != nil || !s.State.Held(state.WorkerLock(string(w.ID))) {
		return Ended
	}
	var of map[int]int
	b, err := plainfile.Read(s.WorkerFile(w.ID, WaitingFile), plainfile.Line)
	if err != nil || json.Unmarshal(b, &of) != nil || of[number] == 0 {
		return AtWork
	}
	return WaitsNow
}

// Answer records the operator's answer to an open question.
func Answer(ctx context.Context, s *worksite.Site, w *ledger.Worker, number int, text, who string) error {
	text = plainText(text)
	switch {
	case text == "":
		return &fault.MistakeError{Err: fmt.Errorf("an answer needs a text")}
	case len(text) > maxText:
		return &fault.MistakeError{Err: fmt.Errorf("an answer has at most %d bytes", maxText)}
	}
	if err := s.Begin(ctx); err != nil {
		return err
	}
	answer := ledger.Answer{Question: number, Text: text, Who: who}
	return s.Decide(ctx, w.ID, ledger.Answered, answer, false, func(now *ledger.Ledger) error { return answerable(now, w.ID, number) })
}

// answerable refuses an answer to what is no open question.
func answerable(now *ledger.Ledger, id lease.ID, number int) error {
	w, err := now.Find(string(id))
	if err != nil {
		return err
	}
	switch {
	case w.Discard != nil || w.Removal != nil:
		return &fault.MistakeError{Err: fmt.Errorf("%s was discarded; nothing will read the answer", id)}
	case number < 1 || number > len(w.Questions):
		return &fault.MistakeError{Err: fmt.Errorf("%s has asked no question q%d", id, number)}
	case w.Questions[number-1].Answer != nil:
		return &fault.MistakeError{Err: fmt.Errorf("question q%d of %s has already been answered by %s: %s", number, id,
			w.Questions[number-1].Answer.Who, oneText(w.Questions[number-1].Answer.Text))}
	}
	return nil
}
