package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/state"
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
	return s.conclude(ctx, w, how, res, err)
}

// conclude records what the gate answered.
func (s *Session) conclude(ctx context.Context, w *ledger.Worker, how *progress, res gate.Result, err error) error {
	var unfinished *gate.UnfinishedError
	switch {
	case errors.As(err, &unfinished):
		return stuck(w, err)
	case err == nil && res.Outcome == gate.Merged: // an interrupt does not undo it
		return s.record(w, res)
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		how.unknown = err
		return nil
	}
	return s.record(w, res)
}

// record writes down what the gate decided. A merge that a checkout could not
// follow is one, and needs a person.
func (s *Session) record(w *ledger.Worker, res gate.Result) error {
	s.Voice.Step(w.ID, "gate", describeResult(res))
	if err := s.append(w.ID, ledger.Judged, res.Capped()); err != nil {
		return err
	}
	if res.Outcome == gate.Merged && res.Checkout != "" {
		return &PersonError{fmt.Errorf("%s: %s", w.ID, res.Why)}
	}
	return nil
}

// PersonError is something that only a person can finish.
type PersonError struct{ Err error }

func (e *PersonError) Error() string { return e.Err.Error() }
func (e *PersonError) Unwrap() error { return e.Err }

// stuck reports a landing that lacks only its last step. The worker can be resumed when a
// person has removed the cause.
func stuck(w *ledger.Worker, err error) error {
	return &PersonError{fmt.Errorf("%s: %w. When the cause is gone: cordon resume %s", w.ID, err, w.ID)}
}

func describeResult(r gate.Result) string {
	target := strings.TrimPrefix(r.Target, "refs/heads/")
	switch r.Outcome {
	case gate.Merged:
		return fmt.Sprintf("merged into %s as %s", target, r.Commit.Short())
	case gate.Nothing:
		return target + " already holds all of it"
	case gate.Conflict:
		return fmt.Sprintf("conflicts with %s in %s", target, count(len(r.Paths), "file"))
	case gate.Violating:
		return fmt.Sprintf("merged with %s it would change %s outside the lease", target, count(len(r.Findings), "path"))
	}
	return r.Why
}

// count is a number of things.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// land snapshots the audited files and lands them.
func (s *Session) land(ctx context.Context, w *ledger.Worker, how *progress, report *audit.Report) (gate.Result, error) {
	l := w.Lease.Lease()
	if w.Lease.Expired(s.Now()) {
		return gate.Result{}, fmt.Errorf("the lease expired at %s", l.Expires.Format("2006-01-02 15:04 MST"))
	}
	snapshot, err := s.gate.Snapshot(ctx, string(w.ID), l.Base, s.TreeOf(w), report.Landing(false))
	if err != nil {
		return gate.Result{}, err
	}
	if err := refuseAttributes(ctx, s.gate.Repo(), landing(report)); err != nil {
		return gate.Result{}, err
	}
	tip := git.OID("")
	if (how.History || w.Options.KeepHistory) && report.History != nil {
		if tip, err = s.usableTip(ctx, w, report.History); err != nil {
			return gate.Result{}, err
		}
	}
	return s.deliver(ctx, w, snapshot, tip, how.Output)
}

func (s *Session) deliver(ctx context.Context, w *ledger.Worker, snapshot, tip git.OID, out io.Writer) (gate.Result, error) {
	l := w.Lease.Lease()
	log, err := s.transcript(w.ID)
	if err != nil {
		return gate.Result{}, err
	}
	defer log.Close()
	var tree mergedTree
	accept := gate.Acceptance{
		Policy: l.Policy, Now: s.Now, Output: io.MultiWriter(&bounded{w: log, left: transcriptRoom}, unheard{out}),
		Place: func(ctx context.Context, commit git.OID) (_ func(), err error) {
			tree, err = s.merged(ctx, w, commit)
			return tree.leave, err
		},
		Command: func(ctx context.Context, line string) (cell.Command, error) {
			return s.acceptance(ctx, w.Lease, tree, line)
		},
	}
	defer s.State.Erase(s.acceptLayers(w.ID)) // what stays behind is erased by the next attempt or by gc
	if err := s.State.Erase(s.acceptLayers(w.ID)); err != nil {
		return gate.Result{}, err
	}
	return s.gate.Land(ctx, gate.Order{
		Lease: w.Lease, Snapshot: snapshot, Tip: tip, History: s.historyRepo(w),
		Entry: w.AuditEntry, Summary: summary(w), Author: enclosure.Identity(l),
		Accept: func(ctx context.Context, commit git.OID) ([]gate.Check, error) {
			s.Voice.Step(w.ID, "accept", count(len(l.Policy.Acceptance), "command")+" on the merged tree")
			var checks []gate.Check
			err := s.watched(ctx, w, func() (err error) { checks, err = accept.Run(ctx, commit); return err })
			return checks, errors.Join(err, s.tallyNetwork(w))
		},
		Intend: func(move gate.Landing) error { return s.append(w.ID, ledger.Intended, move) },
		Waits:  func() { s.Voice.Step(w.ID, "gate", "other results land first") },
	})
}

