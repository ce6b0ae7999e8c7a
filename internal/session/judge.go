package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/config"
	"cordon/internal/dispatch"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/fitness"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
)

// judge takes a clean result to the gate. An error that is not an interruption
// is an unknown, and an unknown is quarantined.
func (s *Session) judge(ctx context.Context, w *ledger.Worker, how *progress) error {
	how.judged = true
	report, err := s.Report(w)
	if err != nil {
		return err
	}
	res, err := s.land(ctx, w, how, report)
	return s.recordAnswer(ctx, w, how, res, err)
}

// recordAnswer records what the gate answered.
func (s *Session) recordAnswer(ctx context.Context, w *ledger.Worker, how *progress, res gate.Result, err error) error {
	var unfinished *gate.UnfinishedError
	var undecided *undecidedError
	var undelivered *gate.UndeliveredError
	switch {
	case errors.As(err, &undelivered) && ctx.Err() == nil:
		return &fault.PersonError{Err: fmt.Errorf("%s: nothing landed: %w. To try again: cordon merge %s", w.ID, err, w.ID)}
	case errors.As(err, &undecided):
		return err
	case errors.As(err, &unfinished):
		return landingUnfinished(w, err)
	case err == nil && res.Outcome == gate.Merged: // an interrupt does not undo it
		return s.recordResult(ctx, w, res)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		how.unknown = err
		return nil
	}
	return s.recordResult(ctx, w, res)
}

// recordResult writes down what the gate decided. A merge that a checkout could not
// follow is one, and needs a person.
func (s *Session) recordResult(ctx context.Context, w *ledger.Worker, res gate.Result) error {
	s.Voice.Step(w.ID, "gate", describeResult(res))
	if err := s.Append(w.ID, ledger.Judged, res.Capped()); err != nil {
		return err
	}
	s.keepCaches(ctx, w, res)
	if res.Outcome == gate.Merged && res.Checkout != "" {
		return &fault.PersonError{Err: fmt.Errorf("%s: %s", w.ID, res.Why)}
	}
	return nil
}

// sayCached records that acceptance found caches of an earlier result, and keeps those of one
// that landed.
func (s *Session) sayCached(ctx context.Context, w *ledger.Worker, trees []workspace.MergedTree, res *gate.Result) {
	res.Cached = slices.ContainsFunc(trees, workspace.MergedTree.Warm) && len(res.Checks) > 0
	if res.Cached && res.Outcome == gate.Rejected {
		res.Why += "; it ran with caches of the last landed result (gate.cache)"
	}
	failed := slices.ContainsFunc(res.Checks, func(c gate.Check) bool { return c.Code != 0 }) // and was waived
	if res.Outcome != gate.Merged || len(res.Checks) == 0 || failed || w.Quarantine != nil || w.Release != nil {
		return
	}
	if err := workspace.KeepAccepted(ctx, s.Site, w.Lease, trees); err != nil {
		s.Voice.Step(w.ID, "cache", "not kept for the next acceptance: "+fault.OneLine(err))
	}
}

// keepCaches keeps the caches of a run that landed as it was. They can be made again: a
// landing does not fail for them.
func (s *Session) keepCaches(ctx context.Context, w *ledger.Worker, res gate.Result) {
	if res.Outcome != gate.Merged || w.Quarantine != nil || w.Release != nil {
		return
	}
	if err := workspace.KeepCaches(ctx, s.Site, w); err != nil {
		s.Voice.Step(w.ID, "cache", "not kept for the next worker: "+fault.OneLine(err))
	}
}

// landingUnfinished reports a landing that lacks only its last step. The worker can be resumed when a
// person has removed the cause.
func landingUnfinished(w *ledger.Worker, err error) error {
	return &fault.PersonError{Err: fmt.Errorf("%s: %w. When the cause is gone: cordon resume %s", w.ID, err, w.ID)}
}

