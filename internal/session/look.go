package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/enclosure"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/state"
)

// recordHost stores the host's state as the tripwire's baseline and returns its
// hash, which goes into the journal.
func (s *Session) recordHost(ctx context.Context, l lease.Lease) (string, error) {
	now, err := audit.CaptureHost(ctx, s.Host, depth(l))
	if err != nil {
		return "", fmt.Errorf("record the host's state: %w", err)
	}
	return s.store(l.ID, "host.json", now)
}

// depth is how much of the host is looked at for a worker's sake. In a whole cell it
// cannot write there at all.
func depth(l lease.Lease) audit.Depth {
	if l.Policy.Isolation == policy.Strict && !l.Adopted {
		return audit.Shallow
	}
	return audit.Deep
}

// auditNow looks at what a worker left and records the verdict.
func (s *Session) auditNow(ctx context.Context, w *ledger.Worker) error {
	s.Voice.Step(w.ID, "audit", readingWord(w))
	report, err := s.look(ctx, w, string(w.ID))
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // an interrupted audit is none
	}
	hash, err := s.store(w.ID, "audit.json", report)
	if err != nil {
		return err
	}
	s.Voice.Step(w.ID, "audit", describeReport(report))
	data := ledger.Audit{Verdict: report.Verdict, Summary: report.Summary, Digest: report.Digest, Report: hash}
	if report.History != nil {
		data.Others = report.History.Others
	}
	return s.append(w.ID, ledger.Audited, data)
}

// readingWord says what an audit reads.
func readingWord(w *ledger.Worker) string {
	if layered(w) {
		return "comparing what was written with the base"
	}
	return "comparing every file with the base"
}

func describeReport(r *audit.Report) string {
	n := r.Summary
	text := fmt.Sprintf("%s: %d to land, %s", r.Verdict, n.Landing, count(n.Violations, "violation"))
	if n.Ignored+n.Scratch > 0 {
		text += fmt.Sprintf(", %d ignored or scratch", n.Ignored+n.Scratch)
	}
	return text
}

// Report returns the recorded audit of a worker.
func (s *Session) Report(w *ledger.Worker) (*audit.Report, error) {
	if w.Audit == nil {
		return nil, fmt.Errorf("%s has not been audited yet", w.ID)
	}
	var r audit.Report
	return &r, s.load(w.ID, "audit.json", w.Audit.Report, &r)
}

// Look audits a worker now, without recording anything in the journal. It works
// in places of its own, so that it does not disturb a run that is under way.
func (s *Session) Look(ctx context.Context, w *ledger.Worker) (*audit.Report, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	name := viewName(w)
	report, err := s.look(ctx, w, name)
	return report, errors.Join(err, s.State.Erase(s.State.History(name)))
}

// viewName names what somebody who only looks makes for the purpose.
func viewName(w *ledger.Worker) string { return fmt.Sprintf("%s.view-%d", w.ID, os.Getpid()) }

// auditTree is a worker's tree as the audit reads it.
func (s *Session) auditTree(w *ledger.Worker, name string, base *git.Listing) audit.Tree {
	t := audit.Tree{
		Top: s.TreeOf(w), Layer: layered(w), Live: s.at(w), Format: s.Host.Format, Base: base, Rules: w.Lease.Rules(), Room: roomOf(w),
		Ignored: func(ctx context.Context, paths []string) (map[string]bool, error) {
			return s.ignored(ctx, name, base, paths)
		},
	}
	if w.Tree != nil {
		t.Seeded = w.Tree.Included
	}
	return t
}

// at reports whether a worker may be running now, started by another process than
// this one.
func (s *Session) at(w *ledger.Worker) bool {
	return w.Exit == nil && s.State.Held(state.WorkerLock(string(w.ID)))
}

// changed is what a worker has changed in its tree so far: the part of an audit that
// needs no quiet in the host, and that a worker does not notice.
func (s *Session) changed(ctx context.Context, w *ledger.Worker) (*audit.Report, error) {
	base, err := s.Host.Listing(ctx, w.Lease.Lease().Base)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	list, err := audit.Collect(ctx, s.auditTree(w, viewName(w), base))
	if err != nil {
		return nil, err
	}
	return &audit.Report{Findings: audit.Classify(list, w.Lease.Rules())}, nil
}

// look audits a worker, with scratch directories of the given name.
func (s *Session) look(ctx context.Context, w *ledger.Worker, name string) (*audit.Report, error) {
	l := w.Lease.Lease()
	base, err := s.Host.Listing(ctx, l.Base)
	if err != nil {
		return nil, err
	}
	defer base.Close()
	j := audit.Job{Worker: string(w.ID), Lease: w.Lease.Hash(), Base: l.Base, Tree: s.auditTree(w, name, base)}
	j.History = func(ctx context.Context) (*audit.History, error) { return s.history(ctx, w, name) }
	j.Host = func(ctx context.Context) ([]audit.Finding, string, error) { return s.compareSettled(ctx, w) }
	j.Outside = func(ctx context.Context) ([]audit.Finding, error) { return s.wroteOutside(ctx, w) }
	return audit.Run(ctx, j), nil
}

