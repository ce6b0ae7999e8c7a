package present

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/gate"
	"cordon/internal/ledger"
)

// Advice is what an operator may want to type next: the one place that decides it, from the
// state of a worker and its cause. A line is a command, and what it is for.
func Advice(w *ledger.Worker, status ledger.Status) []string {
	id := string(w.ID)
	switch status {
	case ledger.InQuarantine:
		return quarantineAdvice(w)
	case ledger.Conflicted:
		return conflictAdvice(id, Branch(w.Gate.Target))
	case ledger.WaitingFor:
		return waitingAdvice(id, *w.Gate)
	case ledger.Failed:
		return []string{"cordon logs " + id, "cordon resume " + id + "   to run it again in the same tree", "cordon merge " + id +
			"   to try to land what it left", "cordon discard " + id}
	case ledger.Asking:
		return []string{"cordon answer " + id + " \"…\"   to answer", "cordon resume " + id + "   to let it continue with the answer",
			"cordon merge " + id + "   to try to land what it left"}
	case ledger.InReview:
		return []string{"cordon diff " + id + "     what it changed", "cordon merge " + id + "    to land it", sendBack(w)}
	case ledger.Finished:
		return []string{"cordon diff " + id + "     what it changed", "cordon merge " + id + "    to land it", sendBack(w)}
	case ledger.Leasing, ledger.Ready:
		return []string{"cordon resume " + id, "cordon discard " + id}
	case ledger.Stopped, ledger.Lost:
		return []string{"cordon resume " + id, "cordon merge " + id + "   to take what it left to the gate"}
	}
	return nil
}

// sendBack is how a result goes back to its worker with the operator's comments.
func sendBack(w *ledger.Worker) string {
	words := " --say \"…\""
	if w.Agent != nil {
		words = " -- \"…\""
	}
	return "cordon resume " + string(w.ID) + words + "   to send it back with comments"
}

// quarantineAdvice is for a result that did not pass, by what is wrong with it.
func quarantineAdvice(w *ledger.Worker) []string {
	id, causes := string(w.ID), causesOf(w)
	show := "cordon quarantine show " + id + "   the evidence, and the command that would release it"
	switch {
	case slices.Equal(causes, []ledger.Cause{ledger.FailedAcceptance}):
		return []string{"cordon quarantine show " + id + "   what the failing command said",
			"cordon resume " + id + "   to let it mend this: it gets the failing output",
			"cordon retry " + id + "   to run acceptance again"}
	case !slices.ContainsFunc(causes, func(c ledger.Cause) bool {
		return c != ledger.BrokeLease && c != ledger.WroteOutside && c != ledger.FailedAcceptance
	}):
		return []string{show, "cordon resume " + id + "   to let it mend this", "cordon merge --inside " + id + "   to land only what is inside its lease"}
	}
	return []string{show, "cordon discard " + id + "   to throw it away"}
}

// causesOf are the kinds of fault of a quarantined result, as far as the journal says. Older
// versions did not record them.
func causesOf(w *ledger.Worker) []ledger.Cause {
	switch {
	case len(w.Quarantine.Causes) > 0:
		return w.Quarantine.Causes
	case w.Gate != nil && w.Gate.Outcome == gate.Rejected:
		return []ledger.Cause{ledger.FailedAcceptance}
	}
	return []ledger.Cause{ledger.NotJudged}
}

// Commands are the commands among the advice, without what is said about them.
func Commands(w *ledger.Worker, status ledger.Status) []string {
	list := []string{}
	for _, line := range Advice(w, status) {
		if command, _, _ := strings.Cut(line, "   "); strings.HasPrefix(command, "cordon ") {
			list = append(list, command)
		}
	}
	if status == ledger.WaitingFor && len(list) == 0 { // the advice is what has to happen before
		list = append(list, "cordon merge "+string(w.ID))
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
		"cordon resume " + id + "   to let it resolve the conflict in a tree with both sides",
		"cordon merge " + id + "   to try again when " + target + " has changed",
		"to resolve it by hand, away from your files:",
		fmt.Sprintf("git worktree add -b %[1]s ../%[1]s %[2]s && git -C ../%[1]s merge refs/cordon/results/%[3]s", branch, target, id),
		fastForward + branch + "   in your checkout of " + target + ", when it is resolved and committed",
	}
}

func waitingAdvice(id string, g gate.Result) []string {
	why := g.Why
	if strings.HasPrefix(why, "the commit could not be signed") {
		return []string{"nothing is lost; when your signing program works: cordon merge " + id}
	}
	if strings.HasPrefix(why, "the hook ") {
		return []string{
			"nothing is lost; when your hook allows it: cordon merge " + id + ", or with another message: cordon merge -e " + id,
			"to land results without your hooks: land.hooks: skip in your configuration",
		}
	}
	lines := []string{"the result is refs/cordon/results/" + id + "; when nothing is in the way any more: cordon merge " + id}
	if len(g.InTheWay) > 0 {
		lines = append(lines, "cordon merge --when-clean "+id+"   to land it as soon as they are gone")
	}
	if !strings.Contains(why, "untracked") { // git refuses those too
		lines = append(lines, "or in the checkout: "+fastForward+"refs/cordon/results/"+id)
	}
	return lines
}
