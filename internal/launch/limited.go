package launch

import (
	"fmt"
	"path/filepath"
	"sync"

	"cordon/internal/backoff"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/stream"
	"cordon/internal/worksite"
)

// BackOffs are until when no worker of a client is to start.
func BackOffs(s *worksite.Site) backoff.Store {
	return backoff.Store(filepath.Join(s.State.Path(), "backoff"))
}

// limitWatch hears a client say that its provider is asked too often, and lets those know that start
// further workers of the client.
type limitWatch struct {
	s  *worksite.Site
	w  *ledger.Worker
	mu sync.Mutex
	// limited: the last answer of the model was such an error.
	limited bool
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
	wait, err := BackOffs(l.s).Note(l.w.Agent.Client, legible.PlainLine(text), after, l.s.Now())
	if err != nil {
		l.s.Voice.Step(l.w.ID, "limit", "cordon could not keep the limit of the provider: "+fault.OneLine(err))
		return
	}
	l.s.Voice.Step(l.w.ID, "limit", fmt.Sprintf("the provider of %s is asked too often: no stage of a plan starts with it before %s",
		l.w.Agent.Client, wait.Until.Local().Format("15:04:05")))
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