func describeResult(r gate.Result) string {
	target := strings.TrimPrefix(r.Target, "refs/heads/")
	switch r.Outcome {
	case gate.Merged:
		if r.Signed {
			return fmt.Sprintf("merged into %s as %s, signed", target, r.Commit.Short())
		}
		return fmt.Sprintf("merged into %s as %s", target, r.Commit.Short())
	case gate.Nothing:
		return target + " already holds all of it"
	case gate.Conflict:
		return fmt.Sprintf("conflicts with %s in %s", target, worksite.Count(len(r.Paths), "file")) + r.Because()
	case gate.Violating:
		return fmt.Sprintf("merged with %s it would change %s outside the lease", target, worksite.Count(len(r.Findings), "path"))
	}
	return r.Why
}

// land snapshots the audited files and lands them.
func (s *Session) land(ctx context.Context, w *ledger.Worker, how *progress, report *audit.Report) (gate.Result, error) {
	order, err := s.orderFor(ctx, w, how, report)
	if err != nil {
		return gate.Result{}, err
	}
	return s.acceptAndLand(ctx, w, order, how.Output)
}

// tryLanding does the same up to the landing. Onto is the target that the result was tested with.
func (s *Session) tryLanding(ctx context.Context, w *ledger.Worker, how *progress, report *audit.Report) (onto git.OID, res gate.Result, err error) {
	order, err := s.orderFor(ctx, w, how, report)
	if err != nil {
		return "", res, err
	}
	res, err = s.acceptAnd(ctx, w, order, how.Output, func(ctx context.Context, o gate.Order) (res gate.Result, err error) {
		onto, res, err = s.Gate.Try(ctx, o)
		return res, err
	})
	return onto, res, err
}

// orderFor snapshots the audited files, and says how they are to land.
func (s *Session) orderFor(ctx context.Context, w *ledger.Worker, how *progress, report *audit.Report) (gate.Order, error) {
	l := w.Lease.Lease()
	if w.Lease.Expired(s.Now()) {
		return gate.Order{}, fmt.Errorf("the lease expired at %s", l.Expires.Format("2006-01-02 15:04 MST"))
	}
	snapshot, err := s.Gate.Snapshot(ctx, string(w.ID), report.Base, s.TreeOf(w), report.Landing(false))
	if err != nil {
		return gate.Order{}, err
	}
	tip := git.OID("")
	form, err := s.landAs(w, how)
	if err != nil {
		return gate.Order{}, err
	}
	if form != config.Squash && report.History != nil && w.Attempts == 0 && w.Origin == "" { // what was carried over is not the worker's commit
		if tip, err = fitness.Tip(ctx, s.Site, w, report.History, form); err != nil {
			return gate.Order{}, err
		}
	}
	text, err := s.landingMessage(ctx, w, how, report.Landing(false), report.History)
	if err != nil {
		return gate.Order{}, err
	}
	order := gate.Order{Snapshot: snapshot, Tip: tip, Message: text}
	if w.Stage != nil && len(report.Landing(false)) == 0 {
		order.Judged = w.Stage.Judges
	}
	if form == config.Rebase && tip != "" {
		order.Replay = report.History.Commits
	}
	return order, nil
}

// acceptAndLand completes an order and gives it to the gate. Every result comes this way:
// after a run, of another attempt, released, tested again or reduced.
func (s *Session) acceptAndLand(ctx context.Context, w *ledger.Worker, o gate.Order, out io.Writer) (gate.Result, error) {
	return s.acceptAnd(ctx, w, o, out, s.Gate.Land)
}

