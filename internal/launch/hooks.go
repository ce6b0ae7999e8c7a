package launch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"cordon/internal/agent"
	"cordon/internal/cell"
	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/stream"
	"cordon/internal/worksite"
)

// hookWatch is what was heard from the hooks of a client in one launch.
type hookWatch struct {
	mu      sync.Mutex
	trying  bool
	begun   bool          // the client has
	canary  string        // what was said to the call that must be denied
	first   *guard.Record // from the client itself
	decided []stream.Decision
	alive   chan struct{} // closed with the first
}

func newHookWatch() *hookWatch { return &hookWatch{alive: make(chan struct{})} }

// canaryCall names the call that must be denied.
const canaryCall = "cordon-canary"

// warnedOf is what the guard says to the canary where the policy only wants a warning.
const warnedOf = "warned of"

// observe is told of everything that hooks report.
func (l *hookWatch) observe(r guard.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trying {
		if l.canary = string(r.Verdict); r.Warned {
			l.canary = warnedOf
		}
		return
	}
	if l.first == nil && l.begun && r.Tool+r.Event != "" { // what could not be understood proves nothing
		l.first = &r
		close(l.alive)
	}
	if r.Event == "" {
		l.decided = append(l.decided, decisionOf(r))
	}
}

// begin says that what is heard from now on may be of the client.
func (l *hookWatch) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = true
}

// reported says whether the client's hooks were heard of.
func (l *hookWatch) reported() bool {
	select {
	case <-l.alive:
		return true
	default:
		return false
	}
}

// label marks what is of the canary, which is no call of the client's.
func (l *hookWatch) label(r guard.Record) guard.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trying {
		r.Event = "canary"
	}
	return r
}

// beginTrial says that what is heard is of the canary, until endTrial, which says what was heard.
func (l *hookWatch) beginTrial() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trying = true
}

func (l *hookWatch) endTrial() (verdict string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trying = false
	return l.canary
}

// heard is what was decided so far.
func (l *hookWatch) heard() []stream.Decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]stream.Decision{}, l.decided...)
}

func (l *hookWatch) proof(after time.Duration) ledger.Proof {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := ledger.Proof{Canary: l.canary, After: after}
	if l.first != nil {
		if p.Event = l.first.Event; p.Event == "" {
			p.Event = "call of " + l.first.Tool
		}
	}
	return p
}

func saidTo(canary string) string {
	if canary == string(guard.Deny) {
		return "denied"
	}
	return canary
}

// Unproven is why an agent is stopped whose hooks were not heard of.
const Unproven cell.Reason = "its hooks never reported"

var errUnproven = errors.New(string(Unproven))

// lookEvery is how often the record of an interactive client is looked at before its hooks
// have reported.
const lookEvery = 100 * time.Millisecond

// awaitHooks waits for the first word of the client's hooks and records it, or stops the
// client. It returns when the context is over.
//
// The hooks have to report within the time that the policy gives them: from the start, or,
// for an interactive client, from its first prompt, since it may report nothing before
// and a person may think for as long as they like. A client that calls a tool before its
// hooks reported is stopped at once.
func awaitHooks(ctx context.Context, s *worksite.Site, w *ledger.Worker, o *clientSetup, stop context.CancelCauseFunc) {
	wait := newProofWait(w.Lease.Lease().Policy.Agent, o)
	defer wait.end()
	for {
		select {
		case <-o.life.alive:
			recordProof(s, w, o, wait.since(), stop)
			return
		case <-wait.look:
			if wait.looked() == agent.CallMade && wait.required && o.adapter.Starts && !o.life.reported() {
				stop(errUnproven)
				return
			}
		case <-wait.over:
			if wait.required {
				stop(errUnproven)
				return
			}
			s.Voice.Step(w.ID, "guard", "NOT live: the client's hooks never reported; the cell is the only protection")
			return
		case <-ctx.Done():
			if o.life.reported() { // and the client was quick
				recordProof(s, w, o, wait.since(), stop)
			}
			return
		}
	}
}

// proofWait is the waiting for the hooks of one launch.
type proofWait struct {
	required bool
	patience time.Duration
	record   *conversation
	began    time.Time // of the client, or of its first prompt
	over     <-chan time.Time
	look     <-chan time.Time
	ticker   *time.Ticker
}

func newProofWait(p policy.Agent, o *clientSetup) *proofWait {
	wait := &proofWait{required: p.Proof != policy.ProofReported, patience: p.Patience(), record: o.record, began: time.Now()}
	if wait.record == nil {
		wait.over = time.After(wait.patience)
		return wait
	}
	wait.ticker = time.NewTicker(lookEvery)
	wait.look = wait.ticker.C
	return wait
}

// looked looks at the record of the client, and starts the clock with its first prompt.
func (p *proofWait) looked() agent.Sign {
	sign := p.record.look()
	if sign != agent.NoSign && p.over == nil {
		p.began, p.over = time.Now(), time.After(p.patience)
	}
	return sign
}

// since is how long the hooks took.
func (p *proofWait) since() time.Duration {
	if p.record != nil {
		p.looked()
	}
	return time.Since(p.began)
}

func (p *proofWait) end() {
	if p.ticker != nil {
		p.ticker.Stop()
	}
}

// recordProof records that the hooks of a client are alive.
func recordProof(s *worksite.Site, w *ledger.Worker, o *clientSetup, after time.Duration, stop context.CancelCauseFunc) {
	p := o.life.proof(after)
	s.Voice.Step(w.ID, "guard", fmt.Sprintf("live: %s from %s after %.1f s, the canary was %s", p.Event, w.Agent.Client, p.After.Seconds(), saidTo(p.Canary)))
	if err := s.Append(w.ID, ledger.Proven, p); err != nil {
		stop(fmt.Errorf("the journal: %w", err))
	}
}

// watchStream stops a client that is seen to call tools while nothing is heard of its
// hooks.
func (o *clientSetup) watchStream(required bool, stop context.CancelCauseFunc) func(stream.Item) {
	return func(i stream.Item) {
		if (i.Kind != stream.Called && i.Kind != stream.Told) || !i.Call.Ran || !required {
			return
		}
		if !o.life.reported() {
			stop(errUnproven)
		}
	}
}
