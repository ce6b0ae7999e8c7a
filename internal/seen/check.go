package seen

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/worksite"
)

// Scope says which parts of a mark a decision rests on. Each has those of the one before it.
type Scope int

// The scopes. What may move without harm is not in them: a branch may move while a worker is
// stopped or its result discarded, but not while somebody decides what is to land on it.
const (
	ForAnswer  Scope = iota // the question is one of those that were shown
	ForStop                 // and nobody decided anything else; state, attempt and lease are the same
	ForResult               // and the result and the open questions: discard, resume
	ForLanding              // and the tip of the branch: merge, release, retry
)

// Check is a function for worksite.Site.Seen: it refuses a decision about a worker that is not as
// the text says. question is the one that is answered, if that is the decision.
func Check(s *worksite.Site, text string, scope Scope, question string) (func(context.Context, *ledger.Worker, bool) error, error) {
	m, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, w *ledger.Worker, held bool) error {
		now, err := Look(ctx, s, w, held)
		if err != nil {
			return err
		}
		moved := m.moved(w, now, scope, question)
		if len(moved) == 0 {
			return nil
		}
		return &fault.StaleError{What: string(w.ID), Moved: moved, Known: w.Decisions != m.decisions}
	}, nil
}

// moved says what differs between a mark and the worker as it is now.
func (m Mark) moved(w *ledger.Worker, now Sight, scope Scope, question string) (list []string) {
	n := now.Mark()
	if scope == ForAnswer {
		if !slices.Contains(strings.Split(m.questions, "+"), question) {
			list = append(list, fmt.Sprintf("%s is not one of the questions that you saw", question))
		}
		return list
	}
	if m.decisions != n.decisions {
		list = append(list, decided(w))
	}
	if m.status != n.status {
		list = append(list, fmt.Sprintf("it was %q and is %q now", strings.ReplaceAll(m.status, "_", " "), now.Status))
	}
	switch {
	case m.attempt != n.attempt:
		list = append(list, fmt.Sprintf("attempt %d has begun", n.attempt+1))
	case m.lease != n.lease:
		list = append(list, "it has another lease")
	}
	if scope >= ForResult && m.result != n.result {
		list = append(list, "its recorded audit or its stored result is another one")
	}
	if scope >= ForResult && m.questions != n.questions {
		list = append(list, fmt.Sprintf("its open questions were %s and are %s now", named(m.questions), named(n.questions)))
	}
	if scope >= ForLanding && m.tip != n.tip {
		list = append(list, fmt.Sprintf("%s moved from %s to %s", strings.TrimPrefix(now.Target, "refs/heads/"), short(m.tip), short(n.tip)))
	}
	return list
}

// decided says who decided last, what and when.
func decided(w *ledger.Worker) string {
	if w.Last == nil {
		return "its journal is not the one that you saw"
	}
	at, form := w.Last.At.Local(), time.TimeOnly
	if time.Since(at) > 12*time.Hour {
		form = "2006-01-02 15:04:05"
	}
	return legible.Line(fmt.Sprintf("%s %s at %s", w.Last.Who, w.Last.Did, at.Format(form)))
}

func named(questions string) string {
	if questions == none {
		return "none"
	}
	return strings.ReplaceAll(questions, "+", ", ")
}

func short(tip string) string {
	if tip == none {
		return "nothing"
	}
	return tip[:min(len(tip), 7)]
}
