package present

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/keep"
	"cordon/internal/ledger"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// choices are what can be decided about a worker in its state. Commands decide: this only names them.
func (r *caseOf) choices() (list []view.Choice) {
	if r.Removal != nil {
		return nil
	}
	if len(r.Open()) > 0 && GroupOf(r.Worker, r.now) == view.NeedsYou {
		list = append(list, r.answer())
	}
	if r.now.Held {
		return append(list, r.stop())
	}
	switch r.now.Status {
	case ledger.InQuarantine:
		list = append(list, r.quarantined()...)
	case ledger.Conflicted:
		list = append(list, r.again(view.ChooseResume, "The agent gets a tree with both sides and resolves the conflict; its result is judged again."), r.merge())
	case ledger.WaitingFor:
		list = append(list, r.merge())
		if len(r.Gate.InTheWay) > 0 {
			list = append(list, r.wait())
		}
	case ledger.Failed, ledger.Stopped, ledger.Lost:
		list = append(list, r.again(view.ChooseResume, "The command runs again in the same tree."), r.merge())
	case ledger.Asking:
		list = append(list, r.merge())
		if len(r.Open()) == 0 {
			list = append(list, r.again(view.ChooseResume, "The agent goes on in the same tree, with the answer."))
		}
	case ledger.Leasing, ledger.Ready:
		list = append(list, r.again(view.ChooseResume, "The worktree is made if it is missing, and the command runs."))
	case ledger.InReview, ledger.Finished:
		list = append(list, r.merge(), r.back())
	default: // landed, nothing to land, or over
		return list
	}
	return append(list, r.discard())
}

// quarantined are the choices for a result that did not pass, by what is wrong with it.
func (r *caseOf) quarantined() (list []view.Choice) {
	if session.LandsInside(r.wrong) && r.Audit != nil && r.Audit.Summary.Landing > 0 && r.Audit.Summary.Violations > 0 {
		list = append(list, r.choice(view.ChooseInside, "cordon merge --inside "+string(r.ID),
			fmt.Sprintf("Only the %s inside its lease go on; the others stay in the evidence. %s", terminal.Plural(r.Audit.Summary.Landing, "change"), r.gate())))
	}
	list = append(list, r.release())
	if slices.Equal(causesOf(r.Worker), []ledger.Cause{ledger.FailedAcceptance}) {
		list = append(list, r.choice(view.ChooseRetry, "cordon retry "+string(r.ID),
			"The stored result is merged with "+r.target()+" as it is then, and acceptance runs again. It lands if that passes."))
	}
	return append(list, r.back())
}

func (r *caseOf) release() view.Choice {
	command := session.ReleaseCommand(r.Worker, r.wrong)
	needs := []string{"reason"}
	if strings.Contains(command, "--write ROOT") {
		needs = append(needs, "roots")
	}
	text := "The faults that the command names are waived, with your reason in the journal, and the stored result is judged again. "
	if slices.ContainsFunc(r.wrong, func(x session.Wrong) bool { return x.Cause == ledger.FailedAcceptance }) {
		text += "It lands on " + r.target() + " even if acceptance fails."
	} else {
		text += r.gate()
	}
	c := r.choice(view.ChooseRelease, command, text, needs...)
	for _, x := range r.wrong {
		if x.Cause != ledger.BrokeLease {
			c.Accepts = append(c.Accepts, session.Option(x.Cause))
			continue
		}
		for _, f := range x.Found() {
			if path := view.Text(f.Path); f.Kind.Landable() && !slices.Contains(c.Roots, path) {
				c.Roots = append(c.Roots, path)
			}
		}
	}
	return c
}

func (r *caseOf) choice(name, command, does string, needs ...string) view.Choice {
	return view.Choice{Name: name, Command: command, Does: does, Needs: needs}
}

func (r *caseOf) target() string { return Branch(r.Lease.Lease().Target) }

// gate is what happens to a result on its way to the target.
func (r *caseOf) gate() string {
	if n := len(r.laws.policy.Acceptance); n > 0 {
		return fmt.Sprintf("It is merged with %s, %s in a cell, and the tree that was tested lands; otherwise it is quarantined.", r.target(),
			map[bool]string{true: "1 acceptance command runs", false: fmt.Sprintf("%d acceptance commands run", n)}[n == 1])
	}
	return fmt.Sprintf("It is merged with %s and lands. The policy has no acceptance command that tests it.", r.target())
}

func (r *caseOf) answer() view.Choice {
	open := r.Open()
	does := "The answer goes to the worker, which waits for it or reads it when it looks."
	if !r.now.Held {
		does = "The answer is kept for the worker; cordon resume lets it go on with it."
	}
	return r.choice(view.ChooseAnswer, "cordon answer "+Answering(string(r.ID), open[0].ID(), len(open) == 1)+` "…"`, does, "answer")
}

func (r *caseOf) stop() view.Choice {
	return r.choice(view.ChooseStop, "cordon stop "+string(r.ID), "Its processes are ended. Its tree stays, and cordon resume goes on in it.")
}

func (r *caseOf) merge() view.Choice {
	return r.choice(view.ChooseMerge, "cordon merge "+string(r.ID), r.gate())
}

func (r *caseOf) wait() view.Choice {
	return r.choice(view.ChooseWait, "cordon merge --when-clean "+string(r.ID), "cordon waits until nothing is in the way in your checkout, and lands it then.")
}

func (r *caseOf) again(name, does string) view.Choice {
	return r.choice(name, "cordon resume "+string(r.ID), does)
}

func (r *caseOf) back() view.Choice {
	command, _, _ := strings.Cut(sendBack(r.Worker), "   ")
	does := "Another attempt begins with what is there, your comments and what was wrong. Its result is judged like the first."
	return r.choice(view.ChooseBack, command, does, "comments")
}

func (r *caseOf) discard() view.Choice {
	return r.choice(view.ChooseDiscard, "cordon discard "+string(r.ID),
		fmt.Sprintf("The result goes to the trash for %d days; then cordon gc removes it.", int(keep.TrashTime.Hours()/24)))
}
