package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"cordon/internal/cell"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/inspect"
	"cordon/internal/launch"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
)

// acceptance tests trees for a worker on this machine.
type acceptance struct {
	gate.Acceptance
	session *Session
	worker  *ledger.Worker
	trees   []workspace.MergedTree // of the last test
	setup   *workspace.Prepared    // what setup commands left in it
	log     io.Closer
}

// acceptHere is what tests the merged trees of a worker's result on this machine.
func (s *Session) acceptHere(w *ledger.Worker, out io.Writer) (*acceptance, error) {
	log, err := s.AppendTranscript(w.ID)
	if err != nil {
		return nil, err
	}
	a := &acceptance{session: s, worker: w, log: log}
	a.Acceptance = gate.Acceptance{
		Gate: s.Gate, Lease: w.Lease, Now: s.Now, Output: io.MultiWriter(&worksite.Bounded{To: log, Room: worksite.TranscriptRoom}, worksite.Unheeded{To: out}),
		Place: a.place,
		Command: func(ctx context.Context, line string) (cell.Command, error) {
			return launch.AcceptanceCommand(ctx, s.Site, w.Lease, a.trees[len(a.trees)-1], line)
		},
	}
	return a, nil
}

// place makes the next tree. The first that holds what setup commands left takes it from theirs, which is the last.
func (a *acceptance) place(ctx context.Context, commit git.OID, prepared bool) (leave func(), err error) {
	s, w := a.session, a.worker
	switch {
	case !prepared:
		a.setup = nil
	case a.setup == nil:
		if a.setup, err = a.trees[len(a.trees)-1].Prepare(ctx, w.Lease); err != nil {
			return nil, err
		}
		if missed := a.setup.Missed; len(missed) > 0 {
			fmt.Fprintf(a.Output, "cordon: setup left %s, which is not in filesystem.scratch: acceptance commands do not see it\n",
				legible.Line(strings.Join(missed, ", ")))
		}
	}
	t, err := workspace.MakeMergedTree(ctx, s.Site, w, commit, len(a.trees), a.setup)
	a.trees = append(a.trees, t)
	return t.Leave, err
}

// run tests the tree of a commit. Nothing is left of an earlier test.
func (a *acceptance) run(ctx context.Context, commit git.OID) (checks []gate.Check, err error) {
	s, w := a.session, a.worker
	if err := s.State.Erase(s.AcceptLayers(w.ID)); err != nil {
		return nil, err
	}
	a.trees = nil
	s.Voice.Step(w.ID, "accept", worksite.Count(len(w.Lease.Lease().Policy.Acceptance), "command")+" on the merged tree")
	err = inspect.WatchHost(ctx, s.Site, w, func() (err error) { checks, err = a.Run(ctx, commit); return err })
	return checks, errors.Join(err, s.TallyNetwork(w))
}

// close removes what the tests left. What stays behind is erased by the next attempt or by gc.
func (a *acceptance) close() {
	_ = a.session.State.Erase(a.session.AcceptLayers(a.worker.ID))
	_ = a.session.State.Erase(a.session.State.Acceptance(string(a.worker.ID))) // of setup that failed
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
