package present

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/egress/record"
	"cordon/internal/gate"
	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/seen"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// ReviewView is the result of a worker as it is reviewed: the verdict first, and then what it rests
// on. A record that cannot be read is named, and never taken for an empty one.
func ReviewView(ctx context.Context, s *session.Session, w *ledger.Worker, now worksite.Standing) (*view.Review, error) {
	about := caseOf{Worker: w, now: now, laws: lawsOf(ctx, s, w), wrong: s.WrongWith(w)}
	row := workerRow(s, w, now)
	v := &view.Review{
		Worker: row.ID, Status: row.Status, Group: row.Group, Title: row.Title, Says: row.Says, Since: row.Since, Guard: row.Guard, Network: row.Net,
		Questions: row.Questions, Reasons: []view.Breach{}, Changes: []view.Change{}, Acceptance: []view.Acceptance{}, Choices: []view.Choice{},
	}
	if now.Status != ledger.InQuarantine {
		about.wrong = nil // it was released, or it landed
	}
	v.Unread = about.read(s)
	v.Denied, v.Unread = deniedOf(s, w, v.Unread)
	v.Refused, v.Unread = refusedOf(s, w, v.Unread)
	v.Verdict = about.verdict()
	v.Facts = about.facts()
	v.Reasons = append(v.Reasons, about.reasons()...)
	v.Why = about.unhindered()
	v.Changes = append(v.Changes, about.changes()...)
	v.Acceptance = append(v.Acceptance, checksOf(w)...)
	if about.report != nil && about.report.More != nil {
		more := countsView(*about.report.More)
		v.More = &more
	}
	var err error
	v.Digests, err = digestsOf(ctx, s, w, now.Held)
	v.Choices = append(v.Choices, about.choices()...)
	return v, err
}

// caseOf is a worker and what is known of its result.
type caseOf struct {
	*ledger.Worker
	now    worksite.Standing
	laws   laws
	wrong  []session.Wrong
	report *audit.Report // nil: there is none, or it cannot be read
	unread error
}

// read reads the recorded audit.
func (r *caseOf) read(s *session.Session) (unread []string) {
	if r.Audit == nil {
		return nil
	}
	report, err := s.Report(r.Worker)
	if err != nil {
		r.unread = err
		return []string{legible.Line("the audit: " + err.Error())}
	}
	r.report = report
	return nil
}

// mostShown is how many decisions of a guard and of the network a review has.
const mostShown = 200

// deniedOf are the tool calls that were not simply allowed.
func deniedOf(s *session.Session, w *ledger.Worker, unread []string) ([]view.Decision, []string) {
	list := []view.Decision{}
	_, err := s.Decisions(w, func(r guard.Record) {
		if r.Verdict != guard.Allow || r.Warned {
			list = lastOf(append(list, DecisionView(r)))
		}
	})
	if err != nil {
		unread = append(unread, legible.Line("the decisions of the guard: "+err.Error()))
	}
	return list, unread
}

// refusedOf are the connections that did not come about.
func refusedOf(s *session.Session, w *ledger.Worker, unread []string) ([]view.Attempt, []string) {
	list := []view.Attempt{}
	_, err := s.Reached(w, func(r record.Record) {
		if r.Verdict != record.Allowed && r.Kind != record.End {
			list = lastOf(append(list, AttemptView(r)))
		}
	})
	if err != nil {
		unread = append(unread, legible.Line("the connections: "+err.Error()))
	}
	return list, unread
}

// lastOf bounds a list that grows.
func lastOf[T any](list []T) []T {
	if len(list) > mostShown {
		return slices.Delete(list, 0, len(list)-mostShown)
	}
	return list
}

// checksOf are the acceptance commands that ran for the result.
func checksOf(w *ledger.Worker) []view.Acceptance {
	switch {
	case w.Gate != nil:
		return gateView(w.Gate).Checks
	case w.Proposal != nil:
		return gateView(&gate.Result{Checks: w.Proposal.Checks}).Checks
	}
	return nil
}

// digestsOf name the result and the branch as they are now.
func digestsOf(ctx context.Context, s *session.Session, w *ledger.Worker, held bool) (view.Digests, error) {
	v, err := seen.Look(ctx, s.Site, w, held)
	if err != nil {
		return view.Digests{}, err
	}
	return view.Digests{
		Audit: v.Audit, Report: v.Report, Lease: v.Lease, Attempt: v.Attempt, Result: string(v.Result), Target: v.Target, Tip: string(v.Tip),
		Seen: v.Mark().String(),
	}, nil
}

// verdict says what happened and where the result is now.
func (r *caseOf) verdict() string {
	target := Branch(r.Lease.Lease().Target)
	text := Reason(r.Worker, r.now)
	if r.now.Status == ledger.InQuarantine {
		text = r.broken()
	}
	switch {
	case r.now.Status == ledger.MergedIn, r.now.Status == ledger.NoChange:
		return text
	case r.now.Ancestor:
		return text + " Its result is in " + target + "."
	}
	return text + " Nothing of it is in " + target + "."
}

// broken is what is wrong with a quarantined result, one sentence for each kind.
func (r *caseOf) broken() string {
	var list []string
	for _, x := range r.wrong {
		switch n := len(x.Found()); {
		case n == 0:
			list = append(list, sentence(session.Title(x.Cause)+": "+x.Lines[0]))
		case x.Cause == ledger.BrokeLease && r.report != nil:
			n, all := pathsOf(x.Found()), pathsOf(append(r.report.Landing(false), x.Found()...))
			list = append(list, sentence(outsideOf(n, all)))
		case x.Cause == ledger.WroteOutside:
			list = append(list, sentence(fmt.Sprintf("%s was written outside its tree, where it stays private", terminal.Plural(n, "file"))))
		default:
			list = append(list, sentence(fmt.Sprintf("%s: %s", session.Title(x.Cause), x.Lines[0])))
		}
	}
	if len(list) == 0 {
		return "The result did not pass."
	}
	return strings.Join(list, " ")
}

// pathsOf counts the paths of findings: one may have several, such as a file and its commit.
func pathsOf(found []audit.Finding) int {
	seen := map[audit.Path]bool{}
	for _, f := range found {
		seen[f.Path] = true
	}
	return len(seen)
}

// number is a small number as a word.
func number(n int) string {
	words := []string{"none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	if n < len(words) {
		return words[n]
	}
	return fmt.Sprint(n)
}

// outsideOf says how many of all changes are outside the lease.
func outsideOf(n, all int) string {
	things, verb := "changes", "are"
	if all == 1 {
		things = "change"
	}
	if n == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s of %s %s %s outside its lease", number(n), number(all), things, verb)
}
