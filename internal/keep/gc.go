// Package keep removes what is not needed any more: finished workers, the trash, bases,
// interrupted work, and on request everything that cordon keeps. It also throws a result
// away and writes one out for the operator to look at.
//
// It refuses to delete work that is not provably merged or discarded, and takes names that
// cordon made, never paths.
package keep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cordon/internal/audit"
	"cordon/internal/confine"
	"cordon/internal/gate"
	"cordon/internal/inspect"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/visitor"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// TrashTime is how long a discarded result is kept.
const TrashTime = 14 * 24 * time.Hour

// Chore is one thing that gc can do, or that it cannot and why.
type Chore struct {
	Worker lease.ID `json:"worker,omitempty"`
	What   string   `json:"what"`
	Why    string   `json:"why"`
	Bytes  int64    `json:"bytes"`
	Keep   bool     `json:"keep,omitempty"` // only said, not done

	do func(context.Context) error
}

// Chores lists what gc would do. It removes nothing.
func Chores(ctx context.Context, s *worksite.Site) ([]Chore, error) {
	if !s.State.Exists() {
		return nil, nil
	}
	if err := s.State.SpendReserve(); err != nil {
		return nil, err
	}
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	now, err := s.History()
	if err != nil {
		return nil, err
	}
	all, err := s.Standings(ctx, now.Workers)
	if err != nil {
		return nil, err
	}
	var list []Chore
	for _, w := range now.Workers {
		some, err := workerChores(ctx, s, w, all[w.ID])
		if err != nil {
			return nil, err
		}
		list = append(list, unlessVisited(s, w, some)...)
	}
	trashed, err := trashChores(s)
	if err != nil {
		return nil, err
	}
	list = append(list, trashed...)
	refs, err := trashedRefs(ctx, s, now)
	if err != nil {
		return nil, err
	}
	leftovers, err := leftovers(s, now)
	if err != nil {
		return nil, err
	}
	shadows, err := shadowChores(s)
	if err != nil {
		return nil, err
	}
	copies, err := copyChores(s)
	if err != nil {
		return nil, err
	}
	bases, err := baseChores(ctx, s, now, list)
	return slices.Concat(list, refs, leftovers, shadows, copies, bases), err
}

// Do carries a chore out.
func (c Chore) Do(ctx context.Context) error {
	if c.Keep {
		return nil
	}
	return c.do(ctx)
}

func workerChores(ctx context.Context, s *worksite.Site, w *ledger.Worker, now worksite.Standing) ([]Chore, error) {
	status := now.Status
	switch {
	case now.Held:
		return nil, nil
	case w.Exit == nil && w.Start != nil && w.Discard == nil:
		return []Chore{{Worker: w.ID, What: "nothing", Why: "it was lost while it ran: resume, merge or discard it", Keep: true}}, nil
	case status == ledger.MergedIn && w.Removal == nil, status == ledger.NoChange && w.Removal == nil:
		return finishedChores(ctx, s, w, status)
	case w.Removal != nil && !w.Lease.Lease().Adopted && worksite.Exists(s.TreeOf(w)):
		return []Chore{removalChore(s, w, "its removal was interrupted")}, nil
	case w.Discard != nil && w.Removal == nil && (w.Lease.Lease().Adopted || !worksite.Exists(s.TreeOf(w))):
		return nil, nil // in the trash
	case w.Discard != nil && w.Removal == nil:
		return []Chore{{Worker: w.ID, What: "its tree, to the trash", Why: "its discarding was interrupted",
			do: func(ctx context.Context) error { return clearDiscarded(ctx, s, w) }}}, nil
	}
	return nil, nil
}

// finishedChores removes a worker whose work is provably in the target, and says why
// one whose is not stays.
func finishedChores(ctx context.Context, s *worksite.Site, w *ledger.Worker, status ledger.Status) ([]Chore, error) {
	why, err := unproven(ctx, s, w)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return []Chore{{Worker: w.ID, What: "its tree", Why: why, Keep: true}}, nil
	}
	return []Chore{removalChore(s, w, string(status))}, nil
}

// unproven says what of a finished worker may be nowhere else, or "": its work
// must be in the target now, its tree must be the one that was audited, and no
// commit may be left that is only in its repository.
func unproven(ctx context.Context, s *worksite.Site, w *ledger.Worker) (string, error) {
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
	return unprovenBy(report, w.Audit.Digest, w.ID), nil
}

func unprovenBy(now *audit.Report, digest string, id lease.ID) string {
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
	case now.Digest != digest:
		return "it changed after it was merged: look, then cordon discard " + string(id)
	}
	return ""
}

