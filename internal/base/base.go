// Package base keeps prepared checkouts of trees, which many workers read at once
// and nobody writes.
//
// A base is a directory of cordon's state, named by the git tree that it holds:
//
//	bases/TREE/tree/        files: all of them, or what differs from another base
//	bases/TREE/index/index  git's index of the whole tree, with the stat data of these files
//	bases/TREE/base.json    what it is, what it lies on, and sums to find damage by
//	bases/TREE.new/         one that is being made; worth nothing after a crash
//	bases/TREE.lock         held by whoever makes or removes it
//	bases/TREE.looks        who looked at it, for those who ask at the same moment
//	bases/lock              held while a base comes to be or goes
//
// A base that lies on another is a layer of an overlay: files that were added or
// changed, and whiteouts for those that are gone. Files are byte for byte what the
// blobs hold, and their times are such that git takes them for unchanged without
// reading them.
//
// The package refuses to give out a base that is not, to the last inode, what was
// made: a lower layer that changed gives workers files that no commit has. Such a
// base is moved away and made again, and so is what lies on it. It writes nothing
// in the repository that the objects come from, mounts nothing, and does not know
// who uses a base: whoever removes one says that it is not needed.
package base

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cordon/internal/git"
	"cordon/internal/state"
)

// Store is the bases of one repository.
type Store struct {
	Bin    git.Binary
	State  state.Dir
	Format git.Format
}

// Base is a tree's files, ready to be the lower layers of an overlay.
type Base struct {
	Key        string // the tree
	Files      int
	Submodules []string // empty directories, in the order of their names
	Layers     []string // directories of files, topmost first
	Index      string   // a directory that holds the index alone
	Made       string   // how it was made just now, for people; "" when it was there
}

// Ensure returns the base of a commit, verified, and makes it when it is not there
// or not what it was. source has the objects of the commit and is only read.
//
// A base may be removed as soon as it is returned: whoever answers for Remove must
// know of the need before this is called, or spare what was used lately.
func (s Store) Ensure(ctx context.Context, source git.Repo, commit git.OID, progress git.Progress) (Base, error) {
	if err := supported(); err != nil {
		return Base{}, err
	}
	tree, err := source.TreeOf(ctx, commit)
	if err != nil {
		return Base{}, err
	}
	key := string(tree)
	// Most find it whole: they need not wait for each other.
	if b, err := s.use(ctx, key); !damaged(err) {
		return b, err
	}
	release, err := s.State.Await(ctx, lockOf(key))
	if err != nil {
		return Base{}, err
	}
	defer release()
	b, err := s.use(ctx, key)
	if !damaged(err) {
		return b, err
	}
	if err := s.clear(ctx, key, err); err != nil {
		return Base{}, err
	}
	return s.make(ctx, order{source: source, commit: commit, tree: tree, progress: progress})
}

// Find returns the base of a commit if there is one, without looking at its files.
func (s Store) Find(ctx context.Context, source git.Repo, commit git.OID) (Base, bool, error) {
	tree, err := source.TreeOf(ctx, commit)
	if err != nil {
		return Base{}, false, err
	}
	c, err := s.load(string(tree))
	if damaged(err) {
		return Base{}, false, nil
	}
	if err != nil {
		return Base{}, false, err
	}
	return s.base(c), true, nil
}

// Verify says whether a base is what was made: every layer and every index.
func (s Store) Verify(ctx context.Context, b Base) error {
	now, err := s.sound(ctx, b.Key)
	if err != nil {
		return err
	}
	if !slices.Equal(b.Layers, now.Layers) {
		return &DamageError{Key: b.Key, Why: "it was rebuilt from other layers"}
	}
	return nil
}

// sound loads a base and verifies it and all that it lies on.
func (s Store) sound(ctx context.Context, key string) (Base, error) {
	c, err := s.load(key)
	if err != nil {
		return Base{}, err
	}
	if err := s.verifyTogether(ctx, c); err != nil {
		return Base{}, err
	}
	return s.base(c), nil
}

