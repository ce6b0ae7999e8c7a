package base

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordon/internal/git"
	"cordon/internal/state"
)

// Kept is a base that is on disk.
type Kept struct {
	Key    string
	Below  string // the base that it lies on
	Depth  int
	Files  int
	Bytes  int64 // of its own, without what it lies on; with what a snapshot shares
	Made   time.Time
	Used   time.Time
	Broken bool // its record cannot be read: nothing of the above is known but its key
}

// List returns the bases that are on disk, those used last first. It does not look
// at their files.
func (s Store) List() ([]Kept, error) {
	entries, err := os.ReadDir(filepath.Dir(s.State.Base("x")))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Kept
	for _, e := range entries {
		if _, err := git.ParseOID(e.Name()); err != nil {
			continue
		}
		k, err := s.kept(e)
		if errors.Is(err, os.ErrNotExist) {
			continue // removed at this moment
		}
		if err != nil {
			return nil, err
		}
		all = append(all, k)
	}
	slices.SortStableFunc(all, func(a, b Kept) int { return b.Used.Compare(a.Used) })
	return all, nil
}

func (s Store) kept(e os.DirEntry) (Kept, error) {
	fi, err := e.Info()
	if err != nil {
		return Kept{}, err
	}
	k := Kept{Key: e.Name(), Used: fi.ModTime()}
	r, err := s.read(k.Key)
	if damaged(err) {
		k.Broken = true
		return k, nil
	}
	k.Below, k.Depth, k.Files, k.Bytes, k.Made = r.Below, r.Depth, r.Files, r.Bytes, r.Made
	return k, err
}

// choose finds the base that is cheapest to lie on, whole, with what differs from
// it. There may be none.
func (s Store) choose(ctx context.Context, o order) (chain, []git.Delta, error) {
	list, err := s.candidates(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range list {
		below, err := s.load(c.kept.Key)
		if err == nil {
			err = s.verify(ctx, below)
		}
		if err == nil {
			return below, c.changes, nil
		}
		var d *DamageError
		if !errors.As(err, &d) {
			return nil, nil, err
		}
		if err := s.discard(ctx, d.Key); err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, nil
}

func (s Store) candidates(ctx context.Context, o order) ([]candidate, error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(k Kept) bool { return k.Broken || k.Depth >= maxDepth || k.Key == o.key() })
	var list []candidate
	for _, k := range all[:min(len(all), maxLooked)] {
		changes, err := o.source.TreeChanges(ctx, git.OID(k.Key), o.tree)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // a tree that the repository has no more
		}
		if c := (candidate{k, changes}); c.worth() {
			list = append(list, c)
		}
	}
	rank(list)
	return list, nil
}

// ErrNeeded says that a base stays because something needs it.
var ErrNeeded = errors.New("still needed")

// Remove moves a base to the trash, in constant time. It asks stillNeeded when
// nobody can be making the base or another one on it; the answer must not use this
// store. A base that is needed, or that another lies on, stays: ErrNeeded.
func (s Store) Remove(ctx context.Context, key string, stillNeeded func() (bool, error), now time.Time) error {
	if _, err := git.ParseOID(key); err != nil {
		return err
	}
	release, err := s.State.Await(ctx, lockOf(key))
	if err != nil {
		return err
	}
	defer release()
	releaseStore, err := s.State.Await(ctx, storeLock)
	if err != nil {
		return err
	}
	defer releaseStore()
	unused, err := s.State.Unshared(usedOf(key))
	if errors.Is(err, state.ErrLocked) {
		return fmt.Errorf("the base %s is in use: %w", git.OID(key).Short(), ErrNeeded)
	}
	if err != nil {
		return err
	}
	defer unused()
	if err := s.free(key, stillNeeded); err != nil {
		return err
	}
	return s.trashLocked(key, now)
}

// Hold keeps a base from being removed until release is called or this process ends.
// It need not be there yet: whoever holds it first and then finds it whole has it.
func (s Store) Hold(key string) (release func(), err error) { return s.State.Share(usedOf(key)) }

// Held reports whether somebody holds a base.
func (s Store) Held(key string) bool {
	release, err := s.State.Unshared(usedOf(key))
	if err != nil {
		return true
	}
	release()
	return false
}

func usedOf(key string) string { return filepath.Join("bases", key+".used.lock") }

func (s Store) free(key string, stillNeeded func() (bool, error)) error {
	needed, err := stillNeeded()
	if err != nil {
		return err
	}
	if needed {
		return fmt.Errorf("the base %s: %w", git.OID(key).Short(), ErrNeeded)
	}
	all, err := s.List()
	if err != nil {
		return err
	}
	for _, k := range all {
		if k.Below == key {
			return fmt.Errorf("the base %s: %w: %s lies on it", git.OID(key).Short(), ErrNeeded, git.OID(k.Key).Short())
		}
	}
	return nil
}

// Sweep removes what processes that were killed while they made a base left.
func (s Store) Sweep() error {
	entries, err := os.ReadDir(filepath.Dir(s.State.Base("x")))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		key, ok := strings.CutSuffix(e.Name(), ".new")
		if !ok {
			continue
		}
		release, err := s.State.Lock(lockOf(key), false)
		if errors.Is(err, state.ErrLocked) {
			continue // it is being made
		}
		if err != nil {
			return err
		}
		err = s.erasePartial(key)
		release()
		if err != nil {
			return err
		}
	}
	return nil
}
