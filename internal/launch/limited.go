package launch

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"cordon/internal/backoff"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/stream"
	"cordon/internal/worksite"
)

// limitWatch hears a client say that its provider is asked too often, and lets those know that start
// further workers of the provider: the plans of this machine by the back-off, and the home of a node by the journal.
type limitWatch struct {
	s  *worksite.Site
	w  *ledger.Worker
	mu sync.Mutex
	// limited: the last answer of the model was such an error.
	limited bool
	noted   int // in the journal
}

// watch hands the items on.
func (l *limitWatch) watch(next func(stream.Item)) func(stream.Item) {
	return func(i stream.Item) {
		l.hear(i)
		next(i)
	}
}

func (l *limitWatch) hear(i stream.Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if (i.Kind != stream.Noted && i.Kind != stream.Over) || !i.Failed {
		if i.Kind == stream.Said || i.Kind == stream.Called || i.Kind == stream.Over {
			l.limited = false // it got over it
		}
		return
	}
	text := i.Text + " " + i.Reason
	after, ok := backoff.Limited(text)
	if !ok || l.limited { // one error has several lines
		return
	}
	l.limited = true
	wait, err := l.note(legible.PlainLine(text), after)
	if err != nil {
		l.s.Voice.Step(l.w.ID, "limit", "cordon could not keep the limit of the provider: "+fault.OneLine(err))
		return
	}
	l.s.Voice.Step(l.w.ID, "limit", fmt.Sprintf("the provider of %s is asked too often: no stage of a plan starts with it before %s",
		l.w.Agent.Client, wait.Until.Local().Format("15:04:05")))
}

// The bounds of what the journal keeps of one launch.
const (
	maxLimits    = 20
	maxLimitText = 1000 // bytes
)

// note keeps a limit, and what the client said.
func (l *limitWatch) note(text string, after time.Duration) (wait backoff.Wait, err error) {
	if l.noted < maxLimits {
		l.noted++
		err = l.s.Append(l.w.ID, ledger.RateLimited, ledger.RateLimit{Text: text[:min(len(text), maxLimitText)]})
	}
	wait, noting := l.s.BackOffs().Note(l.w.Agent.Provider(), text, after, l.s.Now())
	return wait, errors.Join(err, noting)
}

// ended reports whether the client ended because of a limit, by its word.
func (l *limitWatch) ended() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.limited
}
