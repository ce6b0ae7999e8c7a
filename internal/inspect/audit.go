// Package inspect gathers what package audit compares: a worker's tree, its commits, its
// private layers, and the operator's repository before and after a launch. It records the
// verdict, and changes nothing else.
//
// It refuses to decide what becomes of a result: that is up to package session.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"cordon/internal/audit"
	"cordon/internal/checkfile"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/lfs"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// Audit looks at what a worker left and records the verdict.
func Audit(ctx context.Context, s *worksite.Site, w *ledger.Worker) error {
	s.Voice.Step(w.ID, "audit", readingWord(w))
	report, inherited, err := runAudit(ctx, s, w, string(w.ID))
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // an interrupted audit is none
	}
	hash, err := s.Store(w.ID, "audit.json", report)
	if err != nil {
		return err
	}
	checks, named := checksChanged(w.Lease.Lease().Policy, report)
	s.Voice.Step(w.ID, "audit", describeReport(report)+named)
	for _, f := range report.Findings {
		if f.Steers() {
			s.Voice.Step(w.ID, "host", worksite.Line(f))
		}
	}
	data := ledger.Audit{Verdict: report.Verdict, Summary: report.Summary, Digest: report.Digest, Report: hash, Whole: true, Checks: checks}
	data.Idle = carried(report) == inherited && report.Summary.Landing+report.Summary.Violations == inherited
	if report.History != nil {
		data.Others = report.History.Others
	}
	return s.Append(w.ID, ledger.Audited, data)
}

// checksChanged are what a landing would change of the things that check results, also in words with a file of each kind.
func checksChanged(p policy.Policy, r *audit.Report) (kinds []checkfile.Kind, named string) {
	first, commands := map[checkfile.Kind]string{}, slices.Concat(p.Acceptance, p.Setup)
	for _, f := range r.Landing(false) {
		if kind := checkfile.Of(string(f.Path), commands); kind != "" && first[kind] == "" {
			first[kind] = f.Path.String()
		}
	}
	kinds = slices.Sorted(maps.Keys(first))
	for i, kind := range kinds {
		named += []string{"; it changes ", ", "}[min(i, 1)] + string(kind) + " (" + first[kind] + ")"
	}
	return kinds, named
}

// readingWord says what an audit reads.
func readingWord(w *ledger.Worker) string {
	if worksite.Layered(w) {
		return "comparing what was written with the base"
	}
	return "comparing every file with the base"
}

// carried is how many of the changes an earlier attempt made.
func carried(r *audit.Report) (n int) {
	for _, f := range r.Findings {
		if f.Carried {
			n++
		}
	}
	return n
}

func describeReport(r *audit.Report) string {
	n := r.Summary
	text := fmt.Sprintf("%s: %d to land, %s", r.Verdict, n.Landing, worksite.Count(n.Violations, "violation"))
	if n.Ignored+n.Scratch > 0 {
		text += fmt.Sprintf(", %d ignored or scratch", n.Ignored+n.Scratch)
	}
	if n := carried(r); n > 0 {
		text += fmt.Sprintf("; %d carried over", n)
	}
	return text
}

// Look audits a worker now, without recording anything in the journal. It works
// in places of its own, so that it does not disturb a run that is under way.
func Look(ctx context.Context, s *worksite.Site, w *ledger.Worker) (*audit.Report, error) {
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	name := viewName(w)
	report, _, err := runAudit(ctx, s, w, name)
	return report, errors.Join(err, s.State.Erase(s.State.History(name)))
}

// viewName names what somebody who only looks makes for the purpose.
func viewName(w *ledger.Worker) string { return fmt.Sprintf("%s.view-%d", w.ID, os.Getpid()) }

// auditTree is a worker's tree as the audit reads it.
func auditTree(ctx context.Context, s *worksite.Site, w *ledger.Worker, name string, base *git.Listing) (audit.Tree, error) {
	t := audit.Tree{
		Top: s.TreeOf(w), Layer: worksite.Layered(w), Live: s.RunningElsewhere(w), Format: s.Host.Format, Base: base, Rules: w.Lease.Rules(), Room: roomOf(w),
		Ignored: func(ctx context.Context, paths []string) (map[string]bool, error) {
			return askIgnored(ctx, s, name, base, paths)
		},
	}
	t.Large = func(ctx context.Context, paths []string) (map[string]bool, error) {
		return askLarge(ctx, s, name, base, paths)
	}
	if w.Origin != "" {
		var err error
		if t.Carried, err = s.Gate.Repo().Diff(ctx, w.Origin, w.Lease.Lease().Base); err != nil {
			return t, err
		}
	}
	if w.Tree == nil {
		return t, nil
	}
	t.Seeded = w.Tree.Included
	if w.Tree.Filled == "" {
		return t, nil
	}
	var filled []git.File
	err := s.Load(w.ID, "filled.json", w.Tree.Filled, &filled)
	t.Seeded = append(slices.Clip(t.Seeded), filled...)
	return t, err
}

