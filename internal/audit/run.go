package audit

import (
	"context"
	"fmt"

	"cordon/internal/git"
	"cordon/internal/legible"
)

// Job is one audit.
type Job struct {
	Worker string
	Lease  string // hash
	Base   git.OID
	Start  git.OID // the base of the tree: Base, or what it carries over on top of that
	Tree   Tree
	// History reads the worker's commits.
	History func(context.Context) (*History, error)
	// Host compares the host with its baseline and says what that is worth.
	Host func(context.Context) (found []Finding, word string, err error)
	// Outside reports what the worker wrote outside its tree; nil: nobody could
	// have kept it.
	Outside func(context.Context) ([]Finding, error)
}

// Run audits. It has no error to return: what it could not do is in the report,
// as a violation.
func Run(ctx context.Context, j Job) *Report {
	r := &Report{Worker: j.Worker, Lease: j.Lease, Base: j.Base, Findings: []Finding{}}
	changed, err := Collect(ctx, j.Tree)
	if err != nil {
		r.fail("tree", err)
	}
	r.add(j.Tree.Classify(changed)...)
	r.bounded(changed, j.Tree.Room)
	found, word, err := j.Host(ctx)
	if err != nil {
		// Git is not asked about a host that cannot be looked at: an adopted
		// worktree's commits are there, and so may be a pipe that git waits for.
		r.fail("host", err)
	} else if err := r.history(ctx, j, changed); err != nil {
		r.fail("git", err)
	}
	r.add(found...)
	r.Host = word
	if j.Outside != nil {
		found, err := j.Outside(ctx)
		if err != nil {
			r.fail("layers", err)
		}
		r.add(found...)
	}
	r.Seal()
	return r
}

// history adds what the worker's commits say.
func (r *Report) history(ctx context.Context, j Job, changed []Change) error {
	h, err := j.History(ctx)
	if err != nil {
		return err
	}
	r.History = h
	if err := h.compare(ctx, j.Start, changed); err != nil {
		return err
	}
	found, err := h.findings(ctx, j.Tree.Base, j.Tree.Rules)
	r.add(append(r.once(found), h.notes()...)...)
	return err
}

// once leaves one violation for each path: the file that shows it, or the first of the
// commits that do.
func (r *Report) once(found []Finding) []Finding {
	shown := map[Path]bool{}
	for _, f := range r.Findings {
		shown[f.Path] = shown[f.Path] || f.Class == Violation
	}
	var list []Finding
	first, more := map[Path]int{}, map[int]int{}
	for _, f := range found {
		at, again := first[f.Path]
		switch {
		case f.Kind != Commit:
			list = append(list, f)
		case shown[f.Path]:
		case again:
			more[at]++
		default:
			first[f.Path] = len(list)
			list = append(list, f)
		}
	}
	for at, n := range more {
		list[at].Source += fmt.Sprintf(" and %d more", n)
	}
	return list
}

// bounded refuses files that hold more than the worker could write: in a checkout, what
// was a hole in a file takes room, and what was compressed too.
func (r *Report) bounded(changed []Change, room int64) {
	var total int64
	for _, c := range changed {
		if c.couldLand() {
			total += c.Size
		}
	}
	if total > room {
		detail := fmt.Sprintf("the changed files hold %d bytes, but limits.disk allows %d", total, room)
		r.add(Finding{Change: Change{Kind: TooLarge, Source: "tree", Detail: detail}, Class: Violation, Rule: "a result may not be larger than limits.disk"})
	}
}

// fail records that a part of the audit could not be done.
func (r *Report) fail(part string, err error) {
	r.add(Finding{
		Change: Change{Kind: Unreadable, Source: part, Detail: legible.Line(err.Error())},
		Class:  Violation, Rule: never[Unreadable],
	})
}

// notes say what the worker committed that no tree and no ref of the result
// will hold: it is evidence, and kept, and does not land.
func (h *History) notes() []Finding {
	var list []Finding
	note := func(detail string) {
		list = append(list, Finding{
			Change: Change{Kind: Commit, Source: "git", Detail: detail},
			Class:  Note, Rule: "only the final state of the tree lands",
		})
	}
	if h.Others > 0 {
		note(fmt.Sprintf("%d commits only on the worker's other branches", h.Others))
	}
	if h.Gone > 0 {
		note(fmt.Sprintf("%d files of its last commit are no longer in its tree", h.Gone))
	}
	if len(h.Orphans) > 0 {
		note(fmt.Sprintf("%d commits that no branch reaches", len(h.Orphans)))
	}
	return list
}
