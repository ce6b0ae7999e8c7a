package mailbox

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/post"
)

// mostHeard bounds the answers that are kept of one launch. The journal takes far fewer.
const mostHeard = 100

// heard is an answer that the guard of a client saw as a tool call of its own. It is cast then, and not when the command runs: what
// runs in the cell can neither add an answer nor keep one from arriving.
type heard struct {
	call string // the client's name for it
	vote
	cast func() error
}

// vote is an answer of a verifier or a reviewer.
type vote struct {
	verb, verdict, text string
	number              int
	yes                 bool
}

func voteOf(r post.Request) vote { return vote{r.Verb, r.Verdict, r.Text, r.Number, r.Yes} }

// hear casts the answer in a call that the guard allowed. The hook of a client does not wait for the journal, and a client that asks
// its hook twice about a call answers once. It is called with m.mu.
func (m *Mailbox) hear(record guard.Record, said []string) {
	r, err := post.Vote(said)
	if err != nil || len(r.Text) > maxText || len(m.heard) >= mostHeard || !strings.HasPrefix(record.Input, "cordon "+said[0]+" ") {
		return
	}
	h := heard{record.Call, voteOf(r), sync.OnceValue(func() error { return m.cast(r) })}
	if slices.ContainsFunc(m.heard, func(o heard) bool { return h.call != "" && o.call == h.call && o.vote == h.vote }) {
		return
	}
	m.heard = append(m.heard, h)
	m.casting.Go(func() { _ = h.cast() }) // the command that runs next is told
}

var errUnheard = errors.New("your answer counts only as a tool call of its own: run cordon review approve|feedback|escalate 'why', or " +
	"cordon truth NUMBER yes|no 'why', with your shell tool, with nothing before or after it, and with the text in single quotes")

// answer is what came of an answer. That of a client with a guard was cast when the guard saw it.
func (m *Mailbox) answer(r post.Request) error {
	if !m.Guarded || !m.judges() { // who has nothing to judge is told so
		return m.cast(r)
	}
	m.mu.Lock()
	list := m.heard
	m.mu.Unlock()
	for _, h := range slices.Backward(list) {
		if h.vote == voteOf(r) {
			return h.cast()
		}
	}
	return errUnheard
}

// judges reports whether the worker has claims or a result to judge.
func (m *Mailbox) judges() bool {
	st := m.w.Stage
	return st != nil && (st.Role == ledger.Reviewer || len(st.Claims) > 0)
}

func (m *Mailbox) cast(r post.Request) error {
	if r.Verb == post.Truth {
		return m.truth(r)
	}
	return m.review(r)
}

// Close waits until every answer that was heard is written down. No request may come any more.
func (m *Mailbox) Close() { m.casting.Wait() }
