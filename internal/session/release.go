package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cordon/internal/audit"
	"cordon/internal/dispatch"
	"cordon/internal/fault"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/wording"
)

// Amendment is an operator's decision about a quarantined result.
type Amendment struct {
	Policy policy.Policy
	Source string
	Who    string
	Why    string
	// LeaveBehind says that what could not be stored need not land.
	LeaveBehind bool
	Amended     bool           // the policy is another one than the worker's
	Accept      []ledger.Cause // the kinds of fault that the operator accepts by name
}

// Release holds a quarantined result against an amended policy and, if it
// passes, takes it through the gate like any other. What lands is the stored
// result, never a tree that could have changed since.
func (s *Session) Release(ctx context.Context, w *ledger.Worker, a Amendment, how Drive) (*ledger.Worker, error) {
	status, err := s.Status(ctx, w)
	if err != nil {
		return nil, err
	}
	if status != ledger.InQuarantine {
		return nil, fault.Refuse("%s is %s, not quarantined: there is nothing to release", w.ID, status)
	}
	if err := s.refuseIncomplete(w, a); err != nil {
		return nil, err
	}
	waived, err := waivers(w, s.WrongWith(w), a)
	if err != nil {
		return nil, err
	}
	for _, line := range waivedLines(s.WrongWith(w), waived) {
		s.Voice.Step(w.ID, "waived", line)
	}
	sealed, err := s.amendedLease(ctx, w, a)
	if err != nil {
		return nil, err
	}
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	if err := s.VerifyAll(); err != nil {
		return nil, err
	}
	data := ledger.Release{Lease: sealed.Bytes(), Hash: sealed.Hash(), Who: a.Who, Why: a.Why, LeaveBehind: a.LeaveBehind, Waives: waived}
	if err := s.Decide(ctx, w.ID, ledger.Released, data, false, stillQuarantined(w)); err != nil {
		return nil, err
	}
	return s.Continue(ctx, w.ID, how)
}

// refuseIncomplete refuses a release without a reason, and one of a result that cannot
// land as a whole, unless the operator said that the rest stays behind.
func (s *Session) refuseIncomplete(w *ledger.Worker, a Amendment) error {
	if a.Why == "" {
		return fault.Refuse("a release needs a reason: say why with --reason")
	}
	if n := len(w.Quarantine.Missing); n > 0 && !a.LeaveBehind {
		return fault.Refuse("part of the result of %s cannot be released, only left behind: %s; use --leave-behind to land the rest", w.ID,
			strings.Join(w.Quarantine.Missing[:min(n, 5)], ", "))
	}
	n, err := s.outsideViolations(w)
	if err != nil && !a.LeaveBehind {
		return fault.Refuse("the audit of %s cannot be read (%v), so nobody knows what it wrote outside its tree: use --leave-behind to land its tree "+
			"all the same", w.ID, err)
	}
	if n > 0 && !a.LeaveBehind {
		return fault.Refuse("%s wrote %d paths outside its tree, which no policy lets land: look with cordon quarantine show %s, and use --leave-behind to "+
			"land the rest", w.ID, n, w.ID)
	}
	return nil
}

// amendedLease is the lease of a worker under another policy, from now on.
func (s *Session) amendedLease(ctx context.Context, w *ledger.Worker, a Amendment) (lease.Sealed, error) {
	l := w.Lease.Lease()
	l.Policy, l.Source = a.Policy, a.Source
	return dispatch.Renew(ctx, s.Site, l)
}

// stillQuarantined refuses a decision about a worker that another one came before.
func stillQuarantined(before *ledger.Worker) func(*ledger.Ledger) error {
	return func(now *ledger.Ledger) error {
		w, err := now.Find(string(before.ID))
		if err != nil {
			return err
		}
		if w.Events != before.Events || w.Quarantine == nil || w.Release != nil || w.Discard != nil || w.Removal != nil {
			return fault.Refuse("%s was released, resumed or discarded meanwhile%s", before.ID, decidedBy(w))
		}
		return nil
	}
}

// decidedBy names whoever decided last about a worker.
func decidedBy(w *ledger.Worker) string {
	if w.Last == nil {
		return ""
	}
	return fmt.Sprintf(": %s %s at %s", w.Last.Who, w.Last.Did, w.Last.At.Local().Format(time.TimeOnly))
}

// landReleased takes a released result through the gate.
func (s *Session) landReleased(ctx context.Context, w *ledger.Worker, how *progress) error {
	how.judged = true
	res, err := s.judgeStored(ctx, w, how)
	return s.recordAnswer(ctx, w, how, res, err)
}

func (s *Session) judgeStored(ctx context.Context, w *ledger.Worker, how *progress) (gate.Result, error) {
	l := w.Lease.Lease()
	if w.Lease.Expired(s.Now()) {
		return gate.Result{}, errors.New("the amended lease has expired")
	}
	stored, err := s.quarantinedResult(ctx, w)
	if err != nil {
		return gate.Result{}, err
	}
	findings, err := audit.Merged(ctx, s.Gate.Repo(), l.Base, stored, w.Lease.Rules())
	if err != nil {
		return gate.Result{}, err
	}
	res := gate.Result{Outcome: gate.Violating, Target: l.Target}
	for _, f := range findings {
		if f.Class != audit.Landing {
			res.Findings = append(res.Findings, f)
		}
	}
	if w.Release != nil && w.Release.Inside && len(res.Findings) > 0 {
		return s.judgeInside(ctx, w, how, findings)
	}
	if len(res.Findings) > 0 {
		return res, nil
	}
	text, err := s.landingMessage(ctx, w, how, findings, wording.StoredHistory(s.Site, w))
	if err != nil {
		return gate.Result{}, err
	}
	return s.acceptAndLand(ctx, w, gate.Order{Snapshot: stored, Message: text}, how.Output)
}

