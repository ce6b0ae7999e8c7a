package session

import (
	"context"
	"errors"
	"io"
	"slices"

	"cordon/internal/cell"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/inspect"
	"cordon/internal/launch"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
)

// acceptance tests trees for a worker on this machine.
type acceptance struct {
	gate.Acceptance
	session *Session
	worker  *ledger.Worker
	tree    workspace.MergedTree // the last
	log     io.Closer
}

// acceptHere is what tests the merged trees of a worker's result on this machine. Nothing is left of an earlier test.
func (s *Session) acceptHere(w *ledger.Worker, out io.Writer) (*acceptance, error) {
	if err := s.State.Erase(s.AcceptLayers(w.ID)); err != nil {
		return nil, err
	}
	log, err := s.AppendTranscript(w.ID)
	if err != nil {
		return nil, err
	}
	a := &acceptance{session: s, worker: w, log: log}
	a.Acceptance = gate.Acceptance{
		Gate: s.Gate, Lease: w.Lease, Now: s.Now, Output: io.MultiWriter(&worksite.Bounded{To: log, Room: worksite.TranscriptRoom}, worksite.Unheeded{To: out}),
		Place: func(ctx context.Context, commit git.OID) (_ func(), err error) {
			a.tree, err = workspace.MakeMergedTree(ctx, s.Site, w, commit)
			return a.tree.Leave, err
		},
		Command: func(ctx context.Context, line string) (cell.Command, error) {
			return launch.AcceptanceCommand(ctx, s.Site, w.Lease, a.tree, line)
		},
	}
	return a, nil
}

// run tests the tree of a commit.
func (a *acceptance) run(ctx context.Context, commit git.OID) (checks []gate.Check, err error) {
	s, w := a.session, a.worker
	s.Voice.Step(w.ID, "accept", worksite.Count(len(w.Lease.Lease().Policy.Acceptance), "command")+" on the merged tree")
	err = inspect.WatchHost(ctx, s.Site, w, func() (err error) { checks, err = a.Run(ctx, commit); return err })
	return checks, errors.Join(err, s.TallyNetwork(w))
}

// close removes what the tests left. What stays behind is erased by the next attempt or by gc.
func (a *acceptance) close() {
	_ = a.session.State.Erase(a.session.AcceptLayers(a.worker.ID))
	a.log.Close()
}

// TryBase runs the acceptance commands of a worker on its base, for the home of a fleet that has sealed its terms, and records what
// they said. Nothing lands here.
func (s *Session) TryBase(ctx context.Context, id lease.ID, out io.Writer) (*ledger.Worker, error) {
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	release, err := s.lockWorker(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	w, err := s.Find(string(id))
	if err != nil {
		return nil, err
	}
	here, err := s.acceptHere(w, out)
	if err != nil {
		return w, err
	}
	defer here.close()
	l := w.Lease.Lease()
	checks, err := here.run(ctx, l.Base)
	if err != nil {
		return w, err
	}
	res := gate.Result{Outcome: gate.Nothing, Target: l.Target, Checks: checks}
	if slices.ContainsFunc(checks, func(c gate.Check) bool { return c.Code != 0 }) {
		res.Outcome, res.Why = gate.Rejected, "acceptance failed"
	}
	if err := s.Append(w.ID, ledger.Judged, res); err != nil {
		return w, err
	}
	return s.Find(string(id))
}
