package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/overlay"
	"cordon/internal/plainfile"
)

// Part is one directory of caches, as a run left it.
type Part struct {
	Name  string   // in a generation: a path
	At    string   // where cells show it
	Tools []string // directories that links may lead to: of the machine, and of toolchains
	Upper string   // what the run wrote
	Below []string // what it saw below of an earlier generation, if anything
	Base  []string // tracked files that it lies on, which are not kept
	// Wanted says of a path below whether it is kept, with everything in it. Directories
	// that are not wanted are looked into. nil: everything is.
	Wanted func(rel string) bool
	// Never says which names are not kept wherever they are; nil: none.
	Never func(rel string) bool
	// Unwanted hears of files that are neither tracked nor wanted, and when they were changed; nil: nobody does.
	Unwanted func(rel string, changed time.Time)
	// Links keeps links that lead anywhere: nobody else's files are where they lead.
	Links bool
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

// Touched reports whether a run wrote something that would be kept, or removed something that was kept before.
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
	names, err := d.Names()
	if err != nil || depth > maxDepth {
		return false, err
	}
	for _, name := range names {
		at := path.Join(rel, name)
		if p.Wanted == nil || p.Wanted(at) {
			return true, nil
		}
		e, err := d.Entry(name)
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was removed, with all that was kept in it
			if held, err := p.hold(at); held || err != nil {
				return held, err
			}
			continue
		case err != nil:
			return false, err
		case e.Kind() != unix.S_IFDIR:
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

// hold reports whether something was kept at a path before.
func (p Part) hold(at string) (bool, error) {
	for _, below := range p.Below {
		d, err := overlay.Open(below)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, err
		}
		sub, err := d.Sub(at)
		d.Close()
		switch {
		case err == nil:
			sub.Close()
			return true, nil
		case errors.Is(err, unix.ENOTDIR):
			return true, nil
		case !errors.Is(err, fs.ErrNotExist):
			return false, err
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
