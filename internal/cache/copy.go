package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"cordon/internal/overlay"
	"cordon/internal/paths"
)

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
	c := &copier{ctx: ctx, part: p, room: room}
	found, err := c.fill(to)
	if err != nil || !found {
		return err
	}
	c.outline.Origin = p.Origin
	text, err := json.Marshal(c.outline)
	if err != nil {
		return err
	}
	return os.WriteFile(outlineFile(to), text, 0o600)
}

// Carry puts what is wanted of a part into a directory, beside what is there. Nothing is too large for that.
func (p Part) Carry(ctx context.Context, to string) error {
	c := &copier{ctx: ctx, part: p, room: &room{files: math.MaxInt64, bytes: math.MaxInt64}}
	_, err := c.fill(to)
	return err
}

// fill copies what is wanted; found is false where the run left nothing.
func (c *copier) fill(to string) (found bool, err error) {
	layers := []string{}
	for _, l := range append([]string{c.part.Upper}, c.part.Below...) {
		if fi, err := os.Lstat(l); err == nil && fi.IsDir() {
			layers = append(layers, l)
		}
	}
	if len(layers) == 0 {
		return false, nil
	}
	from, err := overlay.Open(layers...)
	if err != nil {
		return false, err
	}
	defer from.Close()
	var base *overlay.Dir
	if len(c.part.Base) > 0 {
		if base, err = overlay.Open(c.part.Base...); err != nil {
			return false, err
		}
		defer base.Close()
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return false, err
	}
	if err := c.search(from, base, &place{path: to}, "", 0); err != nil {
		return false, err
	}
	perm := fs.FileMode(0o755)
	if fi, err := os.Lstat(layers[0]); err == nil {
		perm = fi.Mode().Perm()
	}
	return true, os.Chmod(to, perm|0o700)
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
			if err := c.takeRoot(e, to, at, depth); err != nil {
				return err
			}
		case e.Kind() == unix.S_IFDIR && depth < maxDepth:
			if err := c.enter(e, tracked, inBase, to, at, depth); err != nil {
				return err
			}
		case !inBase && c.part.Unwanted != nil:
			c.part.Unwanted(at, time.Unix(e.Stat.Ctim.Unix()))
		}
	}
	return c.noteParts(base, to, rel)
}

// takeRoot keeps what is wanted as a whole, or nothing of it if a link leads out of it: whoever uses the
// cache next would write and delete where the link leads. Without the link, tools would take half a
// cache for a whole one.
func (c *copier) takeRoot(e overlay.Entry, to *place, at string, depth int) error {
	if !c.part.Links {
		out, err := c.leadsOut(e, "", path.Join(c.part.At, at))
		if err != nil || out {
			return err
		}
	}
	c.outline.Roots = append(c.outline.Roots, at)
	return c.take(e, to, at, depth)
}

// leadsOut reports whether an entry of a root is or holds a link that leads out of the root. rel is where the
// entry is below the root, which cells show at a path.
func (c *copier) leadsOut(e overlay.Entry, rel, shown string) (bool, error) {
	depth := strings.Count(rel, "/")
	switch {
	case e.Kind() == unix.S_IFLNK && rel == "":
		return true, nil
	case e.Kind() == unix.S_IFLNK:
		target, err := e.Readlink()
		return !staysIn(target, depth, shown) && !c.leadsToTool(target), err
	case e.Kind() != unix.S_IFDIR || depth > maxDepth:
		return false, nil
	}
	d, err := e.Dir()
	if errors.Is(err, fs.ErrPermission) { // see takeDirectory
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer d.Close()
	entries, err := d.Entries()
	err = errors.Join(err, c.ctx.Err())
	for _, sub := range entries {
		if out, err := c.leadsOut(sub, path.Join(rel, sub.Name), shown); out || err != nil {
			return out, err
		}
	}
	return false, err
}

// leadsToTool reports whether a link leads to a tool, as the interpreter of a virtual environment does.
func (c *copier) leadsToTool(target string) bool {
	return path.Clean(target) == target && paths.WithinAny(target, c.part.Tools)
}

// staysIn reports whether a link that lies in so many directories of a root leads to something in it.
// ".." after a name counts as leading out: the name may be another link.
func staysIn(target string, depth int, shown string) bool {
	if below, ok := strings.CutPrefix(target, shown+"/"); ok {
		target, depth = below, 0
	}
	target += "/"
	for ; depth > 0 && strings.HasPrefix(target, "../"); depth-- {
		target = target[len("../"):]
	}
	return !path.IsAbs(target) && !slices.Contains(strings.Split(target, "/"), "..")
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
	if err := os.Mkdir(p.path, p.perm|0o700); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
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