// quarantinedResult is the result that was quarantined. The journal says which commit it
// is; a ref that says another one is not believed.
func (s *Session) quarantinedResult(ctx context.Context, w *ledger.Worker) (git.OID, error) {
	if w.Quarantine == nil || w.Quarantine.Result == "" {
		return "", errors.New("nothing of this worker's result could be stored, so nothing can be released")
	}
	found, err := s.Gate.StoredResult(ctx, w.ID)
	if err != nil {
		return "", err
	}
	if found != w.Quarantine.Result {
		return "", fmt.Errorf("the stored result of %s is %s, but %s was quarantined: somebody moved its ref (git update-ref "+
			"refs/cordon/quarantine/%s/result %s puts it back)",
			w.ID, found.Short(), w.Quarantine.Result.Short(), w.ID, w.Quarantine.Result)
	}
	return found, nil
}

// quarantineAgain puts a released result back. Its evidence is still there.
func (s *Session) quarantineAgain(ctx context.Context, w *ledger.Worker, how *progress) error {
	found := s.wrongs(w, nil, how.unknown)
	how.unknown = nil
	s.Voice.Step(w.ID, "quarantine", found[0].Lines[0])
	q := ledger.Quarantine{}
	if w.Quarantine != nil {
		q = *w.Quarantine
	}
	q.Reasons, q.Causes = reasons(found), causes(found)
	return s.Append(w.ID, ledger.Quarantined, q)
}

// Merge takes what a worker left to the gate, whatever its command's status.
func (s *Session) Merge(ctx context.Context, w *ledger.Worker, how Drive) (*ledger.Worker, error) {
	if how.Inside {
		return s.mergeInside(ctx, w, how)
	}
	status, err := s.Status(ctx, w)
	if err != nil {
		return nil, err
	}
	switch {
	case status == ledger.MergedIn, status == ledger.NoChange:
		return w, nil
	case w.Removal != nil:
		return nil, fault.Refuse("%s was removed by cordon gc, and %s no longer has its result%s", w.ID, strings.TrimPrefix(w.Lease.Lease().Target,
			"refs/heads/"), lastCommit(w))
	}
	switch status {
	case ledger.InQuarantine:
		return nil, fault.Refuse("%s is quarantined: look with cordon quarantine show %s, then release or discard it", w.ID, w.ID)
	case ledger.ThrownAway:
		return nil, fault.Refuse("%s was discarded", w.ID)
	case ledger.Leasing, ledger.Ready:
		return nil, fault.Refuse("%s has not run yet: cordon resume %s", w.ID, w.ID)
	}
	how.Judge = true
	return s.Continue(ctx, w.ID, how)
}

// lastCommit is where a result that was removed may still be.
func lastCommit(w *ledger.Worker) string {
	if w.Gate == nil || w.Gate.Commit == "" {
		return ""
	}
	return ": if git has not pruned it, git branch rescued " + string(w.Gate.Commit) + " keeps it"
}

// Resume goes on where a worker was stopped: a command that did not end by
// itself runs again in the same tree.
func (s *Session) Resume(ctx context.Context, w *ledger.Worker, how Drive) (*ledger.Worker, error) {
	status, err := s.Status(ctx, w)
	if err != nil {
		return nil, err
	}
	commented := len(how.Command) > 0 || how.Prompt != "" || how.Remarks.Text != ""
	switch status {
	case ledger.MergedIn:
		if commented {
			return nil, fault.Refuse("%s has landed: start another worker for more work", w.ID)
		}
		return w, nil
	case ledger.NoChange:
		if !commented {
			return w, nil
		}
	case ledger.ThrownAway:
		return nil, fault.Refuse("%s was discarded", w.ID)
	case ledger.Running, ledger.Gating:
		return nil, fmt.Errorf("%s: another cordon process is at work on it", w.ID)
	}
	if status == ledger.InQuarantine && s.freeze(w) != nil {
		return s.Continue(ctx, w.ID, how) // to finish what was interrupted
	}
	if startsAnew(status, commented) {
		return s.nextAttempt(ctx, w, status, how)
	}
	if w.Lease.Expired(s.Now()) {
		return nil, fault.Refuse("the lease of %s has expired: merge or discard what it left", w.ID)
	}
	if open := w.Open(); status == ledger.Asking && len(open) > 0 && len(how.Command) == 0 && how.Prompt == "" {
		return nil, &fault.PersonError{Err: fmt.Errorf("%s waits for an answer (%s: %s): cordon answer %s \"…\", then cordon resume %s", w.ID, open[0].ID(),
			open[0].Text, w.ID, w.ID)}
	}
	if commented && w.Gate != nil {
		return nil, fault.Refuse("%s is %s: nothing is left to run in its tree", w.ID, status)
	}
	more := commented || status == ledger.Asking
	how.Again = w.Exit != nil && !w.Exit.OK() || w.Gate == nil && more
	return s.Continue(ctx, w.ID, how)
}

// outsideViolations counts what the audit found outside the tree. A worker without
// an audit has nothing that could land.
func (s *Session) outsideViolations(w *ledger.Worker) (n int, err error) {
	if w.Audit == nil {
		return 0, nil
	}
	report, err := s.Report(w)
	if err != nil {
		return 0, err
	}
	for _, f := range report.Violating() {
		if f.Outside() {
			n++
		}
	}
	return n, nil
}
