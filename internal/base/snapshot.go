package base

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"cordon/internal/git"
)

// On btrfs the tree of a base is a subvolume. A snapshot of it is a directory of its
// own with the same files, made in a moment: the next base begins as one, so that
// none lies on another, and so may a worker's tree. Inodes and times are those of the
// original, so that the index stays true.

// ErrNoSnapshot says that a base cannot be copied by a snapshot.
var ErrNoSnapshot = errors.New("no snapshot")

// TrySnapshot says whether a snapshot can be made in a directory, by making one. It
// leaves nothing behind.
func TrySnapshot(dir string) error {
	if !onBtrfs(dir) {
		return fmt.Errorf("%w: not on btrfs", ErrNoSnapshot)
	}
	place, err := os.MkdirTemp(dir, "try-*.new") // what is left of it, Sweep takes
	if err != nil {
		return err
	}
	defer os.RemoveAll(place) // made just now
	from := filepath.Join(place, "from")
	if err := makeSubvolume(from); err != nil {
		return fmt.Errorf("%w: btrfs cannot create a subvolume: %w", ErrNoSnapshot, err)
	}
	if err := makeSnapshot(from, filepath.Join(place, "to")); err != nil {
		return fmt.Errorf("%w: btrfs cannot create one: %w", ErrNoSnapshot, err)
	}
	return nil
}

// Snapshots reports whether bases of this store can be copied by snapshots, and tries
// it where there is none yet.
func (s Store) Snapshots() bool { return s.HasSnapshots() || TrySnapshot(s.State.Base("")) == nil }

// HasSnapshots reports whether the store has a base that can be copied by a snapshot.
func (s Store) HasSnapshots() bool {
	if !onBtrfs(s.State.Base("")) {
		return false
	}
	all, err := s.List()
	return err == nil && slices.ContainsFunc(all, func(k Kept) bool { return isSubvolume(s.treeOf(k.Key)) })
}

// Snapshot makes a copy of a base's files, to be written, at a place where nothing
// is. It may be there, and worth nothing, where this fails.
func (s Store) Snapshot(b Base, to string) error {
	if len(b.Layers) != 1 || !isSubvolume(b.Layers[0]) {
		return fmt.Errorf("the base %s: %w: it is not a subvolume", git.OID(b.Key).Short(), ErrNoSnapshot)
	}
	r, err := s.read(b.Key)
	if err == nil {
		err = s.snapshot(r, to)
	}
	if err != nil {
		return fmt.Errorf("%w of the base %s: %w", ErrNoSnapshot, git.OID(b.Key).Short(), err)
	}
	return nil
}

// snapshot makes one of the base that a record is of. A base is erased only after it
// was moved away: if it is still there, the snapshot is of the whole of it.
func (s Store) snapshot(r record, to string) error {
	if err := makeSnapshot(s.treeOf(r.Key), to); err != nil {
		return &os.PathError{Op: "snapshot", Path: to, Err: err}
	}
	if now, err := s.read(r.Key); err != nil || now.Sum != r.Sum {
		return errMoved
	}
	return nil
}

// plant makes the empty tree of a draft, as a subvolume where it can be one, with the
// mode that the umask leaves.
func (s Store) plant(d draft) error {
	if !onBtrfs(d.dir) || makeSubvolume(d.tree) != nil {
		return os.Mkdir(d.tree, 0o777)
	}
	fi, err := os.Lstat(filepath.Join(d.dir, "index"))
	if err != nil {
		return err
	}
	return os.Chmod(d.tree, fi.Mode().Perm())
}

// flat reports whether another base can begin as a snapshot of a chain.
func (s Store) flat(below chain) bool { return len(below) == 1 && isSubvolume(s.treeOf(below[0].Key)) }

// makeFlat makes a base that begins as a snapshot of another one and lies on none.
func (s Store) makeFlat(ctx context.Context, o order, from record, changes []git.Delta) (Base, error) {
	r := record{Key: o.key(), From: from.Key, Depth: 1, Changes: count(changes)}
	r.Files, r.Submodules = from.after(changes)
	written := layerOf(changes).written
	return s.put(ctx, o, nil, r, func(d draft) error {
		if err := s.snapshot(from, d.tree); err != nil {
			return errors.Join(ErrNoSnapshot, err)
		}
		if err := d.copyIndex(s.indexOf(from.Key)); err != nil {
			return errors.Join(ErrNoSnapshot, err)
		}
		if err := d.clear(stale(changes)); err != nil {
			return err
		}
		if err := d.repo.Layer(ctx, d.tree, o.tree, written); err != nil {
			return err
		}
		if o.progress != nil {
			o.progress(len(written), len(written))
		}
		return nil
	}, r.whole)
}

// whole says whether a tree that lies on none has as many files as it should.
func (r record) whole(got sum) error {
	if got.files != r.Files || got.holes != 0 {
		return fmt.Errorf("the checkout has %d files, want %d", got.files, r.Files)
	}
	return nil
}

// stale are the paths of the old tree that go or are written anew, what is in a
// directory before the directory.
func stale(changes []git.Delta) []string {
	old, new := modes(changes)
	var list []string
	for p, m := range old {
		if (m == git.Directory || m == git.Gitlink) && new[p] == m {
			continue
		}
		list = append(list, p)
	}
	slices.Sort(list)
	slices.Reverse(list)
	return list
}

// clear removes files and empty directories of a draft's tree.
func (d draft) clear(paths []string) error {
	root, err := os.OpenRoot(d.tree)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, p := range paths {
		if err := root.Remove(p); err != nil {
			return err
		}
	}
	return nil
}

// outnumber sees to it that no file outside of a draft's tree gets the number of one
// inside, of which the highest is given. Subvolumes count from the same number, an
// overlay takes them for one file system, and programs in it would take two files, or
// a directory and one that it is in, for the same. Numbers only grow, so that it is
// enough to be past them: where the disk is new, by making files that nobody sees.
// The record, which is made next and stays, keeps it so when the disk is mounted anew.
func (d draft) outnumber(ctx context.Context, highest uint64) error {
	if !isSubvolume(d.tree) {
		return nil
	}
	for {
		next, err := nextInode(d.dir)
		if err != nil || next > highest {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}