// askLarge asks git which paths the base commit's attributes give to Git LFS.
func askLarge(ctx context.Context, s *worksite.Site, name string, base *git.Listing, paths []string) (map[string]bool, error) {
	dir := s.State.Ignore(name + ".attributes")
	if err := s.State.Erase(dir); err != nil {
		return nil, err
	}
	filters, err := lfs.Filters(ctx, s.Host.Repo, base, paths, dir)
	large := map[string]bool{}
	for p, filter := range filters {
		if filter == lfs.Filter {
			large[p] = true
		}
	}
	return large, err
}

// changesSoFar is what a worker has changed in its tree so far: the part of an audit that
// needs no quiet in the host, and that a worker does not notice.
func changesSoFar(ctx context.Context, s *worksite.Site, w *ledger.Worker) (*audit.Report, error) {
	base, err := s.Host.Listing(ctx, w.Lease.Lease().Base)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	tree, err := auditTree(ctx, s, w, viewName(w), base)
	if err != nil {
		return nil, err
	}
	list, err := audit.Collect(ctx, tree)
	if err != nil {
		return nil, err
	}
	return &audit.Report{Base: w.Began(), Findings: tree.Classify(list)}, nil
}

// runAudit audits a worker, with scratch directories of the given name. Inherited is how many changes its tree began with.
func runAudit(ctx context.Context, s *worksite.Site, w *ledger.Worker, name string) (report *audit.Report, inherited int, err error) {
	l := w.Lease.Lease()
	base, err := s.Host.Listing(ctx, l.Base)
	if err != nil {
		return nil, 0, err
	}
	defer base.Close()
	tree, err := auditTree(ctx, s, w, name, base)
	if err != nil {
		return nil, 0, err
	}
	j := audit.Job{Worker: string(w.ID), Lease: w.Lease.Hash(), Base: w.Began(), Start: l.Base, Tree: tree}
	j.History = func(ctx context.Context) (*audit.History, error) { return history(ctx, s, w, name) }
	j.Host = func(ctx context.Context) ([]audit.Finding, string, error) { return compareWithGateHeld(ctx, s, w) }
	j.Outside = func(ctx context.Context) ([]audit.Finding, error) { return WrittenOutside(ctx, s, w) }
	return audit.Run(ctx, j), len(tree.Carried), nil
}

// maxIgnoreRules is how long a file of ignore rules may be.
const maxIgnoreRules = 16 << 20

// askIgnored asks git about paths in a directory that holds the base commit's ignore
// rules about them and nothing else.
func askIgnored(ctx context.Context, s *worksite.Site, name string, base *git.Listing, paths []string) (map[string]bool, error) {
	dir := s.State.Ignore(name)
	if err := s.State.Erase(dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, f := range base.Above(".gitignore", paths) {
		if f.Mode == git.Symlink || f.Mode == git.Gitlink {
			continue
		}
		text, err := base.Blob(f.OID, maxIgnoreRules)
		if err != nil {
			return nil, err
		}
		if err := root.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			return nil, err
		}
		if err := root.WriteFile(f.Path, text, 0o600); err != nil {
			return nil, err
		}
	}
	if err := base.Err(); err != nil {
		return nil, err
	}
	ignored, err := s.Gate.Repo().CheckIgnore(ctx, dir, paths)
	return ignored, errors.Join(err, s.State.Erase(dir))
}

// history reads the worker's commits into a fresh repository of cordon's own.
func history(ctx context.Context, s *worksite.Site, w *ledger.Worker, name string) (*audit.History, error) {
	l := w.Lease.Lease()
	if s.SharesGit(w) {
		c, err := s.Linked(ctx, l.Worktree)
		if err != nil {
			return nil, err
		}
		ref := c.Branch
		if ref == "" {
			ref = "HEAD"
		}
		return audit.HistoryOf(ctx, s.Host.Repo, c.Head, l.Base, ref)
	}
	dir := s.State.History(name)
	if err := s.State.Erase(dir); err != nil {
		return nil, err
	}
	shallow, err := s.Host.ShallowFile()
	if err != nil {
		return nil, err
	}
	repo, err := git.Init(ctx, s.Bin, dir, git.InitOptions{Bare: true, Format: s.Host.Format, Alternate: s.State.Objects(), Shallow: shallow})
	if err != nil {
		return nil, err
	}
	h, err := audit.ReadHistory(ctx, s.GitDir(w), repo, l.Base, roomOf(w))
	if err != nil { // what was copied until then is no evidence, and the worker's repository is kept
		return nil, errors.Join(err, s.State.Erase(dir))
	}
	return h, nil
}

// roomOf is how many bytes cordon copies of what a worker left.
func roomOf(w *ledger.Worker) int64 { return audit.Room(int64(w.Lease.Lease().Policy.Limits.Disk)) }
