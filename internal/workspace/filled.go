package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"cordon/internal/audit"
	"cordon/internal/fault"
	"cordon/internal/fill"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/lfs"
	"cordon/internal/policy"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// filledRecord is the name of the record that lists the files in submodules.
const filledRecord = "filled.json"

// CheckFill refuses a lease whose tree could not be filled: content inside its write roots
// that is not on this machine, or needs a filter that cordon does not run.
func CheckFill(ctx context.Context, s *worksite.Site, l lease.Lease) error {
	_, err := SurveyCommit(ctx, s, l.Policy, l.Base, l.Adopted)
	return err
}

// SurveyCommit decides what a tree of a commit of the host would get under a policy.
func SurveyCommit(ctx context.Context, s *worksite.Site, p policy.Policy, commit git.OID, lenient bool) (fill.Plan, error) {
	rules, err := treeRules(p)
	if err != nil {
		return fill.Plan{}, err
	}
	special, err := s.Special(ctx, commit)
	if err != nil {
		return fill.Plan{}, err
	}
	dir, err := os.MkdirTemp("", "cordon-fill-") // cordon may have no state yet
	if err != nil {
		return fill.Plan{}, err
	}
	plan, err := survey(ctx, s, fill.Order{
		Repo: s.Host.Repo, Commit: commit, Special: special, Files: filesOf(s, commit), Lenient: lenient, Scratch: filepath.Join(dir, "scratch"),
	}, rules)
	return plan, errors.Join(err, os.RemoveAll(dir))
}

// filesOf lists a commit of the host when it is asked.
func filesOf(s *worksite.Site, commit git.OID) func(context.Context) ([]git.File, error) {
	return func(ctx context.Context) ([]git.File, error) { return s.FilesOf(ctx, commit) }
}

// fillScratch is an empty place for the time being.
func fillScratch(s *worksite.Site, name string) (string, error) {
	dir := s.State.Ignore(name + ".fill")
	return dir, s.State.Erase(dir) // of an attempt that was killed
}

// survey decides what a tree of a commit gets.
func survey(ctx context.Context, s *worksite.Site, o fill.Order, rules policy.Rules) (fill.Plan, error) {
	o.Bin, o.Host, o.Unseen = s.Bin, s.Host, rules.Unseen
	o.Inside = func(p string) bool { return rules.Judge(p).Class == policy.Landing }
	plan, err := fill.Survey(ctx, o)
	return plan, Refused(err)
}

// fillWorker decides what a worker's tree gets, and says what it does not get.
func fillWorker(ctx context.Context, s *worksite.Site, w *ledger.Worker) (fill.Plan, error) {
	l := w.Lease.Lease()
	special, err := s.Special(ctx, l.Base)
	if err != nil {
		return fill.Plan{}, err
	}
	scratch, err := fillScratch(s, string(w.ID))
	if err != nil {
		return fill.Plan{}, err
	}
	o := fill.Order{Repo: s.Host.Repo, Commit: l.Base, Special: special, Files: filesOf(s, l.Base), Scratch: scratch}
	if w.Origin != "" { // its base holds what it wrote in an earlier attempt
		o.Lenient, o.Handed, o.Trusted = true, s.Gate.Handed(w.ID), operatorsOnly(ctx, s, w.Origin, l.Target)
	}
	plan, err := survey(ctx, s, o, w.Lease.Rules())
	if err != nil {
		return plan, err
	}
	if n := len(plan.Empty); n > 0 {
		s.Voice.Step(w.ID, "submodules", fmt.Sprintf("%s left empty, because this repository does not have %s: git submodule update --init",
			listed(plan.Empty), pronoun(n)))
	}
	if n := len(plan.Pointers); n > 0 {
		where := " outside the write roots"
		if o.Lenient {
			where = ""
		}
		s.Voice.Step(w.ID, "git lfs", fmt.Sprintf("%s%s stay pointers: %s", worksite.Count(n, "file"), where, listed(plan.Pointers)))
	}
	return plan, nil
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

// listed names the first of some paths.
func listed(paths []string) string {
	shown := make([]string, 0, 3)
	for _, p := range paths[:min(3, len(paths))] {
		shown = append(shown, audit.Path(p).String())
	}
	if n := len(paths) - len(shown); n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), n)
	}
	return strings.Join(shown, ", ")
}

// recordFilled stores what a tree was filled with, for the audit.
func recordFilled(s *worksite.Site, id lease.ID, plan fill.Plan, made *worktree.Made) (err error) {
	if seeds := plan.Seeds(); len(seeds) > 0 {
		made.Filled, err = s.Store(id, filledRecord, seeds)
	}
	return err
}

// fillMerged decides what a tree for acceptance commands gets. A pointer that the result
// changed stands only for what the worker handed in.
func fillMerged(ctx context.Context, s *worksite.Site, sealed lease.Sealed, repo git.Repo, commit git.OID) (fill.Plan, error) {
	l := sealed.Lease()
	special, err := repo.Special(ctx, commit)
	if err != nil {
		return fill.Plan{}, err
	}
	scratch, err := fillScratch(s, string(l.ID)+".accept")
	if err != nil {
		return fill.Plan{}, err
	}
	w, err := s.Find(string(l.ID))
	if err != nil {
		return fill.Plan{}, err
	}
	return survey(ctx, s, fill.Order{
		Repo: repo, Commit: commit, Special: special, Lenient: true, Handed: s.Gate.Handed(l.ID), Scratch: scratch,
		Files:   func(ctx context.Context) ([]git.File, error) { return repo.Tree(ctx, commit) },
		Trusted: operatorsOnly(ctx, s, w.Began(), l.Target),
	}, sealed.Rules())
}

// operatorsOnly trusts the pointers that a commit of the operator's has, or the target.
func operatorsOnly(ctx context.Context, s *worksite.Site, commit git.OID, target string) func(string, git.OID) bool {
	blobs := sync.OnceValue(func() map[git.OID]bool { return operatorsBlobs(ctx, s, commit, target) })
	return func(_ string, oid git.OID) bool { return blobs()[oid] }
}

// operatorsBlobs are the files of a commit of the operator's and of the target. What cannot
// be read has none.
func operatorsBlobs(ctx context.Context, s *worksite.Site, commit git.OID, target string) map[git.OID]bool {
	blobs := map[git.OID]bool{}
	commits := []git.OID{commit}
	if tip, err := s.Host.Ref(ctx, target); err == nil { // a new branch comes to be with the landing
		commits = append(commits, tip)
	}
	for _, c := range commits {
		files, err := s.Host.Tree(ctx, c)
		if err != nil {
			return nil
		}
		for _, f := range files {
			blobs[f.OID] = true
		}
	}
	return blobs
}

// refusedFill reports whether a tree cannot be filled for a reason that a person removes.
func refusedFill(err error) bool {
	var filter *fill.FilterError
	var absent *fill.AbsentError
	return errors.As(err, &filter) || errors.As(err, &absent) || errors.Is(err, lfs.ErrAbsent) // found damaged
}

// Refused marks an error that refuses a repository.
func Refused(err error) error {
	if refusedFill(err) {
		return &fault.RefusedError{Err: err}
	}
	return err
}
