package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cordon/internal/base"
	"cordon/internal/enclosure"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/worktree"
)

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
	return "", fmt.Errorf("there is no tree of the kind %q: auto, overlay or copy", word)
}

// chooseTree decides what kind of tree a lease is for.
func (s *Session) chooseTree(ctx context.Context, asked TreeKind, l *lease.Lease) error {
	why := ""
	switch {
	case l.Adopted:
		why = "an adopted worktree is the directory that it is"
	case asked == PlainTree:
		return nil
	case l.Policy.Isolation == policy.None:
		why = "isolation is none, so nothing is mounted for the worker"
	default:
		why = s.cannotCopyOnWrite(ctx)
	}
	if why == "" {
		l.Tree = lease.Layered
		return nil
	}
	if asked == LayeredTree {
		return refuse("--tree=overlay cannot be had: %s", why)
	}
	if !l.Adopted && l.Policy.Isolation != policy.None {
		s.Voice.Step("", "tree", "a plain copy of every file: "+why)
	}
	return nil
}

// cannotCopyOnWrite says why the kernel does not mount an overlay over cordon's
// state, or "". It is tried once after each start of the machine.
func (s *Session) cannotCopyOnWrite(ctx context.Context) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "this system has no overlays"
	}
	known := filepath.Join(s.State.Path(), "copies-on-write")
	if have, err := os.ReadFile(known); err == nil && string(have) == string(boot) {
		return ""
	}
	if err := s.tryOverlay(ctx); err != nil {
		return oneLine(err)
	}
	_ = os.WriteFile(known, boot, 0o600) // it is found out again where this is refused
	return ""
}

// tryOverlay tries one over cordon's state.
func (s *Session) tryOverlay(ctx context.Context) error {
	name := fmt.Sprintf("try.view-%d", os.Getpid())
	t := trial{hide: s.State.Path(), below: s.State.Ignore(name), layers: s.State.Layers(name), at: s.State.Tree(name)}
	defer s.State.Erase(t.below)
	defer s.State.Erase(t.layers)
	return t.overlay(ctx)
}

// layered reports whether a worker's tree is copied on write.
func layered(w *ledger.Worker) bool { return w.Lease.Lease().Tree == lease.Layered }

func (s *Session) bases() base.Store {
	return base.Store{Bin: s.Bin, State: s.State, Format: s.Host.Format}
}

// trusted is how long a base that was verified is taken to be what it was: launches
// come in bursts.
const trusted = time.Minute

// verified is a base that was looked at, or is being.
type verified struct {
	base.Base
	done chan struct{}
	at   time.Time // zero: it is not there, or not what it was
	hold func()    // lets it go; kept, so that it is not let go before the end
}

// expect looks at the base of a commit while other things are done, if there is one.
func (s *Session) expect(ctx context.Context, commit git.OID) {
	if !s.State.Exists() || s.verified != nil {
		return
	}
	v := &verified{done: make(chan struct{})}
	s.verified = map[git.OID]*verified{commit: v}
	store, repo, now := s.bases(), s.Host.Repo, s.Now
	go func() {
		defer close(v.done)
		var err error
		if v.hold, err = holdBase(ctx, store, repo, commit); err != nil {
			return
		}
		b, there, err := store.Find(ctx, repo, commit)
		if err == nil && there && store.Verify(ctx, b) == nil {
			v.Base, v.at = b, now()
		}
	}()
}

// holdBase keeps the base of a commit from being removed: acceptance commands run on
// one that no lease names.
func holdBase(ctx context.Context, store base.Store, repo git.Repo, commit git.OID) (release func(), err error) {
	tree, err := repo.TreeOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	return store.Hold(string(tree))
}

// base is what layered trees of a commit lie on, verified. It is made when it is not
// there.
func (s *Session) base(ctx context.Context, id lease.ID, commit git.OID) (base.Base, error) {
	if v := s.verified[commit]; v != nil {
		<-v.done
		if s.Now().Sub(v.at) < trusted {
			return v.Base, nil
		}
	}
	if s.verified == nil {
		s.verified = map[git.OID]*verified{}
	}
	began := s.Now()
	release, err := holdBase(ctx, s.bases(), s.gate.Repo(), commit)
	if err != nil {
		return base.Base{}, err
	}
	b, err := s.bases().Ensure(ctx, s.gate.Repo(), commit, func(done, total int) { s.Voice.Files(id, done, total) })
	if err != nil {
		return b, err
	}
	if b.Made != "" {
		s.Voice.Step(id, "base", fmt.Sprintf("%s, %.1f s; the next worker shares it", b.Made, s.Now().Sub(began).Seconds()))
	}
	v := &verified{Base: b, done: make(chan struct{}), at: s.Now(), hold: release}
	close(v.done)
	s.verified[commit] = v
	return b, nil
}

// prepareLayered makes the layers of a worker's tree. What an interrupted attempt
// left is thrown away: no worker has seen it.
func (s *Session) prepareLayered(ctx context.Context, w *ledger.Worker) error {
	l, id := w.Lease.Lease(), string(w.ID)
	b, err := s.base(ctx, w.ID, l.Base)
	if err != nil {
		return err
	}
	began := s.Now()
	partial, path := s.State.Layers(id+".new"), s.State.Layers(id)
	for _, dir := range []string{partial, path} {
		if err := s.State.Erase(dir); err != nil {
			return err
		}
	}
	hidden, err := enclosure.Hides(w.Lease.Rules().Hidden(), l.Worktree, b.Layers)
	if err != nil {
		return err
	}
	unseen, err := s.unseenBy(ctx, w.Lease)
	if err != nil {
		return err
	}
	made, err := worktree.MakeLayered(ctx, worktree.LayerOrder{
		Bin: s.Bin, Host: s.Host, Source: s.Host.Repo, Alternate: s.State.Objects(),
		Commit: l.Base, Branch: l.Branch, Below: b.Layers, Files: b.Files,
		Roots: w.Lease.Rules().Roots(), Hidden: hidden, Index: b.Index, Unseen: unseen,
		Partial: partial, Path: path,
	})
	if err != nil {
		err = errors.Join(refused(err), s.State.Room(), s.State.Erase(partial))
		return fmt.Errorf("worktree of %s: %w", w.ID, err)
	}
	made.Base, made.Submodules = b.Key, b.Submodules
	s.Voice.Step(w.ID, "worktree", describeMade(made, s.Now().Sub(began)))
	return s.append(w.ID, ledger.Prepared, made)
}

// gone says why a worker cannot go on in its tree, or "".
func (s *Session) gone(w *ledger.Worker) string {
	fi, err := os.Lstat(s.TreeOf(w))
	if err != nil || !fi.IsDir() {
		return fmt.Sprintf("the worktree of %s is gone: there is nothing to go on with (cordon discard %s)", w.ID, w.ID)
	}
	return ""
}

// gitDir is where a worker's repository lies on the host.
func (s *Session) gitDir(w *ledger.Worker) string {
	switch {
	case layered(w):
		return worktree.Upper(s.LayersOf(w), worktree.GitLayer)
	case w.Lease.Lease().Adopted || exists(s.ownGit(w.ID)):
		return s.ownGit(w.ID)
	}
	return filepath.Join(s.TreeOf(w), ".git") // it runs in a weaker cell, or was made by an older cordon
}
