package launch

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"cordon/internal/cell"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/stream"
	"cordon/internal/worksite"
)

// startAgent starts the client of a worker: what its hooks are made of is recorded,
// the guard is tried in the cell, and the client is stopped if nothing is heard of its
// hooks.
func startAgent(ctx context.Context, s *worksite.Site, w *ledger.Worker, r *equipment, c cell.Command, human io.Writer) (cell.Exit, error) {
	o := r.agent
	if err := s.Append(w.ID, ledger.Wired, o.wiring); err != nil {
		return cell.Exit{}, err
	}
	if err := checkProjectSettings(ctx, s, w, o.adapter, c.Terminal != nil); err != nil { // as setup has left it
		return cell.Exit{}, err
	}
	if err := leaveOutServers(ctx, s, w, o, c.Terminal != nil); err != nil {
		return cell.Exit{}, err
	}
	o.addTo(&c, r.dir)
	if err := prepareCanary(ctx, w, r, &c); err != nil {
		return cell.Exit{}, err
	}
	within, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out, done, err := openStream(s, w, r, human, stop)
	if err != nil {
		return cell.Exit{}, err
	}
	if out != nil {
		c.Stdout = out
	}
	o.renewKeys(within, s, w)
	exit, err := startProven(within, s, w, r, c, stop)
	done()
	if err != nil {
		return exit, err
	}
	takeBackLogins(s, w.Lease.Lease(), o)
	if err := errors.Join(o.removeLogins(), o.removeKeys()); err != nil {
		s.Voice.Step(w.ID, "login", "cordon could not remove the client's login: "+fault.OneLine(err))
	}
	o.sayUnsigned(s, w, !exit.OK())
	switch cause := context.Cause(within); {
	case ctx.Err() != nil || cause == nil:
	case errors.Is(cause, errUnproven):
		exit.Reason = Unproven
	case errors.Is(cause, errOverBudget):
		exit.Reason = cell.OverBudget
	default:
		return exit, cause
	}
	return exit, recordStream(s, w, o, out, !exit.OK() && r.limits.ended())
}

// startProven starts the client and waits for the first word of its hooks beside it.
func startProven(ctx context.Context, s *worksite.Site, w *ledger.Worker, r *equipment, c cell.Command, stop context.CancelCauseFunc) (cell.Exit, error) {
	over, end := context.WithCancel(ctx)
	waited := make(chan struct{})
	started := false
	exit, err := startCommandThen(ctx, s, w, r, c, func() {
		started = true
		r.agent.life.begin()
		go func() { defer close(waited); awaitHooks(over, s, w, r.agent, stop) }()
	})
	end()
	if started {
		<-waited
	}
	return exit, err
}

// openStream makes the writer that reads what a client prints about its work: a person is
// shown its words, and the whole is kept. An interactive one prints for a screen.
func openStream(s *worksite.Site, w *ledger.Worker, r *equipment, human io.Writer, stop context.CancelCauseFunc) (*stream.Writer, func(), error) {
	o := r.agent
	if !o.kit.Stream {
		return nil, func() {}, nil
	}
	raw, err := os.OpenFile(s.WorkerFile(w.ID, worksite.StreamFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, nil, err
	}
	out := stream.NewWriter(o.adapter.Stream, human, &worksite.Bounded{To: raw, Room: worksite.TranscriptRoom})
	r.limits = &limitWatch{s: s, w: w}
	out.OnItem = r.limits.watch(r.budget.watch(o.watchStream(w.Lease.Lease().Policy.Agent.Proof != policy.ProofReported, stop), stop))
	return out, func() { out.Close(); raw.Close() }, nil
}