func removalChore(s *worksite.Site, w *ledger.Worker, why string) Chore {
	c := Chore{Worker: w.ID, What: "its tree, pin and result ref", Why: why}
	switch {
	case w.Lease.Lease().Adopted:
		c.What = "its pin and result ref; the adopted worktree stays"
	case w.Release != nil:
		c.What = "its pin and result ref; its tree and evidence go to the trash"
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
	if w.Release != nil { // what was released is not all that was quarantined
		if err := moveToTrash(ctx, s, w); err != nil {
			return err
		}
	}
	return eraseWorker(s, w)
}

// forgetSettled records the removal of a worker and drops refs of its, while nobody
// records the host as a baseline: the one explains the other.
func forgetSettled(ctx context.Context, s *worksite.Site, w *ledger.Worker, why string, drop func(context.Context, lease.ID) error) error {
	release, err := s.State.Await(ctx, state.GateLock)
	if err != nil {
		return err
	}
	defer release()
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
		return fmt.Errorf("%s is %s by now", w.ID, status)
	}
	why, err := unproven(ctx, s, w)
	if err == nil && why != "" {
		err = errors.New(why)
	}
	return err
}

// eraseWorker deletes the directories of a removed worker, at which nobody looks.
func eraseWorker(s *worksite.Site, w *ledger.Worker) error {
	id := string(w.ID)
	if w.Lease.Lease().Adopted { // commits that did not land may be in it
		if _, err := s.State.Trash(s.State.Shadow(id), s.Now()); err != nil {
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

// Sweep deletes what gc has put out of the way.
func Sweep(s *worksite.Site) error { return s.State.Sweep() }

// Disk is what a worker takes on disk: what it wrote in its tree and elsewhere.
func Disk(s *worksite.Site, w *ledger.Worker) int64 {
	id := string(w.ID)
	places := []string{s.State.Layers(id), s.State.Shadow(id), s.State.Agent(id), s.State.History(id)}
	if !worksite.Layered(w) && !w.Lease.Lease().Adopted {
		places = append(places, s.TreeOf(w))
	}
	var total int64
	for _, p := range places {
		n, _ := worktree.Bytes(p) // nothing when it is gone
		total += n
	}
	return total
}

// trashedRefs forgets what is left of discarded and released workers in the host
// when their time is over: the refs in refs/cordon/trash, and the pin.
func trashedRefs(ctx context.Context, s *worksite.Site, now *ledger.Ledger) ([]Chore, error) {
	ids, err := s.Gate.Trashed(ctx)
	if err != nil {
		return nil, err
	}
	inTrash := map[lease.ID]bool{} // some are not of this journal, and not ours to drop
	for _, id := range ids {
		inTrash[id] = true
	}
	var list []Chore
	for _, w := range now.Workers {
		if !inTrash[w.ID] && (w.Discard == nil || w.Removal != nil) {
			continue
		}
		over := w.Changed.Add(TrashTime)
		c := Chore{Worker: w.ID, What: "its pin and refs in refs/cordon/trash", Why: "discarded or released; kept until " + over.Format("2006-01-02")}
		c.Keep = s.Now().Before(over) && !s.EmptyTrash
		c.do = func(ctx context.Context) error { return forgetTrashed(ctx, s, w) }
		list = append(list, c)
	}
	return list, nil
}

func forgetTrashed(ctx context.Context, s *worksite.Site, w *ledger.Worker) error {
	return forgetSettled(ctx, s, w, "its time in the trash is over", s.Gate.EmptyTrash)
}

func trashChores(s *worksite.Site) ([]Chore, error) {
	trashed, err := s.State.Trashed()
	if err != nil {
		return nil, err
	}
	var list []Chore
	for _, t := range trashed {
		c := Chore{What: "trash/" + t.Name, Why: "removed on " + t.When.Format("2006-01-02")}
		if t.Dropped() {
			c.Why = "removed; its deletion was interrupted"
		}
		c.Bytes, _ = worktree.Bytes(t.Path) // for display
		if c.Keep = s.Now().Before(t.When.Add(TrashTime)) && !isWorthless(t.Name) && !s.EmptyTrash; c.Keep {
			c.Why += ", kept until " + t.When.Add(TrashTime).Format("2006-01-02")
		}
		c.do = func(context.Context) error { return s.State.Drop(t.Path, s.Now()) }
		list = append(list, c)
	}
	return list, nil
}

// isWorthless names what cordon made itself and no worker ever had: acceptance
// trees and unfinished worktrees.
func isWorthless(name string) bool {
	_, what, _ := strings.Cut(name, "-")
	return strings.HasPrefix(what, "accept-") || strings.HasSuffix(what, ".new")
}

// leftovers are directories of cordon's own that no running worker has.
func leftovers(s *worksite.Site, now *ledger.Ledger) ([]Chore, error) {
	var list []Chore
	for _, part := range []string{"accept", "ignore", "history", "layers"} {
		entries, err := os.ReadDir(filepath.Join(s.State.Path(), part))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if inUse(s, now, part, e.Name()) {
				continue
			}
			path := filepath.Join(s.State.Path(), part, e.Name())
			c := Chore{What: part + "/" + e.Name(), Why: "left by an interrupted run", do: func(context.Context) error { return s.State.Erase(path) }}
			c.Bytes, _ = worktree.Bytes(path) // for display
			list = append(list, c)
		}
	}
	return list, nil
}

// inUse reports whether a working directory is somebody's: a view's while its
// process lives, any other while its worker is held; histories are kept.
func inUse(s *worksite.Site, now *ledger.Ledger, part, name string) bool {
	id, view, isView := strings.Cut(name, ".view-")
	if isView {
		pid, err := strconv.Atoi(view)
		return err != nil || syscall.Kill(pid, 0) == nil
	}
	id, step, _ := strings.Cut(id, ".")
	w, err := now.Find(id)
	over := err == nil && (w.Discard != nil || w.Removal != nil)
	return part == "history" && !over || part == "layers" && step == "" || s.State.Held(state.WorkerLock(id))
}

// shadowChores moves the private repositories of executions to the trash whose
// checkout is gone: commits may be in them that are nowhere else.
func shadowChores(s *worksite.Site) ([]Chore, error) {
	entries, err := os.ReadDir(s.State.Shadow(""))
	if err != nil {
		return nil, err
	}
	var list []Chore
	for _, e := range entries {
		dir := s.State.Shadow(e.Name())
		top, err := os.ReadFile(filepath.Join(dir, confine.ShadowTop))
		if err != nil || worksite.Exists(string(top)) {
			continue // a worker's, or still in use
		}
		c := Chore{What: "shadow/" + e.Name() + ", to the trash", Why: "the checkout " + string(top) + " of cordon exec is gone"}
		c.Bytes, _ = worktree.Bytes(dir) // for display
		c.do = func(context.Context) error { _, err := s.State.Trash(dir, s.Now()); return err }
		list = append(list, c)
	}
	return list, nil
}

// copyChores deletes the copies of the commits of executions when they are old or their
// checkout is gone. The commits themselves are in shadow/ or in the trash.
func copyChores(s *worksite.Site) ([]Chore, error) {
	entries, err := os.ReadDir(s.State.History(""))
	if err != nil {
		return nil, err
	}
	var list []Chore
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil || !state.IsKey(e.Name()) {
			continue // a worker's, or gone meanwhile
		}
		dir, over := s.State.History(e.Name()), fi.ModTime().Add(TrashTime)
		c := Chore{What: "history/" + e.Name(), Why: "a copy of the commits of cordon exec"}
		top, err := os.ReadFile(filepath.Join(s.State.Shadow(e.Name()), confine.ShadowTop))
		if c.Keep = err == nil && worksite.Exists(string(top)) && s.Now().Before(over) && !s.EmptyTrash; c.Keep {
			c.Why += " in " + string(top) + ", kept until " + over.Format("2006-01-02")
		}
		c.Bytes, _ = worktree.Bytes(dir) // for display
		c.do = func(ctx context.Context) error { return eraseCopy(ctx, s.State, dir) }
		list = append(list, c)
	}
	return list, nil
}

// eraseCopy deletes a copy of commits while nobody makes one.
func eraseCopy(ctx context.Context, in state.Dir, dir string) error {
	release, err := in.Await(ctx, confine.ShadowLock)
	if err != nil {
		return err
	}
	defer release()
	return in.Erase(dir)
}

// String is a chore in one line.
func (c Chore) String() string {
	who := string(c.Worker)
	if who != "" {
		who += ": "
	}
	return fmt.Sprintf("%s%s (%s)", who, c.What, c.Why)
}

// unlessVisited keeps a worker that somebody looks at.
func unlessVisited(s *worksite.Site, w *ledger.Worker, chores []Chore) []Chore {
	removes := func(c Chore) bool { return !c.Keep }
	if !slices.ContainsFunc(chores, removes) || !visitor.Visited(s, w) {
		return chores
	}
	kept := slices.Clone(chores)
	for i := range kept {
		kept[i].Keep, kept[i].Why = true, visitor.ErrVisited.Error()
	}
	return kept
}
