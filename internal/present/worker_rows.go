package present

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/cellnet"
	"cordon/internal/enclosure"
	"cordon/internal/inspect"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/workspace"
)

// askedRows are the rows of show about what a worker has asked and said.
func AskedRows(w *ledger.Worker) (rows [][]string) {
	for _, q := range w.Questions {
		rows = append(rows, []string{"asked", q.ID() + ": " + terminal.Clip(legible.Line(q.Text), 100)})
		if q.Answer != nil {
			rows = append(rows, []string{"answered", "by " + q.Answer.Who + ": " + terminal.Clip(legible.Line(q.Answer.Text), 100)})
		} else {
			rows = append(rows, []string{"", "not answered: cordon answer " + Answering(string(w.ID), q.ID(), len(w.Open()) == 1) + ` "…"`})
		}
	}
	if w.Claim != nil {
		rows = append(rows, []string{"says", "done: " + terminal.Clip(legible.Line(OrNothing(w.Claim.Text)), 100)})
	}
	return rows
}

// leased are the rows of show about what a worker was given.
func LeaseRows(w *ledger.Worker, v view.Worker) [][]string {
	return [][]string{
		{"command", v.Line},
		{"lease", "sha256:" + v.Lease + ", until " + v.Expires.Format(time.RFC3339)},
		{"policy", v.Source + ", may write " + OrNothing(strings.Join(v.WriteRoots, ", "))},
		{"base", fmt.Sprintf("%s for %s, behind by %d", v.BaseShort, Branch(v.Target), v.Behind)},
		{"tree", treeWord(w, v)},
		{"cell", confinement(w)},
	}
}

// ran are those about what it did.
func RunRows(w *ledger.Worker, v view.Worker) (rows [][]string) {
	if w.Start != nil && w.Start.Memory != cell.NotCounted {
		rows = append(rows, []string{"memory", "limit: " + w.Start.Memory.String()})
	}
	if v.Exit != nil {
		rows = append(rows, []string{"exit", fmt.Sprintf("%d, %s", v.Exit.Code, Ended(w))})
	}
	if w.Guard != nil {
		rows = append(rows, []string{"guard", w.Guard.String() + "; cordon logs --guard " + v.ID})
	}
	rows = append(rows, netRows(w)...)
	if ports := cellnet.Published(w.Lease.Lease().Policy); ports != "" {
		rows = append(rows, []string{"published", ports + " while it runs; cordon open " + v.ID + " prints the address"})
	}
	if v.Visits > 0 {
		rows = append(rows, []string{"visits", fmt.Sprintf("%d with cordon shell while it ran; what they changed counts as its work", v.Visits)})
	}
	if refused := inspect.RefusedCalls(w.Exit); len(refused) > 0 {
		rows = append(rows, []string{"refused", "at run time: " + strings.Join(refused, ", ")})
	}
	return rows
}

// judged are those about what became of that.
func JudgeRows(w *ledger.Worker, v view.Worker) (rows [][]string) {
	if w.Attempts > 0 {
		rows = append(rows, []string{"attempt", fmt.Sprintf("%d; evidence of the earlier ones: refs/cordon/quarantine/%s/attempts", w.Attempts+1, w.ID)})
	}
	if v.Audit != nil {
		n := v.Audit.Summary
		rows = append(rows, []string{"audit", fmt.Sprintf("%s: %d to land, %s, %d ignored, %d scratch, %d notes",
			v.Audit.Verdict, n.Landing, terminal.Plural(n.Violations, "violation"), n.Ignored, n.Scratch, n.Notes)})
	}
	if v.Gate != nil {
		for _, c := range v.Gate.Checks {
			how := cmp.Or(c.Ended, fmt.Sprintf("ended with %d", c.Code)) + onNode(c.Node) + naming(c.Names)
			rows = append(rows, []string{"check", fmt.Sprintf("%q %s", c.Command, how)})
		}
	}
	if v.Gate != nil && v.Gate.Retries > 0 {
		rows = append(rows, []string{"retries", "acceptance had failed " + terminal.Plural(v.Gate.Retries, "time") + " before"})
	}
	if v.Gate != nil && v.Gate.Queue != nil && (v.Gate.Queue.Tests > 1 || v.Gate.Queue.Ahead > 0) {
		q := v.Gate.Queue
		rows = append(rows, []string{"queue", fmt.Sprintf("tested %s, last behind %s", terminal.Plural(q.Tests, "time"), terminal.Plural(q.Ahead, "result"))})
	}
	switch {
	case w.Release != nil && w.Release.Retry:
		rows = append(rows, []string{"retried", "by " + w.Release.Who})
	case w.Release != nil:
		rows = append(rows, []string{"released", "by " + w.Release.Who + ": " + w.Release.Why})
	}
	return append(rows, thenRows(v.Then)...)
}

// naming says which files of the result a check names.
func naming(files []view.Text) string {
	if len(files) == 0 {
		return ""
	}
	return "; it names " + Paths(Texts[audit.Path](files), 2) + ", which the result changes"
}

// onNode says which node ran a check, by its word.
func onNode(name string) string {
	if name == "" {
		return ""
	}
	return " on " + legible.Line(name) + ", which says so"
}

// how says how a worker's command ended: by itself, or at which limit.
func Ended(w *ledger.Worker) string {
	if w.Exit.Reason == cell.Exited {
		return string(cell.Exited)
	}
	return enclosure.DescribeExit(w.Lease.Lease().Policy.Limits, *w.Exit)
}

// treeKind is the kind of a worker's tree, in the words of cordon run.
func treeKind(l lease.Lease) workspace.TreeKind {
	if l.Tree == lease.Layered {
		return workspace.LayeredTree
	}
	return workspace.PlainTree
}

// treeWord says where a worker's tree is, and what it takes.
func treeWord(w *ledger.Worker, v view.Worker) string {
	if w.Discard != nil || w.Removal != nil {
		return "gone"
	}
	if v.Tree == string(workspace.LayeredTree) {
		return fmt.Sprintf("copied on write, %s of its own (cordon checkout %s writes it out)", terminal.Size(v.Disk), v.ID)
	}
	return fmt.Sprintf("%s (%s)", v.Worktree, terminal.Size(v.Disk))
}

func OrNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func confinement(w *ledger.Worker) string {
	if w.Start == nil {
		return "not started"
	}
	if unstarted(w) {
		return "the command could not be started"
	}
	return w.Start.Cell.String()
}

// unstarted reports whether a worker's command never ran, so that its cell says
// nothing.
func unstarted(w *ledger.Worker) bool { return w.Exit != nil && w.Exit.Reason == cell.NotStarted }
