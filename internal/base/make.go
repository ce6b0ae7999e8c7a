package base

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"cordon/internal/git"
)

// order is one base to make.
type order struct {
	source   git.Repo
	commit   git.OID
	tree     git.OID
	progress git.Progress
}

func (o order) key() string { return string(o.tree) }

// errMoved says that the base below was removed or made again meanwhile.
var errMoved = errors.New("the base below it no longer exists")

// make makes a base, from a snapshot of another one or as a layer on it where that is
// cheaper. The caller holds its lock and has cleared its place.
func (s Store) make(ctx context.Context, o order) (Base, error) {
	below, changes, err := s.choose(ctx, o)
	if err != nil {
		return Base{}, err
	}
	if below == nil {
		return s.makeFull(ctx, o)
	}
	if s.flat(below) {
		b, err := s.makeFlat(ctx, o, below[0], changes)
		if !errors.Is(err, ErrNoSnapshot) {
			return b, err
		}
	}
	b, err := s.makeLayer(ctx, o, below, changes)
	if errors.Is(err, errMoved) {
		return s.makeFull(ctx, o)
	}
	return b, err
}

// makeLayer makes a base that lies on another one.
func (s Store) makeLayer(ctx context.Context, o order, below chain, changes []git.Delta) (Base, error) {
	on := below[0]
	r := record{Key: o.key(), Below: on.Key, BelowSum: on.Sum, Depth: on.Depth + 1, Changes: count(changes), Newest: on.Newest}
	r.Files, r.Submodules = on.after(changes)
	l := layerOf(changes)
	return s.put(ctx, o, below, r, func(d draft) error {
		if err := os.Mkdir(d.tree, 0o777); err != nil {
			return err
		}
		if err := d.copyIndex(s.indexOf(on.Key)); err != nil {
			return errors.Join(errMoved, err)
		}
		if err := d.repo.Layer(ctx, d.tree, o.tree, l.written); err != nil {
			return err
		}
		if o.progress != nil {
			o.progress(len(l.written), len(l.written))
		}
		return d.hide(l.gone)
	}, func(got sum) error { return l.holds(got, changes) })
}

// holds says whether a layer has as many files and whiteouts as it should.
func (l layer) holds(got sum, changes []git.Delta) error {
	files := len(l.written)
	for _, d := range changes {
		if d.New.Mode == git.Gitlink && d.Old.Mode != git.Gitlink {
			files--
		}
	}
	if got.files != files || got.holes != len(l.gone) {
		return fmt.Errorf("the layer has %d files and %d whiteouts, want %d and %d", got.files, got.holes, files, len(l.gone))
	}
	return nil
}

// makeFull makes a base that lies on none.
func (s Store) makeFull(ctx context.Context, o order) (Base, error) {
	files, err := o.source.Tree(ctx, o.tree)
	if err != nil {
		return Base{}, err
	}
	r := record{Key: o.key(), Depth: 1}
	for _, f := range files {
		if f.Mode == git.Gitlink {
			r.Submodules = append(r.Submodules, []byte(f.Path))
			continue
		}
		r.Files++
	}
	slices.SortFunc(r.Submodules, slices.Compare)
	return s.put(ctx, o, nil, r, func(d draft) error {
		if err := s.plant(d); err != nil {
			return err
		}
		return d.repo.Populate(ctx, d.tree, o.commit, branch, o.progress)
	}, r.whole)
}

// put makes a base beside its place and moves it there when it is whole and on
// disk. Nothing else is left, whether it fails or not.
func (s Store) put(ctx context.Context, o order, below chain, r record, fill func(draft) error, check func(sum) error) (Base, error) {
	d, err := s.draft(ctx, o)
	if err == nil {
		err = s.finish(ctx, d, &r, fill, check)
	}
	if err == nil {
		err = s.publish(ctx, d, r)
	}
	if err = errors.Join(err, s.erasePartial(r.Key)); err != nil {
		return Base{}, fmt.Errorf("the base %s: %w", o.tree.Short(), err)
	}
	b := s.base(append(chain{r}, below...))
	b.Made = r.words()
	return b, nil
}

// words say how a base was made.
func (r record) words() string {
	switch {
	case r.From != "":
		return fmt.Sprintf("snapshot of %s with %s", git.OID(r.From).Short(), amount(r.Changes, "change"))
	case r.Below == "":
		return "checkout of " + amount(r.Files, "file")
	}
	return fmt.Sprintf("layer of %s on %s", amount(r.Changes, "change"), git.OID(r.Below).Short())
}

