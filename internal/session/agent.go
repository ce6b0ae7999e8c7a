package session

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"cordon/internal/cell"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/stream"
)

// startAgent starts the client of a worker: what its hooks are made of is recorded,
// the guard is tried in the cell, and the client is stopped if nothing is heard of its
// hooks.
func (s *Session) startAgent(ctx context.Context, w *ledger.Worker, r *rig, c cell.Command, human io.Writer) (cell.Exit, error) {
	o := r.agent
	if err := s.append(w.ID, ledger.Wired, o.wiring); err != nil {
		return cell.Exit{}, err
	}
	if err := s.canary(ctx, w, r); err != nil {
		return cell.Exit{}, err
	}
	if err := s.mayStartIn(ctx, w, o.adapter, c.Terminal != nil); err != nil { // as setup has left it
		return cell.Exit{}, err
	}
	o.enter(&c, r.dir)
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out, done, err := s.listen(w, o, c, human, stop)
	if err != nil {
		return cell.Exit{}, err
	}
	if out != nil {
		c.Stdout = out
	}
	exit, err := s.startProven(within, w, r, c, stop)
	done()
	if err != nil {
		return exit, err
	}
	s.renew(w.Lease.Lease(), o)
	if err := o.logOut(); err != nil {
		s.Voice.Step(w.ID, "login", "what it signed in with is still there: "+oneLine(err))
	}
	switch cause := context.Cause(within); {
	case ctx.Err() != nil || cause == nil:
	case errors.Is(cause, errUnproven):
		exit.Reason = unproven
	default:
		return exit, cause
	}
	return exit, s.sum(w, o, out)
}

// startProven starts the client and waits for the first word of its hooks beside it.
func (s *Session) startProven(ctx context.Context, w *ledger.Worker, r *rig, c cell.Command, stop context.CancelCauseFunc) (cell.Exit, error) {
	over, end := context.WithCancel(ctx)
	waited := make(chan struct{})
	started := false
	exit, err := s.startCommandThen(ctx, w, r, c, func() {
		started = true
		r.agent.life.begin()
		go func() { defer close(waited); s.prove(over, w, r.agent, stop) }()
	})
	end()
	if started {
		<-waited
	}
	return exit, err
}

// listen makes the writer that reads what a client prints about its work: a person is
// shown its words, and the whole is kept. An interactive one prints for a screen.
func (s *Session) listen(w *ledger.Worker, o *outfit, c cell.Command, human io.Writer, stop context.CancelCauseFunc) (*stream.Writer, func(), error) {
	if !o.kit.Stream {
		return nil, func() {}, nil
	}
	raw, err := os.OpenFile(s.workerFile(w.ID, streamFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, nil, err
	}
	out := stream.NewWriter(o.adapter.Name, human, &bounded{w: raw, left: transcriptRoom})
	out.OnItem = o.watchStream(w.Lease.Lease().Policy.Agent.Proof != policy.ProofReported, stop)
	return out, func() { out.Close(); raw.Close() }, nil
}