// maxIgnoreRules is how long a file of ignore rules may be.
const maxIgnoreRules = 16 << 20

// ignored asks git about paths in a directory that holds the base commit's ignore
// rules about them and nothing else.
func (s *Session) ignored(ctx context.Context, name string, base *git.Listing, paths []string) (map[string]bool, error) {
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
	ignored, err := s.gate.Repo().CheckIgnore(ctx, dir, paths)
	return ignored, errors.Join(err, s.State.Erase(dir))
}

// history reads the worker's commits into a fresh repository of cordon's own.
func (s *Session) history(ctx context.Context, w *ledger.Worker, name string) (*audit.History, error) {
	l := w.Lease.Lease()
	if s.sharesGit(w) {
		c, err := s.linked(ctx, l.Worktree)
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
	h, err := audit.ReadHistory(ctx, s.gitDir(w), repo, l.Base, roomOf(w))
	if err != nil { // what was copied until then is no evidence, and the worker's repository is kept
		return nil, errors.Join(err, s.State.Erase(dir))
	}
	return h, nil
}

// roomOf is how many bytes cordon copies of what a worker left.
func roomOf(w *ledger.Worker) int64 { return audit.Room(int64(w.Lease.Lease().Policy.Limits.Disk)) }

// sharesGit reports whether a worker commits into the host's own repository: in a
// linked worktree that was adopted without a cell.
func (s *Session) sharesGit(w *ledger.Worker) bool {
	return w.Lease.Lease().Adopted && !exists(s.State.Shadow(string(w.ID)))
}

// historyRepo is where history left the worker's commits.
func (s *Session) historyRepo(w *ledger.Worker) git.Repo {
	if s.sharesGit(w) {
		return s.Host.Repo
	}
	return git.OpenBare(s.Bin, s.State.History(string(w.ID)), s.Host.Format)
}

// compareSettled is tripwire while nothing lands. The rest of an audit needs no
// such quiet: how long it takes is up to the worker, and others have to go on.
func (s *Session) compareSettled(ctx context.Context, w *ledger.Worker) ([]audit.Finding, string, error) {
	release, err := s.State.Await(ctx, state.GateLock)
	if err != nil {
		return nil, "", err
	}
	defer release()
	return s.tripwire(ctx, w)
}

// tripwire compares the host with the baseline of the worker's last launch. That
// is done once, by the first audit after the run: what an operator does to their
// repository before they merge is not the worker's doing.
func (s *Session) tripwire(ctx context.Context, w *ledger.Worker) ([]audit.Finding, string, error) {
	if w.Start == nil {
		return nil, "the worker has not run", nil
	}
	if w.Audit != nil {
		return s.comparedAlready(w)
	}
	var before audit.HostState
	if err := s.load(w.ID, "host.json", w.Start.Baseline, &before); err != nil {
		return nil, "", err
	}
	after, err := audit.CaptureHost(ctx, s.Host, before.Depth())
	if err != nil {
		return nil, "", err
	}
	x, err := s.expected(ctx, w)
	if err != nil {
		return nil, "", err
	}
	found := audit.CompareHost(ctx, s.Host.Repo, &before, after, x)
	return found, hostWord(w, found, x), nil
}

// comparedAlready is what the recorded audit found in the host.
func (s *Session) comparedAlready(w *ledger.Worker) ([]audit.Finding, string, error) {
	r, err := s.Report(w)
	if err != nil {
		return nil, "", err
	}
	var found []audit.Finding
	for _, f := range r.Findings {
		if f.Source == "host" {
			found = append(found, f)
		}
	}
	const when = "; compared after the run, not again"
	return found, strings.TrimSuffix(r.Host, when) + when, nil
}

func hostWord(w *ledger.Worker, found []audit.Finding, x audit.Expected) string {
	word := "refs, HEAD, config, hooks, index, status and linked worktrees are as before the run, or as cordon left them"
	if len(found) > 0 {
		word = fmt.Sprintf("%d changes that cordon did not make", len(found))
	}
	word += "; " + outsideWord(w)
	if x.OperatorWorks {
		word += "; --operator-active: changes that cannot be attributed are notes"
	}
	return word
}

func (s *Session) expected(ctx context.Context, w *ledger.Worker) (audit.Expected, error) {
	now, err := s.History()
	if err != nil {
		return audit.Expected{}, err
	}
	x := audit.Expected{
		Self: string(w.ID), Committer: enclosure.CommitterEmail(w.ID),
		OperatorWorks: w.Options.OperatorWorks || s.OperatorActive, Commits: now.Commits(),
		Busy: func(id string) bool { return s.State.Held(state.WorkerLock(id)) },
	}
	x.Landed, x.Workers = now.LandedSince(w.StartSeq)
	for _, other := range now.Workers {
		if l := other.Lease.Lease(); l.Adopted && (x.Workers[string(other.ID)] || x.Busy(string(other.ID))) {
			x.Adopted = append(x.Adopted, l.Worktree)
		}
	}
	return x, nil
}
