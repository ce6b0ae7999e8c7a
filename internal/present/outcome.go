package present

import (
	"fmt"
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
	case ledger.Conflicted:
		return fmt.Sprintf(" with %s in %s", Branch(w.Gate.Target), Paths(w.Gate.Paths, 3))
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
	if len(l.Policy.Acceptance) == 0 {
		return line + ", which no acceptance command tests"
	}
	return line + ", as gate.land says"
}

func tested(w *ledger.Worker) string {
	if n := len(w.Gate.Checks); n > 0 {
		return fmt.Sprintf(", %s passed%s", terminal.Plural(n, "acceptance command"), onRetry(w.Gate.Retries))
	}
	return ", nothing tested: the policy has no acceptance commands"
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

// advice is what an operator may want to type next.
func Advice(w *ledger.Worker, status ledger.Status) []string {
	id := string(w.ID)
	switch status {
	case ledger.InQuarantine:
		return []string{
			"cordon quarantine show " + id + "     the evidence",
			"cordon quarantine diff " + id + "     what it did",
			"cordon shell " + id + "     to look around in it, confined",
			"cordon quarantine release " + id + " --write ROOT --reason WHY     (or --policy FILE)",
			"cordon discard " + id,
		}
	case ledger.Conflicted:
		return conflictAdvice(id, Branch(w.Gate.Target))
	case ledger.WaitingFor:
		return waitingAdvice(id, w.Gate.Why)
	case ledger.Failed:
		return []string{"cordon logs " + id, "cordon resume " + id + "   to run it again in the same tree", "cordon merge " + id +
			"   to take what it left to the gate all the same", "cordon discard " + id}
	case ledger.Asking:
		return []string{"cordon answer " + id + " \"…\"   to answer", "cordon resume " + id + "   to let it go on with the answer",
			"cordon merge " + id + "   to take what it left to the gate all the same"}
	case ledger.InReview:
		return []string{"cordon diff " + id + "     what it changed", "cordon merge " + id + "    to land it"}
	case ledger.Finished:
		return []string{"cordon diff " + id, "cordon merge " + id}
	case ledger.Leasing, ledger.Ready:
		return []string{"cordon resume " + id, "cordon discard " + id}
	case ledger.Stopped, ledger.Lost:
		return []string{"cordon resume " + id, "cordon merge " + id + "   to take what it left to the gate"}
	}
	return nil
}

// Commands are the commands among the advice, without what is said about them.
func Commands(w *ledger.Worker, status ledger.Status) []string {
	list := []string{}
	for _, line := range Advice(w, status) {
		if command, _, _ := strings.Cut(line, "   "); strings.HasPrefix(command, "cordon ") {
			list = append(list, command)
		}
	}
	return list
}

// fastForward takes a commit over with the operator's own git. Without the second
// option, git overwrites files that a rule ignores.
const fastForward = "git merge --ff-only --no-overwrite-ignore "

// conflictAdvice resolves a conflict in a directory of its own: a merge that is not a
// fast-forward overwrites ignored files, whatever it is told.
func conflictAdvice(id, target string) []string {
	branch := "resolve-" + id
	return []string{
		"cordon merge " + id + "   to try again when " + target + " has changed",
		"to resolve it by hand, away from your files:",
		fmt.Sprintf("git worktree add -b %[1]s ../%[1]s %[2]s && git -C ../%[1]s merge refs/cordon/results/%[3]s", branch, target, id),
		fastForward + branch + "   in your checkout of " + target + ", when it is resolved and committed",
	}
}

func waitingAdvice(id, why string) []string {
	if strings.HasPrefix(why, "the commit could not be signed") {
		return []string{"nothing is lost; when your signing program works: cordon merge " + id}
	}
	lines := []string{"the result is refs/cordon/results/" + id + "; when nothing is in the way any more: cordon merge " + id}
	if !strings.Contains(why, "untracked") { // git refuses those too
		lines = append(lines, "or in the checkout: "+fastForward+"refs/cordon/results/"+id)
	}
	return lines
}
