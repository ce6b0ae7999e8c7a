package keep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"cordon/internal/audit"
	"cordon/internal/gate"
	"cordon/internal/inspect"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/visitor"
	"cordon/internal/worksite"
)

// finishedChores removes a worker whose work is provably in the target, and says why
// one whose is not stays.
func finishedChores(ctx context.Context, s *worksite.Site, w *ledger.Worker, status ledger.Status) ([]Chore, error) {
	why, err := whyUnproven(ctx, s, w)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return []Chore{{Worker: w.ID, What: "its tree", Why: why, Keep: true}}, nil
	}
	return []Chore{removalChore(s, w, string(status))}, nil
}

// whyUnproven says what of a finished worker may be nowhere else, or "": its work
// must be in the target now, its tree and its commits must be those that were audited,
// and nobody may have worked with git in the tree.
func whyUnproven(ctx context.Context, s *worksite.Site, w *ledger.Worker) (string, error) {
	if name, err := s.UsedGit(w); name != "" || err != nil {
		return "you worked with git in it (.git/" + audit.Path(name).String() + "): look, then cordon discard " + string(w.ID), err
	}
	l := w.Lease.Lease()
	if w.Gate != nil && w.Gate.Outcome == gate.Nothing && w.Audit != nil && w.Audit.Summary.Landing > 0 {
		held, err := s.Ancestor(ctx, w.Gate.Commit, l.Target)
		if err != nil || !held {
			return "the branch that held its work was moved back", err
		}
	}
	// What was released is moved to the trash, not deleted. What was adopted
	// stays where it is.
	if l.Adopted || w.Release != nil || !worksite.Exists(s.TreeOf(w)) {
		return "", nil
	}
	if w.Audit == nil {
		return "it was never audited", nil
	}
	report, err := inspect.Look(ctx, s, w)
	if err != nil {
		return "", err
	}
	audited, err := s.Report(w)
	if err != nil {
		return "", err
	}
	return unprovenBy(report, audited, w.ID), nil
}

func unprovenBy(now, audited *audit.Report, id lease.ID) string {
	for _, f := range now.Findings {
		if f.Kind == audit.Unreadable {
			return "it cannot be read: " + worksite.Line(f)
		}
	}
	switch {
	case now.History == nil:
		return "its commits cannot be read"
	case now.History.Others > 0:
		return "it has commits on other branches that did not land: look, then cordon discard " + string(id)
	case now.History.Gone > 0:
		return "its last commit holds files that did not land: look, then cordon discard " + string(id)
	case !sameCommits(now.History, audited.History):
		return "its commits changed after it was merged: look, then cordon discard " + string(id)
	case now.Digest != audited.Digest:
		return "it changed after it was merged: look, then cordon discard " + string(id)
	}
	return ""
}

// sameCommits reports whether a repository was left with the same commits and the same names for them.
func sameCommits(now, audited *audit.History) bool {
	return audited != nil && now.Head == audited.Head && slices.Equal(now.Tips, audited.Tips) && slices.Equal(now.Orphans, audited.Orphans)
}

func removalChore(s *worksite.Site, w *ledger.Worker, why string) Chore {
	c := Chore{Worker: w.ID, What: "its tree, pin and result ref", Why: why}
	switch {
	case w.Lease.Lease().Adopted:
		c.What = "its pin and result ref; the adopted worktree stays"
	case w.Release != nil:
		c.What = "its pin and result ref; its tree and evidence go to the trash"
	case w.Attempts > 0:
		c.What = "its tree, pin and result ref; the evidence of its earlier attempts goes to the trash"
	}
	c.Bytes = Disk(s, w)
	c.do = func(ctx context.Context) error { return removeWorker(ctx, s, w.ID, why) }
	return c
}

// removeWorker deletes what is provably not needed. It is proven again under the
// worker's lock: much may have happened since it was listed. The event comes
// first.
func removeWorker(ctx context.Context, s *worksite.Site, id lease.ID, why string) error {
	release, err := s.State.LockWorker(string(id))
	if err != nil {
		return err
	}
	defer release()
	w, err := s.Find(string(id))
	if err != nil {
		return err
	}
	if w.Removal == nil {
		if err := stillRemovable(ctx, s, w); err != nil {
			return err
		}
	}
	s.EndLeftovers(w.ID)
	letGo, err := visitor.Exclude(s, w)
	if err != nil {
		return err
	}
	defer letGo()
	if err := forgetSettled(ctx, s, w, why, s.Gate.Forget); err != nil {
		return err
	}
	switch {
	case w.Release != nil: // what was released is not all that was quarantined
		err = moveToTrash(ctx, s, w)
	case w.Attempts > 0: // and neither is the last attempt
		err = s.Gate.Discard(ctx, w.ID)
	}
	if err != nil {
		return err
	}
	return eraseWorker(s, w)
}

// forgetSettled records the removal of a worker and drops refs of its.
func forgetSettled(ctx context.Context, s *worksite.Site, w *ledger.Worker, why string, drop func(context.Context, lease.ID) error) error {
	if w.Removal == nil {
		if err := s.Append(w.ID, ledger.Removed, ledger.Removal{Why: why}); err != nil {
			return err
		}
	}
	return drop(ctx, w.ID)
}

func stillRemovable(ctx context.Context, s *worksite.Site, w *ledger.Worker) error {
	f, err := s.Facts(ctx, w)
	if err != nil {
		return err
	}
	f.Held = false // by this process
	status := w.Status(f)
	if status != ledger.MergedIn && status != ledger.NoChange {
		return fmt.Errorf("%s is now %s", w.ID, status)
	}
	why, err := whyUnproven(ctx, s, w)
	if err == nil && why != "" {
		err = errors.New(why)
	}
	return err
}

// eraseWorker deletes the directories of a removed worker, at which nobody looks. What may hold
// commits that did not land goes to the trash: the repository of an adopted worktree, and a plain
// tree in which somebody has worked with git since its removal began.
func eraseWorker(s *worksite.Site, w *ledger.Worker) error {
	id, holds := string(w.ID), ""
	if w.Lease.Lease().Adopted {
		holds = s.State.Shadow(id)
	} else if used, err := s.UsedGit(w); used != "" || err != nil {
		holds = s.TreeOf(w)
	}
	if holds != "" {
		if _, err := s.State.Trash(holds, s.Now()); err != nil {
			return err
		}
	}
	places := []string{s.State.Shadow(id), s.State.History(id), s.State.Ignore(id), s.State.Acceptance(id), s.State.Layers(id), s.AcceptLayers(w.ID),
		s.State.Agent(id), s.State.Post(id)}
	if !w.Lease.Lease().Adopted {
		places = append(places, s.State.Tree(id), s.State.Frozen(id), s.State.NewTree(id))
	}
	for _, p := range places {
		if err := s.State.Drop(p, s.Now()); err != nil {
			return err
		}
	}
	return nil
}