func (s Store) base(c chain) Base {
	top := c[0]
	b := Base{Key: top.Key, Files: top.Files, Index: s.indexOf(top.Key)}
	for _, p := range top.Submodules {
		b.Submodules = append(b.Submodules, string(p))
	}
	for _, r := range c {
		b.Layers = append(b.Layers, s.treeOf(r.Key))
	}
	return b
}

// use returns a base that is sound and notes that it is used: by the time of its
// own directory, which no sum is made of.
func (s Store) use(ctx context.Context, key string) (Base, error) {
	b, err := s.sound(ctx, key)
	if err != nil {
		return Base{}, err
	}
	now := time.Now()
	if err := os.Chtimes(s.State.Base(key), now, now); err != nil {
		return Base{}, broken(key, "it no longer exists", err)
	}
	return b, nil
}

// clear moves away what stands where a base is to be made, and what is broken
// below it.
func (s Store) clear(ctx context.Context, key string, why error) error {
	if err := s.erasePartial(key); err != nil {
		return err
	}
	if err := s.trash(ctx, key); err != nil {
		return err
	}
	var d *DamageError
	if errors.As(why, &d) && d.Key != key {
		return s.discard(ctx, d.Key)
	}
	return nil
}

// discard moves a broken base away, unless somebody is at it.
func (s Store) discard(ctx context.Context, key string) error {
	release, err := s.State.Lock(lockOf(key), false)
	if errors.Is(err, state.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	if _, err := s.sound(ctx, key); !damaged(err) {
		return err
	}
	return s.trash(ctx, key)
}

// trash moves a base away at once. The caller holds its lock.
func (s Store) trash(ctx context.Context, key string) error {
	release, err := s.State.Await(ctx, storeLock)
	if err != nil {
		return err
	}
	defer release()
	return s.trashLocked(key, time.Now())
}

func (s Store) trashLocked(key string, now time.Time) error {
	if err := s.movable(key); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(s.State.Path(), s.looksOf(key))) // whoever looks next begins another
	_, err := s.State.Trash(s.State.Base(key), now)
	return err
}

// movable gives a directory back the modes that moving it needs.
func (s Store) movable(key string) error {
	root, err := os.OpenRoot(filepath.Dir(s.State.Base(key)))
	if err != nil {
		return err
	}
	defer root.Close()
	fi, err := root.Lstat(key)
	if err != nil || !fi.IsDir() || fi.Mode().Perm()&0o700 == 0o700 {
		return nil // moving says what is wrong with it
	}
	return root.Chmod(key, 0o700)
}

// erasePartial removes what a process that was killed left. A git of that process
// may still be writing there: moved away, it harms nobody, and what cannot be
// erased under it stays in the trash.
func (s Store) erasePartial(key string) error {
	name, err := s.State.Trash(s.newOf(key), time.Now())
	if err != nil || name == "" {
		return err
	}
	_ = s.State.Erase(filepath.Join(s.State.Path(), "trash", name)) // or gc does
	return nil
}

// storeLock is the name of the lock under which a base comes to be or goes. It is
// held for moments, by somebody who may hold the lock of one base.
const storeLock = "bases/lock"

func lockOf(key string) string { return filepath.Join("bases", key+".lock") }

func (s Store) newOf(key string) string   { return s.State.Base(key + ".new") }
func (s Store) treeOf(key string) string  { return filepath.Join(s.State.Base(key), "tree") }
func (s Store) indexOf(key string) string { return filepath.Join(s.State.Base(key), "index") }

// DamageError says that a base is not there or not what was made.
type DamageError struct {
	Key string
	Why string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("the base %s: %s", git.OID(e.Key).Short(), e.Why)
}

func damaged(err error) bool {
	var d *DamageError
	return errors.As(err, &d)
}