// acceptAnd completes an order, with what tests it, for something that the gate does.
func (s *Session) acceptAnd(ctx context.Context, w *ledger.Worker, o gate.Order, out io.Writer,
	do func(context.Context, gate.Order) (gate.Result, error)) (gate.Result, error) {
	l := w.Lease.Lease()
	if err := dispatch.RefuseBeyondRights(s.Site, w); err != nil {
		return gate.Result{}, &undecidedError{err}
	}
	if err := fitness.Forms(ctx, s.Site, w, o.Snapshot); err != nil {
		return gate.Result{}, err
	}
	here, err := s.acceptHere(w, out)
	if err != nil {
		return gate.Result{}, err
	}
	defer here.close()
	o.Lease, o.History, o.Entry, o.Author, o.Failed = w.Lease, s.HistoryRepo(w), w.AuditEntry, enclosure.Identity(l), w.Rejections
	o.Index = s.BaseIndex(ctx, l.Base)
	o.Creates, o.AcceptFailed, o.Conflicts = w.Options.NewTarget, w.Waives(ledger.FailedAcceptance), w.Conflicts
	if w.Stage != nil {
		o.Verify, o.Artifacts = true, w.Stage.Artifacts
	}
	if err := s.credit(ctx, w, &o); err != nil {
		return gate.Result{}, err
	}
	if o.Hooks != nil {
		o.Hooks.Output = worksite.Unheeded{To: out}
	}
	o.Accept = func(ctx context.Context, commit git.OID) ([]gate.Check, error) {
		if checks, ok, err := s.acceptElsewhere(ctx, w, commit, here.Output); ok || err != nil {
			return checks, err
		}
		return here.run(ctx, commit)
	}
	o.Intend = func(move gate.Landing) error { return s.intend(w, move) }
	o.Retry = func(why string, left int) {
		s.Voice.Step(w.ID, "accept", fmt.Sprintf("%s: running acceptance again (%d left)", why, left))
	}
	o.Again = func(why string) {
		s.Voice.Step(w.ID, "accept", why+": running acceptance again")
	}
	o.Waits = func() { s.Voice.Step(w.ID, "gate", "other results land first") }
	res, err := do(ctx, o)
	s.sayCached(ctx, w, here.trees, &res)
	if len(res.Hooks) > 0 {
		s.Voice.Step(w.ID, "hooks", "ran: "+strings.Join(res.Hooks, ", "))
	}
	return res, err
}

// recoverLanding finishes a landing whose end was not recorded: the branch moved or it
// did not, and only ancestry says which.
func (s *Session) recoverLanding(ctx context.Context, w *ledger.Worker, how *progress) error {
	move := *w.Intent
	landed, err := s.Ancestor(ctx, move.New, move.Ref)
	if err != nil {
		return err
	}
	if !landed && w.Release != nil {
		return s.landReleased(ctx, w, how)
	}
	if !landed {
		return s.audit(ctx, w, how) // a new audit clears the intent
	}
	release, err := s.State.Await(ctx, state.GateLock)
	if err != nil {
		return err
	}
	defer release()
	res := gate.Result{Outcome: gate.Merged, Commit: move.New, Target: move.Ref}
	var left *gate.LeftBehindError
	var unfinished *gate.UnfinishedError
	err = s.Gate.CatchUp(ctx, move)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &unfinished):
		return landingUnfinished(w, err)
	case errors.As(err, &left):
		res.Checkout, res.Why, err = left.Checkout, left.Error(), nil
	}
	if err != nil {
		return err
	}
	return s.recordResult(ctx, w, res)
}

// quarantine keeps a result that does not land.
func (s *Session) quarantine(ctx context.Context, w *ledger.Worker, how *progress) error {
	report, err := s.Report(w)
	if err != nil {
		report = nil
	}
	found := s.wrongs(w, report, err, how.unknown)
	how.unknown = nil
	s.Voice.Step(w.ID, "quarantine", found[0].Lines[0])
	m, err := s.Gate.Quarantine(ctx, gate.Evidence{
		Lease: w.Lease, Reasons: reasons(found), Report: report, Gate: w.Gate,
		Top: s.TreeOf(w), Frozen: s.frozenPlace(w), Layers: s.LayersOf(w), History: s.HistoryRepo(w),
		Transcript: s.WorkerFile(w.ID, "transcript"), Now: s.Now(),
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // it is quarantined all the same: the frozen tree holds everything
		m.Missing = append(m.Missing, "evidence: "+err.Error())
	}
	return s.Append(w.ID, ledger.Quarantined, ledger.Quarantine{
		Reasons: reasons(found), Result: m.Result, History: m.History, Evidence: m.Evidence, Missing: worksite.Capped(m.Missing),
		Causes: causes(found),
	})
}

func (s *Session) frozenPlace(w *ledger.Worker) string {
	switch {
	case w.Lease.Lease().Adopted:
		return w.Lease.Lease().Worktree
	case worksite.Layered(w):
		return s.LayersOf(w)
	}
	return s.State.Frozen(string(w.ID))
}
