package present

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/enclosure"
	"cordon/internal/gate"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/terminal"
)

// firstReason is the first of the reasons for a quarantine, and how many others there are.
func FirstReason(reasons []string) string {
	switch len(reasons) {
	case 0:
		return ""
	case 1:
		return reasons[0]
	}
	return fmt.Sprintf("%s (and %d more)", reasons[0], len(reasons)-1)
}

// lies says where the content of something captured is.
func Lies(c gate.Captured, w *ledger.Worker) string {
	switch {
	case c.Target != "":
		return " -> " + c.Target.String()
	case c.File != "":
		return fmt.Sprintf(": git show refs/cordon/quarantine/%s/evidence:%s", w.ID, c.File)
	case c.Kept != "" && c.Why != "":
		return fmt.Sprintf(": only in %s (%s)", c.Kept, c.Why)
	case c.Kept != "":
		return ": " + c.Kept.String()
	}
	return ""
}

func Branch(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }

// because is the reason for a status in half a line.
func Because(w *ledger.Worker, status ledger.Status) string {
	switch status {
	case ledger.MergedIn:
		return fmt.Sprintf(" into %s as %s%s", Branch(w.Lease.Lease().Target), w.Gate.Commit.Short(), tested(w))
	case ledger.InQuarantine:
		if first := FirstReason(w.Quarantine.Reasons); first != "" {
			return ": " + first
		}
	case ledger.Leasing, ledger.Ready:
		if w.Refusal != nil {
			return ": it was not started: " + legible.Line(w.Refusal.Why)
		}
	case ledger.Conflicted:
		return fmt.Sprintf(" with %s in %s", Branch(w.Gate.Target), Paths(w.Gate.Paths, 3)) + w.Gate.Because()
	case ledger.WaitingFor:
		return ": " + w.Gate.Why
	case ledger.InReview:
		return reviewed(w)
	case ledger.Failed:
		if w.Exit.Error != "" {
			return ": the command could not be started: " + w.Exit.Error
		}
		return ": the command " + enclosure.DescribeExit(w.Lease.Lease().Policy.Limits, *w.Exit)
	case ledger.Asking:
		if open := w.Open(); len(open) > 0 {
			return ": " + terminal.Clip(legible.Line(open[0].Text), 90)
		}
		return ": it has its answer, and was not started again since"
	case ledger.ThrownAway:
		if w.Discard.Why == "" {
			return " by " + w.Discard.Who
		}
		return ": " + w.Discard.Why
	}
	return ""
}

// reviewed says what a person is to review, and why.
func reviewed(w *ledger.Worker) string {
	l := w.Lease.Lease()
	line := fmt.Sprintf(": %s for %s", terminal.Plural(w.Audit.Summary.Landing, "change"), Branch(l.Target))
	why := w.ForPerson()
	switch {
	case len(l.Policy.Acceptance) == 0:
		return line + ", which no acceptance command tests"
	case why == "":
		return line + ", as the review of its stage says"
	}
	return line + ", " + why
}

func tested(w *ledger.Worker) string {
	if slices.ContainsFunc(w.Gate.Checks, func(c gate.Check) bool { return c.Code != 0 }) {
		return ", although acceptance failed: that was waived"
	}
	if n := len(w.Gate.Checks); n > 0 {
		return fmt.Sprintf(", %s passed%s%s%s", terminal.Plural(n, "acceptance command"), onNode(w.Gate.Checks[0].Node), onRetry(w.Gate.Retries), withCaches(w.Gate))
	}
	if len(w.Lease.Lease().Policy.Acceptance) > 0 { // a landing is prepared only after they passed or were waived
		return "; cordon was interrupted before it recorded what acceptance said"
	}
	return ", nothing tested: the policy has no acceptance commands"
}

// withCaches marks a result whose acceptance did not begin fresh.
func withCaches(r *gate.Result) string {
	if r.Cached {
		return ", with caches of the last landed result"
	}
	return ""
}

// onRetry marks a result whose acceptance did not pass at once.
func onRetry(failed int) string {
	if failed == 0 {
		return ""
	}
	return " only on a retry (failed before: " + terminal.Plural(failed, "time") + ")"
}

func Paths(paths []audit.Path, n int) string {
	var words []string
	for i, p := range paths {
		if i == n {
			words = append(words, fmt.Sprintf("%d more", len(paths)-n))
			break
		}
		words = append(words, p.String())
	}
	return strings.Join(words, ", ")
}
