package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"cordon/internal/cell"
	"cordon/internal/client"
	"cordon/internal/fault"
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

// label marks what is of the canary, which is no call of the client's.
func (l *hookWatch) label(r guard.Record) guard.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.trying {
		r.Event = "canary"
	}
	return r
}

// setTrying says whether what is heard is of the canary.
func (l *hookWatch) setTrying(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trying = on
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

// canary runs the guard once in the cell of the worker, as the client would, with a
// call that must be denied. It shows that the guard, its warrant and the way to here
// are in that cell, and that a denial is one.
func canary(ctx context.Context, s *worksite.Site, w *ledger.Worker, r *equipment) error {
	o := r.agent
	name := o.adapter.Name
	c, err := confinedCommand(ctx, s, w.Lease, []string{r.dir + "/" + binaryFile, "hook", "--client", string(name), "--lease", r.dir + "/" + warrantFile})
	if err != nil {
		return err
	}
	r.addTo(&c)
	input, err := json.Marshal(o.adapter.Dialect.Canary(canaryCall, w.Lease.Lease().Worktree))
	if err != nil {
		return err
	}
	var said, out bytes.Buffer
	c.Serve = nil // it reaches nothing
	if c.Cell != nil {
		c.Cell.Net = nil
	}
	const room = 64 << 10
	c.Stdin, c.Limit = bytes.NewReader(input), time.Minute
	c.Stdout, c.Stderr = &worksite.Bounded{To: &out, Room: room}, &worksite.Bounded{To: &said, Room: room}
	o.life.setTrying(true)
	exit, err := cell.Run(ctx, c)
	o.life.setTrying(false)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var weak *cell.MissingError
	if errors.As(err, &weak) {
		return &fault.RefusedError{Err: err}
	}
	if err != nil {
		return fmt.Errorf("the guard could not be tried in the cell: %w", err)
	}
	o.life.mu.Lock()
	verdict := o.life.canary
	o.life.mu.Unlock()
	if w.Lease.Lease().Policy.Guard.Mode.Warns() {
		if exit.Code == 0 && verdict == warnedOf {
			return nil
		}
	} else if o.adapter.Dialect.Refuses(client.Answer{Stdout: out.Bytes(), Stderr: said.Bytes(), Exit: exit.Code}) && verdict == string(guard.Deny) {
		return nil
	}
	return fault.Refuse("the guard was tried in the cell with a call that it must deny, but did not: it ended with %d, was heard to say %q and printed "+
		"%.200q", exit.Code, verdict, said.String()+out.String())
}

// Unproven is why an agent is stopped whose hooks were not heard of.
const Unproven cell.Reason = "its hooks never reported"

var errUnproven = errors.New(string(Unproven))

// awaitHooks waits for the first word of the client's hooks and records it, or stops the
// client. It returns when the context is over.
func awaitHooks(ctx context.Context, s *worksite.Site, w *ledger.Worker, o *clientSetup, stop context.CancelCauseFunc) {
	began := time.Now()
	patience := time.NewTimer(w.Lease.Lease().Policy.Agent.Patience())
	defer patience.Stop()
	select {
	case <-o.life.alive:
		recordProof(s, w, o, time.Since(began), stop)
	case <-patience.C:
		if w.Lease.Lease().Policy.Agent.Proof == policy.ProofReported {
			s.Voice.Step(w.ID, "guard", "NOT live: the client's hooks never reported; the cell is the only protection")
			return
		}
		stop(errUnproven)
	case <-ctx.Done():
		select {
		case <-o.life.alive: // and the client was quick
			recordProof(s, w, o, time.Since(began), stop)
		default:
		}
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
		select {
		case <-o.life.alive:
		default:
			stop(errUnproven)
		}
	}
}
