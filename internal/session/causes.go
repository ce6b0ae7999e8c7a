package session

import (
	"errors"
	"iter"
	"slices"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/fault"
	"cordon/internal/gate"
	"cordon/internal/inspect"
	"cordon/internal/launch"
	"cordon/internal/ledger"
	"cordon/internal/worksite"
)

// Wrong is everything of one kind that keeps a result from landing.
type Wrong struct {
	Cause ledger.Cause
	Lines []string // one for each thing, in words
	found []audit.Finding
}

// Found are the findings among them: of the audit, and of the gate in the merged tree.
func (x Wrong) Found() []audit.Finding { return x.found }

// wrongs lists what is wrong with a result, by kind: errors that kept it from being judged,
// and what the audit, the guard and the gate found. A report that is nil was not read.
func (s *Session) wrongs(w *ledger.Worker, report *audit.Report, unjudged ...error) []Wrong {
	var list []Wrong
	add := func(c ledger.Cause, lines ...string) {
		at := slices.IndexFunc(list, func(x Wrong) bool { return x.Cause == c })
		if at < 0 && len(lines) > 0 {
			list, at = append(list, Wrong{Cause: c}), len(list)
		}
		if len(lines) > 0 {
			list[at].Lines = append(list[at].Lines, lines...)
		}
	}
	for _, err := range unjudged {
		var host *inspect.HostChangedError
		switch {
		case err == nil:
		case errors.As(err, &host):
			add(ledger.ChangedHost, fault.OneLine(err))
		default:
			add(ledger.NotJudged, fault.OneLine(err))
		}
	}
	if !w.Waives(ledger.UnprovenGuard) {
		add(ledger.UnprovenGuard, launch.GuardDoubts(s.Site, w)...)
	}
	if report != nil {
		for cause, found := range violationsByCause(report) {
			if !w.Waives(cause) {
				add(cause, worksite.ViolationLines(found)...)
				at := slices.IndexFunc(list, func(x Wrong) bool { return x.Cause == cause })
				list[at].found = found
			}
		}
	}
	for _, d := range w.Inherited {
		if !w.Waives(d.Cause) {
			add(d.Cause, "earlier attempt: "+strings.TrimPrefix(d.Line, "earlier attempt: "))
		}
	}
	if w.Gate != nil {
		if add(ledger.BrokeLease, worksite.ViolationLines(w.Gate.Findings)...); len(w.Gate.Findings) > 0 {
			at := slices.IndexFunc(list, func(x Wrong) bool { return x.Cause == ledger.BrokeLease })
			list[at].found = append(slices.Clone(list[at].found), w.Gate.Findings...)
		}
		if w.Gate.Outcome == gate.Rejected {
			add(ledger.FailedAcceptance, w.Gate.Why)
		}
	}
	if len(list) == 0 {
		add(ledger.NotJudged, unknownReason)
	}
	return list
}

// violationsByCause yields the violations of an audit, those of one kind together.
func violationsByCause(report *audit.Report) iter.Seq2[ledger.Cause, []audit.Finding] {
	byCause := map[ledger.Cause][]audit.Finding{}
	for _, f := range report.Violating() {
		byCause[causeOf(f)] = append(byCause[causeOf(f)], f)
	}
	return func(yield func(ledger.Cause, []audit.Finding) bool) {
		for _, cause := range []ledger.Cause{ledger.BrokeLease, ledger.WroteOutside, ledger.ChangedHost} {
			if found := byCause[cause]; len(found) > 0 && !yield(cause, found) {
				return
			}
		}
	}
}

// causeOf is the kind of one violation that an audit found.
func causeOf(f audit.Finding) ledger.Cause {
	switch {
	case f.Source == "host":
		return ledger.ChangedHost
	case f.Outside():
		return ledger.WroteOutside
	}
	return ledger.BrokeLease
}

// reasons and causes are a list of wrongs as the journal has them.
func reasons(list []Wrong) (lines []string) {
	for _, x := range list {
		lines = append(lines, x.Lines...)
	}
	return lines
}

func causes(list []Wrong) (kinds []ledger.Cause) {
	for _, x := range list {
		kinds = append(kinds, x.Cause)
	}
	return kinds
}

// WrongWith lists what keeps a quarantined result from landing, from the evidence. Reasons
// that only the journal knows (errors, a damaged journal) are repeated from there. A kind that the
// operator waived for this result is left out; the gate's own answer never is.
func (s *Session) WrongWith(w *ledger.Worker) []Wrong {
	if w.Quarantine == nil {
		return nil
	}
	var report *audit.Report
	var unread error
	if w.Audit != nil {
		report, unread = s.Report(w)
	}
	list := s.wrongs(w, report, unread)
	known := map[string]bool{}
	for _, line := range reasons(list) {
		known[line] = true
	}
	left := slices.DeleteFunc(slices.Clone(w.Quarantine.Reasons), func(line string) bool { return known[line] || strings.HasPrefix(line, "and ") })
	if len(left) == 0 {
		return list
	}
	if list[0].Lines[0] == unknownReason {
		list = nil
	}
	cause := ledger.NotJudged
	if slices.Contains(w.Quarantine.Causes, ledger.ChangedHost) && !slices.Contains(w.Quarantine.Causes, ledger.NotJudged) {
		cause = ledger.ChangedHost
	}
	at := slices.IndexFunc(list, func(x Wrong) bool { return x.Cause == cause })
	if at < 0 {
		return append(list, Wrong{Cause: cause, Lines: left})
	}
	list[at].Lines = append(list[at].Lines, left...)
	return list
}

const unknownReason = "the reason is unknown"
