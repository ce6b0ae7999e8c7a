package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/cache"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/overlay"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// OpenTree is a worker's tree as the worker sees it.
func OpenTree(ctx context.Context, s *worksite.Site, w *ledger.Worker) (*overlay.Dir, error) {
	if why := s.TreeGone(w); why != "" || w.Tree == nil {
		return nil, &fault.MistakeError{Err: fmt.Errorf("%s has no tree: cordon checkout %s --branch NAME takes its result, if it left one", w.ID, w.ID)}
	}
	layers := []string{s.TreeOf(w)}
	if worksite.Layered(w) {
		b, err := s.BaseOf(ctx, w.ID, w.Lease.Lease().Base)
		if err != nil {
			return nil, err
		}
		below, err := treeLayers(s, w.Lease.Lease(), b.Layers)
		if err != nil {
			return nil, err
		}
		layers = append(layers, below...)
	}
	return overlay.Open(layers...)
}

// TreeKind is what an operator may ask of a worker's tree.
type TreeKind string

// The kinds. Auto is copied on write where the cell can do that, and a plain
// directory elsewhere.
const (
	AutoTree    TreeKind = "auto"
	LayeredTree TreeKind = "overlay"
	PlainTree   TreeKind = "copy"
)

// ParseTreeKind reads what was typed; "" is auto.
func ParseTreeKind(word string) (TreeKind, error) {
	switch k := TreeKind(word); k {
	case "":
		return AutoTree, nil
	case AutoTree, LayeredTree, PlainTree:
		return k, nil
	}
	return "", fmt.Errorf("unknown kind of tree %q: use auto, overlay or copy", word)
}

// ChooseTree decides what kind of tree a lease is for.
func ChooseTree(ctx context.Context, s *worksite.Site, asked TreeKind, l *lease.Lease) error {
	why := ""
	switch {
	case l.Adopted:
		why = "--tree does not apply to an adopted worktree"
	case asked == PlainTree:
		return nil
	case l.Policy.Isolation == policy.None:
		why = "isolation is none, so nothing is mounted for the worker"
	default:
		if cannotCopyOnWrite(ctx, s, atSeen) == "" {
			l.Tree, l.Worktree = lease.Layered, s.State.Seen()
			return nil
		}
		why = cannotCopyOnWrite(ctx, s, atTree)
	}
	if why == "" {
		l.Tree = lease.Layered
		return nil
	}
	if asked == LayeredTree {
		return fault.Refuse("--tree=overlay is not possible: %s", why)
	}
	if !l.Adopted && l.Policy.Isolation != policy.None {
		s.Voice.Step("", "tree", "a plain copy of every file: "+why)
	}
	return nil
}

// The two places where a layered tree can be shown.
const (
	atSeen = "shows-at-one-path" // the same for all workers of the repository
	atTree = "copies-on-write"   // in cordon's state, by the worker's name
)

// cannotCopyOnWrite says why the kernel does not mount an overlay of cordon's state at
// one of the places, or "". It is tried once after each start of the machine.
func cannotCopyOnWrite(ctx context.Context, s *worksite.Site, place string) string {
	if _, err := os.Lstat(state.CellRoot); place == atSeen && !errors.Is(err, fs.ErrNotExist) {
		return state.CellRoot + " is a path of this machine"
	}
	boot := state.Boot()
	if boot == "" {
		return "this system has no overlayfs"
	}
	known := filepath.Join(s.State.Path(), place)
	isKnown := func() bool { have, err := os.ReadFile(known); return err == nil && string(have) == boot }
	if isKnown() {
		return ""
	}
	// Stages of a plan begin side by side in one process: one of them tries for all.
	release, err := s.State.Await(ctx, "try.lock")
	if err != nil {
		return fault.OneLine(err)
	}
	defer release()
	if isKnown() {
		return ""
	}
	if err := tryOverlay(ctx, s, place); err != nil {
		return fault.OneLine(err)
	}
	_ = os.WriteFile(known, []byte(boot), 0o600) // it is found out again where this is refused
	return ""
}

// tryOverlay tries one of cordon's state.
func tryOverlay(ctx context.Context, s *worksite.Site, place string) error {
	name := fmt.Sprintf("try.view-%d", os.Getpid())
	t := overlayTrial{hide: s.State.Path(), below: s.State.Ignore(name), layers: s.State.Layers(name), at: s.State.Tree(name)}
	if place == atSeen {
		t.at = s.State.Seen()
	}
	defer s.State.Erase(t.below)
	defer s.State.Erase(t.layers)
	return t.run(ctx)
}

// prepareLayered makes the layers of a worker's tree. What an interrupted attempt
// left is thrown away: no worker has seen it.
func prepareLayered(ctx context.Context, s *worksite.Site, w *ledger.Worker) error {
	l, id := w.Lease.Lease(), string(w.ID)
	b, err := s.BaseOf(ctx, w.ID, l.Base)
	if err != nil {
		return err
	}
	plan, err := fillWorker(ctx, s, w)
	if err != nil {
		return fmt.Errorf("worktree of %s: %w", w.ID, err)
	}
	began := s.Now()
	partial, path := s.State.Layers(id+".new"), s.State.Layers(id)
	for _, dir := range []string{partial, path} {
		if err := s.State.Erase(dir); err != nil {
			return err
		}
	}
	below, err := treeLayers(s, l, b.Layers)
	if err != nil {
		return err
	}
	hidden, err := enclosure.Hides(w.Lease.Rules().Hidden(), l.Worktree, below)
	if err != nil {
		return err
	}
	unseen, err := hiddenFiles(ctx, s, w.Lease)
	if err != nil {
		return err
	}
	young, err := renewed(ctx, s, s.Host.Repo, l.Cache, l.Base)
	if err != nil {
		return err
	}
	made, err := worktree.MakeLayered(ctx, worktree.LayerOrder{
		Bin: s.Bin, Host: s.Host, Source: s.Host.Repo, Alternate: s.State.Objects(),
		Commit: l.Base, Branch: l.Branch, Below: below, Files: b.Files,
		Roots: w.Lease.Rules().Roots(), Hidden: hidden, Index: b.Index, Unseen: unseen, Fill: plan.Into, Renewed: young,
		Partial: partial, Path: path,
	})
	if err != nil {
		err = errors.Join(Refused(err), s.State.Room(), s.State.Erase(partial))
		return fmt.Errorf("worktree of %s: %w", w.ID, err)
	}
	made.Base, made.Submodules = b.Key, b.Submodules
	if err := recordFilled(s, w.ID, plan, &made); err != nil {
		return err
	}
	s.Voice.Step(w.ID, "worktree", describeMade(made, s.Now().Sub(began))+describeFilled(plan))
	if dir, err := s.HoldCache(cache.Name(l.Cache.From)); err == nil && dir != "" {
		s.Voice.Step(w.ID, "cache", "of the last landed run with this policy")
	}
	return prepared(s, w, made)
}