// summary is the first line of the result's commit message.
func summary(w *ledger.Worker) string {
	text := "cordon: " + string(w.ID) + ": " + Shorten(w.Ran())
	if r := []rune(text); len(r) > 72 {
		text = string(r[:71]) + "…"
	}
	return text
}

// recover finishes a landing whose end was not recorded: the branch moved or it
// did not, and only ancestry says which.
func (s *Session) recover(ctx context.Context, w *ledger.Worker, how *progress) error {
	move := *w.Intent
	landed, err := s.ancestor(ctx, move.New, move.Ref)
	if err != nil {
		return err
	}
	if !landed && w.Release != nil {
		return s.landReleased(ctx, w, how)
	}
	if !landed {
		return s.audit(ctx, w, how) // a new audit clears the intent
	}
	release, err := s.State.Lock(state.GateLock, true)
	if err != nil {
		return err
	}
	defer release()
	res := gate.Result{Outcome: gate.Merged, Commit: move.New, Target: move.Ref}
	var left *gate.LeftBehindError
	var unfinished *gate.UnfinishedError
	err = s.gate.CatchUp(ctx, move)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &unfinished):
		return stuck(w, err)
	case errors.As(err, &left):
		res.Checkout, res.Why, err = left.Checkout, left.Error(), nil
	}
	if err != nil {
		return err
	}
	return s.record(w, res)
}

// quarantine keeps a result that does not land.
func (s *Session) quarantine(ctx context.Context, w *ledger.Worker, how *progress) error {
	report, err := s.Report(w)
	if err != nil {
		report = nil
	}
	reasons := s.reasons(w, report, how, err)
	how.unknown = nil
	s.Voice.Step(w.ID, "quarantine", reasons[0])
	m, err := s.gate.Quarantine(ctx, gate.Evidence{
		Lease: w.Lease, Reasons: reasons, Report: report, Gate: w.Gate,
		Top: s.TreeOf(w), Frozen: s.frozenPlace(w), Layers: s.LayersOf(w), History: s.historyRepo(w),
		Transcript: s.workerFile(w.ID, "transcript"), Now: s.Now(),
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // it is quarantined all the same: the frozen tree holds everything
		m.Missing = append(m.Missing, "evidence: "+err.Error())
	}
	return s.append(w.ID, ledger.Quarantined, ledger.Quarantine{
		Reasons: reasons, Result: m.Result, History: m.History, Evidence: m.Evidence, Missing: capped(m.Missing),
	})
}

func (s *Session) reasons(w *ledger.Worker, report *audit.Report, how *progress, unread error) []string {
	var list []string
	if unread != nil {
		list = append(list, oneLine(unread))
	}
	if how.unknown != nil {
		list = append(list, oneLine(how.unknown))
	}
	list = append(list, s.doubts(w)...)
	if report != nil {
		list = append(list, violationLines(report.Violating())...)
	}
	if w.Gate != nil {
		list = append(list, violationLines(w.Gate.Findings)...)
		if w.Gate.Outcome == gate.Rejected {
			list = append(list, w.Gate.Why)
		}
	}
	if len(list) == 0 {
		list = []string{"the reason is not known"}
	}
	return list
}

// oneLine is an error for a list. What git says may hold names that a worker
// chose.
func oneLine(err error) string {
	return audit.Path(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")).String()
}

// maxReasons bounds what is repeated from the report.
const maxReasons = 20

// capped shortens a list for the journal; the manifest has all of it.
func capped(list []string) []string {
	if n := len(list) - maxReasons; n > 0 {
		return append(append([]string{}, list[:maxReasons]...), fmt.Sprintf("and %d more", n))
	}
	return list
}

func violationLines(found []audit.Finding) []string {
	var list []string
	for i, f := range found {
		if i == maxReasons {
			return append(list, fmt.Sprintf("and %d more", len(found)-i))
		}
		list = append(list, Line(f))
	}
	return list
}

// Line is a finding in one line.
func Line(f audit.Finding) string {
	text := string(f.Kind)
	if f.Path != "" {
		text += " " + f.Path.String()
	}
	if f.Detail != "" {
		text += " (" + f.Detail + ")"
	}
	if f.Source != "" && f.Source != string(f.Kind) {
		text += ", in " + f.Source
	}
	return text + ": " + f.Rule
}

func (s *Session) frozenPlace(w *ledger.Worker) string {
	switch {
	case w.Lease.Lease().Adopted:
		return w.Lease.Lease().Worktree
	case layered(w):
		return s.LayersOf(w)
	}
	return s.State.Frozen(string(w.ID))
}