// amount writes a number for people: 90,000 files, 1 file.
func amount(n int, what string) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if n != 1 {
		what += "s"
	}
	return digits + " " + what
}

func (s Store) finish(ctx context.Context, d draft, r *record, fill func(draft) error, check func(sum) error) error {
	if err := fill(d); err != nil {
		return err
	}
	earlier, err := s.lastUsed()
	if err == nil {
		err = d.seal(ctx, s.Format, earlier, r, check)
	}
	if err != nil {
		return err
	}
	return flush(d.dir)
}

// lastUsed is the index of the base that was used last, or "".
func (s Store) lastUsed() (index string, err error) {
	all, err := s.List()
	for _, k := range all {
		if !k.Broken {
			return filepath.Join(s.indexOf(k.Key), "index"), nil
		}
	}
	return "", err
}

// publish moves a finished base to its place, if what it lies on is still there.
func (s Store) publish(ctx context.Context, d draft, r record) error {
	release, err := s.State.Await(ctx, storeLock)
	if err != nil {
		return err
	}
	defer release()
	if r.Below != "" {
		if now, err := s.read(r.Below); err != nil || now.Sum != r.BelowSum {
			return errMoved
		}
	}
	return os.Rename(d.dir, s.State.Base(r.Key))
}

// draft is a base that is being made.
type draft struct {
	dir  string
	tree string   // not there at first
	repo git.Repo // for git to write with; it goes when it is done
}

// branch is what HEAD of a draft's repository points at.
const branch = "base"

// draft begins a base, under a name that nobody had before: the git of a process
// that was killed here may still be about to write where it was told to, and then
// finds that place gone.
func (s Store) draft(ctx context.Context, o order) (draft, error) {
	place := s.newOf(o.key())
	if err := os.MkdirAll(place, 0o700); err != nil {
		return draft{}, err
	}
	dir, err := os.MkdirTemp(place, "")
	if err != nil {
		return draft{}, err
	}
	d := draft{dir: dir, tree: filepath.Join(dir, "tree")}
	if err := os.Mkdir(filepath.Join(dir, "index"), 0o777); err != nil {
		return d, err
	}
	d.repo, err = git.Init(ctx, s.Bin, filepath.Join(dir, "repo"), git.InitOptions{Format: s.Format, Alternate: o.source.ObjectsDir(), Branch: branch})
	return d, err
}

func (d draft) copyIndex(from string) error {
	data, err := os.ReadFile(filepath.Join(from, "index"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.repo.Dir, "index"), data, 0o644)
}

// hide makes whiteouts, in directories with the modes that git gives.
func (d draft) hide(paths []string) error {
	for _, p := range paths {
		at := filepath.Join(d.tree, p)
		if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
			return err
		}
		if err := whiteout(at); err != nil {
			return err
		}
	}
	return nil
}

// seal takes the index out of the repository, which goes, and writes the record. earlier is the index of
// an earlier base, if there is one.
func (d draft) seal(ctx context.Context, format git.Format, earlier string, r *record, check func(sum) error) error {
	index := filepath.Join(d.dir, "index", "index")
	if err := os.Rename(filepath.Join(d.repo.Dir, "index"), index); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Dir(d.repo.Dir)); err != nil { // made just now, under a name of our own
		return err
	}
	if err := age(ctx, d.tree, index, earlier, format); err != nil {
		return err
	}
	if err := d.sums(ctx, index, r, check); err != nil {
		return err
	}
	text, err := r.encode()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.dir, "base.json"), text, 0o600)
}

func (d draft) sums(ctx context.Context, index string, r *record, check func(sum) error) error {
	files, err := sumOf(ctx, d.tree)
	if err != nil {
		return err
	}
	if err := errors.Join(check(files), d.outnumber(ctx, files.inode)); err != nil {
		return err
	}
	r.Format, r.Made = formatVersion, time.Now().UTC()
	r.Newest = max(r.Newest, files.newest)
	// The index is newer than every file, whatever the clock did in between.
	now := max(r.Made.Unix(), r.Newest+1)
	if err := os.Chtimes(index, time.Unix(now, 0), time.Unix(now, 0)); err != nil {
		return err
	}
	list, err := sumOf(ctx, filepath.Dir(index))
	if err != nil {
		return err
	}
	r.Tree, r.Index, r.Bytes = files.digest, list.digest, files.bytes+list.bytes
	return nil
}
