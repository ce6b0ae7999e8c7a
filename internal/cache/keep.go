package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"cordon/internal/overlay"
	"cordon/internal/plainfile"
)

// Part is one directory of caches, as a run left it.
type Part struct {
	Name  string   // in a generation: a path
	Upper string   // what the run wrote
	Below []string // what it saw below of an earlier generation, if anything
	Base  []string // tracked files that it lies on, which are not kept
	// Wanted says of a path below whether it is kept, with everything in it. Directories
	// that are not wanted are looked into. nil: everything is.
	Wanted func(rel string) bool
	// Never says which names are not kept wherever they are; nil: none.
	Never func(rel string) bool
	// Apart copies what the run wrote instead of sharing it: who looks at the run's files
	// afterwards finds each under one name.
	Apart bool
	// Notes are files of cordon's making for a directory that is kept, instead of what the
	// run left there; nil: none.
	Notes func(dir fs.FS) (map[string]string, error)
	// Origin is written down beside the part.
	Origin Origin
}

// Origin is which version of the tracked files a run saw, and what later ones must not
// take for it: tools compare the times of files, and a checkout of an older version can
// be older than what was made from a newer one.
type Origin struct {
	Commit string           `json:"commit,omitempty"` // "": it is not known
	Made   int64            `json:"made,omitempty"`   // every file of the part is older, in nanoseconds
	Since  map[string]int64 `json:"since,omitempty"`  // tracked files that changed while the part was handed on, and when
}

// Bounds of one generation.
const (
	maxFiles = 400_000
	maxBytes = 8 << 30
	maxDepth = 128
)

var errTooLarge = errors.New("the caches are too large to keep")

// Keep makes a generation of what a run left, and returns its name. It is "" where that
// is nothing, or more than is kept: then the next worker begins with empty caches.
func (s Store) Keep(ctx context.Context, key string, parts []Part) (Name, error) {
	release, err := s.State.Await(ctx, turnOf(key))
	if err != nil {
		return "", err
	}
	defer release()
	number := 1
	if all := s.numbers(key); len(all) > 0 {
		number = all[len(all)-1] + 1
	}
	n := named(key, number)
	err = s.build(ctx, n, parts)
	if errors.Is(err, errTooLarge) { // without what was there before
		alone := make([]Part, len(parts))
		for i, p := range parts {
			p.Below = nil
			alone[i] = p
		}
		err = s.build(ctx, n, alone)
	}
	if errors.Is(err, errTooLarge) {
		err = s.build(ctx, n, nil)
	}
	if err != nil {
		return "", errors.Join(err, s.State.Erase(s.path(n)+unfinished))
	}
	return n, nil
}

// Touched reports whether a run wrote something that would be kept.
func (p Part) Touched() (bool, error) {
	d, err := overlay.Open(p.Upper)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer d.Close()
	return p.touches(d, "", 0)
}

func (p Part) touches(d *overlay.Dir, rel string, depth int) (bool, error) {
	entries, err := d.Entries()
	if err != nil || depth > maxDepth {
		return false, err
	}
	for _, e := range entries {
		at := path.Join(rel, e.Name)
		if p.Wanted == nil || p.Wanted(at) {
			return true, nil
		}
		if e.Kind() != unix.S_IFDIR {
			continue
		}
		sub, err := e.Dir()
		if err != nil {
			return false, err
		}
		found, err := p.touches(sub, at, depth+1)
		sub.Close()
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// build makes a generation next to its final place and renames it when it is complete.
func (s Store) build(ctx context.Context, n Name, parts []Part) error {
	partial := s.path(n) + unfinished
	if err := s.State.Erase(partial); err != nil { // of a process that was killed
		return err
	}
	if err := os.MkdirAll(partial, 0o700); err != nil {
		return err
	}
	room := room{files: maxFiles, bytes: maxBytes}
	for _, p := range parts {
		if err := p.copy(ctx, filepath.Join(partial, p.Name), &room); err != nil {
			return err
		}
	}
	dir, err := os.Open(partial)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := sync(dir); err != nil { // an empty file under a key would be believed
		return err
	}
	return os.Rename(partial, s.path(n))
}

// Outline is where a part touches the directories that it is shown in.
type Outline struct {
	Dirs  []string `json:"dirs"`  // directories that hold something of the part, and more
	Roots []string `json:"roots"` // what is the part's as a whole
	Origin
}

// outlineFile lies beside a part.
func outlineFile(part string) string { return part + ".json" }

// room is how much may still be kept.
type room struct{ files, bytes int64 }

// takes counts an entry. A copy has no holes: a file of holes costs a worker nothing.
func (r *room) takes(st *unix.Stat_t, copied bool) error {
	r.files--
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		size := st.Blocks * 512
		if copied {
			size = max(size, st.Size)
		}
		r.bytes -= size
	}
	if r.files < 0 || r.bytes < 0 {
		return errTooLarge
	}
	return nil
}

// copier copies one part.
type copier struct {
	ctx     context.Context
	part    Part
	room    *room
	outline Outline
}

// copy makes a part. Its data are shared with where they come from: neither is written
// again.
func (p Part) copy(ctx context.Context, to string, room *room) error {
	layers := []string{}
	for _, l := range append([]string{p.Upper}, p.Below...) {
		if fi, err := os.Lstat(l); err == nil && fi.IsDir() {
			layers = append(layers, l)
		}
	}
	if len(layers) == 0 {
		return nil
	}
	from, err := overlay.Open(layers...)
	if err != nil {
		return err
	}
	defer from.Close()
	var base *overlay.Dir
	if len(p.Base) > 0 {
		if base, err = overlay.Open(p.Base...); err != nil {
			return err
		}
		defer base.Close()
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	c := &copier{ctx: ctx, part: p, room: room}
	target := &place{path: to}
	if err := c.search(from, base, target, "", 0); err != nil {
		return err
	}
	c.outline.Origin = p.Origin
	perm := fs.FileMode(0o755)
	if fi, err := os.Lstat(layers[0]); err == nil {
		perm = fi.Mode().Perm()
	}
	text, err := json.Marshal(c.outline)
	if err != nil {
		return err
	}
	return errors.Join(os.Chmod(to, perm|0o700), os.WriteFile(outlineFile(to), text, 0o600))
}

// note writes the notes of a directory, and returns their names. The directory is of this
// generation, and the files that they replace may be shared.
func (p Part) note(dir string) ([]string, error) {
	if p.Notes == nil {
		return nil, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	notes, err := p.Notes(root.FS())
	if err != nil {
		return nil, err
	}
	for name, text := range notes {
		if err := errors.Join(root.RemoveAll(name), root.WriteFile(name, []byte(text), 0o644)); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(notes)), nil
}

// search looks for what is wanted. base is nil where no tracked file lies below.
func (c *copier) search(from, base *overlay.Dir, to *place, rel string, depth int) error {
	entries, err := from.Entries()
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(rel, e.Name)
		if c.part.Never != nil && c.part.Never(at) || !utf8.ValidString(e.Name) { // an outline could not name it
			continue
		}
		tracked, inBase, err := lookUp(base, e.Name)
		if err != nil {
			return err
		}
		wanted := c.part.Wanted == nil || c.part.Wanted(at)
		switch {
		case inBase && (tracked.Kind() != unix.S_IFDIR || e.Kind() != unix.S_IFDIR): // the next base may have another
		case !inBase && wanted:
			if err := c.take(e, to, at, depth); err != nil {
				return err
			}
			c.outline.Roots = append(c.outline.Roots, at)
		case e.Kind() == unix.S_IFDIR && depth < maxDepth:
			if err := c.enter(e, tracked, inBase, to, at, depth); err != nil {
				return err
			}
		}
	}
	return c.noteParts(base, to, rel)
}

// noteParts writes the notes of a directory that is not kept as a whole. A tracked file is
// never replaced: then nothing is kept.
func (c *copier) noteParts(base *overlay.Dir, to *place, rel string) error {
	if to.in != nil && !to.made {
		return nil
	}
	noted, err := c.part.note(to.path)
	for _, name := range noted {
		at := path.Join(rel, name)
		_, tracked, err := lookUp(base, name)
		if err != nil || tracked {
			return errors.Join(err, fmt.Errorf("%s: %w", at, fs.ErrExist))
		}
		if !slices.Contains(c.outline.Roots, at) {
			c.outline.Roots = append(c.outline.Roots, at)
		}
	}
	return err
}

// enter looks into a directory that is not kept as a whole.
func (c *copier) enter(e, tracked overlay.Entry, inBase bool, to *place, at string, depth int) error {
	from, err := e.Dir()
	if err != nil {
		return err
	}
	defer from.Close()
	var base *overlay.Dir
	if inBase {
		if base, err = tracked.Dir(); err != nil {
			return err
		}
		defer base.Close()
	}
	before := len(c.outline.Roots)
	if err := c.search(from, base, &place{path: filepath.Join(to.path, e.Name), perm: e.Perm(), in: to}, at, depth+1); err != nil {
		return err
	}
	if len(c.outline.Roots) > before {
		c.outline.Dirs = append(c.outline.Dirs, at)
	}
	return nil
}

func lookUp(base *overlay.Dir, name string) (overlay.Entry, bool, error) {
	if base == nil {
		return overlay.Entry{}, false, nil
	}
	e, err := base.Entry(name)
	if errors.Is(err, fs.ErrNotExist) {
		return e, false, nil
	}
	return e, err == nil, err
}

// place is a directory of a generation, made when something is put into it.
type place struct {
	path string
	perm fs.FileMode
	in   *place // nil: it is there
	made bool
}

func (p *place) make() error {
	if p.in == nil || p.made {
		return nil
	}
	if err := p.in.make(); err != nil {
		return err
	}
	p.made = true
	return os.Mkdir(p.path, p.perm|0o700)
}

// take keeps one entry with everything in it. What is neither a directory, a link nor a
// plain file without special bits is left out.
func (c *copier) take(e overlay.Entry, to *place, at string, depth int) error {
	if err := errors.Join(c.ctx.Err(), c.room.takes(&e.Stat, c.apart(e))); err != nil {
		return err
	}
	if c.part.Never != nil && c.part.Never(at) || depth > maxDepth {
		return nil
	}
	if err := to.make(); err != nil {
		return err
	}
	switch {
	case e.Kind() == unix.S_IFDIR:
		return c.takeDirectory(e, to, at, depth)
	case e.Kind() == unix.S_IFLNK, e.Kind() == unix.S_IFREG && e.Stat.Mode&0o7000 == 0:
		return c.takeFile(e, to.path)
	}
	return nil
}

// apart reports whether an entry is copied.
func (c *copier) apart(e overlay.Entry) bool { return c.part.Apart && e.Layer() == 0 }

// takeFile keeps a file or a link.
func (c *copier) takeFile(e overlay.Entry, to string) error {
	if c.apart(e) {
		return copyFile(e, filepath.Join(to, e.Name), c.part.Origin.Made)
	}
	dir, err := os.Open(to)
	if err != nil {
		return err
	}
	defer dir.Close()
	return e.LinkInto(dir)
}

// copyFile copies a file or a link. Tools compare the times of files: all are from before the
// part was made, if that is known. For make, a file is up to date if its source is as old.
func copyFile(e overlay.Entry, to string, made int64) error {
	if e.Kind() == unix.S_IFLNK {
		target, err := e.Readlink()
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	in, err := e.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	fi, serr := in.Stat()
	if err = errors.Join(err, serr, out.Chmod(e.Perm()), out.Close()); err != nil {
		return err
	}
	at := fi.ModTime()
	if last := time.Unix(0, made).Add(-time.Millisecond); made > 0 && at.After(last) {
		at = last
	}
	return os.Chtimes(to, at, at)
}

func (c *copier) takeDirectory(e overlay.Entry, to *place, at string, depth int) error {
	path := filepath.Join(to.path, e.Name)
	if err := os.Mkdir(path, 0o700); err != nil {
		return err
	}
	from, err := e.Dir()
	if errors.Is(err, fs.ErrPermission) { // it was closed by who made it, and is nobody's cache
		return nil
	}
	if err != nil {
		return err
	}
	defer from.Close()
	entries, err := from.Entries()
	if err != nil {
		return err
	}
	here := &place{path: path}
	for _, sub := range entries {
		if err := c.take(sub, here, at+"/"+sub.Name, depth+1); err != nil {
			return err
		}
	}
	if _, err := c.part.note(path); err != nil {
		return err
	}
	return os.Chmod(path, e.Perm()|0o500)
}

// ReadOutline is the outline of a part of a generation; fs.ErrNotExist where it has none.
func ReadOutline(part string) (Outline, error) {
	var o Outline
	text, err := plainfile.Read(outlineFile(part), 64<<20)
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, fmt.Errorf("%s: %w", outlineFile(part), err)
	}
	return o, nil
}

// Fits reports whether a part of a generation can be shown above directories: what it
// holds as a whole is not there, and the directories around are.
func Fits(part string, base []string) (bool, error) {
	o, err := ReadOutline(part)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d, err := overlay.Open(base...)
	if err != nil {
		return false, err
	}
	defer d.Close()
	for _, dir := range o.Dirs {
		sub, err := d.Sub(dir)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		sub.Close()
	}
	for _, root := range o.Roots {
		there, err := exists(d, root)
		if err != nil || there {
			return false, err
		}
	}
	return true, nil
}

func exists(d *overlay.Dir, rel string) (bool, error) {
	dir := d
	if up := path.Dir(rel); up != "." {
		sub, err := d.Sub(up)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return true, err
		}
		defer sub.Close()
		dir = sub
	}
	_, err := dir.Entry(path.Base(rel))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
