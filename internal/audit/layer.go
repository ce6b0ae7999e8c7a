package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/legible"
	"cordon/internal/overlay"
	"cordon/internal/plainfile"
)

// Layers are the directories that took what a worker wrote outside its tree.
// None of it reached the host: what is found there is evidence, and never lands.
type Layers struct {
	Top     string // holds them all
	Home    string // of the worker
	Capture bool   // what is written outside is a violation, in the home too where it matters
	List    []Layer
}

// Layer is one of them.
type Layer struct {
	Name    string
	At      string // where the worker saw it
	Host    string // the host's directory below it; "": the one at At
	Overlay bool   // overlayfs keeps it, above the host's own directory; else it began empty
	IsHome  bool   // the worker's own, but for what the operator would run or trust
	// What cordon itself did: names of which it hid what the host has, and
	// directories that it made.
	Hidden []string
	Made   []string
}

// Bounds of what is read of layers. What lies beyond them is counted, and kept.
const (
	maxLayerFindings = 5000
	maxLayerFile     = 256 << 20
	maxLayerTotal    = 4 << 30
)

// The rules by which something in a layer is reported.
const (
	outsideRule = "nothing outside the tree may be written; the host is unchanged"
	touchedRule = "opened for writing and left as it was; the host is unchanged"
	ownHomeRule = "; written in the worker's own home, yours is unchanged"
)

// layerSource begins the source of a finding that is about a layer.
const layerSource = "layer "

func (l Layer) source() string { return layerSource + l.Name }

// Outside reports whether a finding is about something in a layer.
func (f Finding) Outside() bool { return strings.HasPrefix(f.Source, layerSource) }

// kept is the part of a layer that holds the worker's files.
func (l Layer) kept() string {
	if l.Overlay {
		return l.Name + "/upper"
	}
	return l.Name
}

// Outside reports what a worker wrote outside its tree. What cannot be looked at
// is a violation; an error means that the audit was interrupted.
func Outside(ctx context.Context, ls Layers) ([]Finding, error) {
	w := &layerWalk{ctx: ctx, capture: ls.Capture}
	for _, l := range ls.List {
		w.layer = l
		w.home = ""
		if l.IsHome {
			w.home = strings.Trim(strings.TrimPrefix(l.At, ls.Home), "/")
		}
		w.own = ownNames(l)
		if err := w.walk(ls.Top); err != nil {
			return nil, err
		}
	}
	if w.more > 0 {
		w.found = append(w.found, Finding{
			Change: Change{Kind: TooLarge, Source: "layers", Detail: fmt.Sprintf("and %d more paths", w.more)},
			Class:  w.moreClass, Rule: outsideRule,
		})
	}
	return w.found, nil
}

// ownName is what cordon did at a name of a layer.
type ownName uint8

const (
	ownAbove  ownName = 1 << iota // it may have made a directory on the way to another
	ownMade                       // it made a directory, in which the worker saw nothing of the host's
	ownHidden                     // the worker saw nothing of the host's there
)

func ownNames(l Layer) map[string]ownName {
	own := map[string]ownName{}
	add := func(list []string, as ownName) {
		for _, name := range list {
			own[name] |= as
			for d := path.Dir(name); d != "."; d = path.Dir(d) {
				own[d] |= ownAbove
			}
		}
	}
	add(l.Hidden, ownHidden)
	add(l.Made, ownMade)
	return own
}

// layerWalk reads layers, one after the other.
type layerWalk struct {
	ctx     context.Context
	capture bool

	layer Layer
	home  string // where the layer is below the home
	own   map[string]ownName

	entries   int
	read      int64
	found     []Finding
	more      int
	moreClass Class
}

// place is a directory of a layer while it is read, beside the host's directory
// that it covers. The host's is nil where the worker saw nothing of it.
type place struct {
	rel   string
	dir   *os.File
	host  *os.File
	depth int
}

// layerEntry is one name in a place.
type layerEntry struct {
	place
	name string
	rel  string
	st   unix.Stat_t
	old  *unix.Stat_t // the host's; nil: the worker saw none
	why  string       // in a home: why it matters
}

func (w *layerWalk) walk(top string) error {
	dir, err := openDirectory(filepath.Join(top, w.layer.Name))
	if err == nil && w.layer.Overlay {
		fd, e := openat(dir, "upper", unix.O_RDONLY|unix.O_DIRECTORY)
		dir.Close()
		dir, err = os.NewFile(uintptr(fd), "upper"), e
	}
	if err != nil {
		w.unreadable("", err)
		return nil
	}
	p := place{dir: dir}
	if w.layer.Overlay {
		if p.host, err = openHost(cmp.Or(w.layer.Host, w.layer.At)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.unreadable("", err)
		}
	}
	return w.directory(p)
}

func openDirectory(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// openHost opens a directory to look things up in it. It need not be readable.
func openHost(path string) (*os.File, error) {
	fd, err := unix.Open(path, pathOnly|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// directory reads one directory of a layer and closes it.
func (w *layerWalk) directory(p place) error {
	defer p.dir.Close()
	if p.host != nil {
		defer p.host.Close()
	}
	if p.depth > maxDepth {
		w.unreadable(p.rel, fmt.Errorf("more than %d directories deep", maxDepth))
		return nil
	}
	names, err := plainfile.Names(p.dir, maxEntries)
	if err != nil {
		w.unreadable(p.rel, err)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if w.entries++; w.entries > maxEntries {
			w.unreadable(p.rel, fmt.Errorf("the layers hold more than %d names", maxEntries))
			return nil
		}
		if err := w.entry(p, name); err != nil {
			return err
		}
	}
	return nil
}

// entry looks at one name.
func (w *layerWalk) entry(p place, name string) error {
	e := layerEntry{place: p, name: name, rel: path.Join(p.rel, name)}
	var leads bool
	if w.layer.IsHome {
		if e.why, leads = trusted(path.Join(w.home, e.rel)); e.why == "" && !leads {
			return nil // a cache, or anything else of the worker's own
		}
	}
	if err := fstatat(p.dir, name, &e.st); err != nil {
		w.unreadable(e.rel, err)
		return nil
	}
	if p.host != nil && w.own[e.rel]&ownHidden == 0 {
		var old unix.Stat_t
		switch err := fstatat(p.host, name, &old); {
		case err == nil:
			e.old = &old
		case !errors.Is(err, unix.ENOENT):
			w.unreadable(e.rel, err)
		}
	}
	switch {
	case kindOfStat(&e.st) == unix.S_IFDIR:
		return w.subdirectory(e)
	case w.layer.Overlay && overlay.Removed(&e.st):
		w.removed(e)
	default:
		w.node(e)
	}
	return nil
}

// removed is a name that is not there any more. Where the host has none, or the
// worker never saw it, cordon took it away, or it is gone anyhow. In a home cordon
// also takes away directories that are not there yet, for the sake of a name in
// them.
func (w *layerWalk) removed(e layerEntry) {
	if e.old != nil && !(w.layer.IsHome && w.own[e.rel]&ownAbove != 0) {
		w.add(e, Change{Kind: Deleted, Detail: "it was " + typeOf(e.old)})
	}
}

// subdirectory reads a directory below. It is a finding itself when it is new and
// nothing in it is, or when the host's was changed or put away.
func (w *layerWalk) subdirectory(e layerEntry) error {
	dir, restore, err := openOwn(e.dir, e.name, &e.st, unix.O_DIRECTORY, 0o500)
	if err != nil {
		w.unreadable(e.rel, err)
		return nil
	}
	defer restore()
	next := place{rel: e.rel, dir: dir, depth: e.depth + 1}
	covers := e.old != nil && kindOfStat(e.old) == unix.S_IFDIR
	anew := covers && w.layer.Overlay && opaque(dir)
	switch {
	case e.old != nil && !covers:
		w.add(e, Change{Kind: Retyped, Detail: fmt.Sprintf("%s became a directory", typeOf(e.old))})
	case anew:
		w.add(e, Change{Kind: Retyped, Detail: "the host's directory was removed and another one made"})
	case covers:
		if err := w.covered(e, &next); err != nil {
			w.unreadable(e.rel, err)
		}
	}
	before := len(w.found) + w.more
	if err := w.directory(next); err != nil {
		return err
	}
	if e.old == nil && before == len(w.found)+w.more && w.own[e.rel]&(ownMade|ownAbove) == 0 && !w.layer.IsHome {
		w.add(e, Change{Kind: Added, Detail: "an empty directory, " + modeWord(&e.st)})
	}
	return nil
}

// covered goes on in the host's directory that a layer's covers, and compares the
// two. A directory of cordon's own has the mode that cordon gave it.
func (w *layerWalk) covered(e layerEntry, next *place) error {
	if what := differs(e.old, &e.st); what != "" && w.own[e.rel] == 0 && !w.layer.IsHome {
		w.add(e, Change{Kind: Metadata, Detail: what})
	}
	if w.own[e.rel]&ownMade != 0 {
		return nil
	}
	fd, err := openat(e.host, e.name, pathOnly|unix.O_DIRECTORY)
	if err == nil {
		next.host = os.NewFile(uintptr(fd), e.name)
	}
	return err
}

// node is anything but a directory.
func (w *layerWalk) node(e layerEntry) {
	ch := Change{Size: e.st.Size}
	switch kind := kindOfStat(&e.st); {
	case kind == unix.S_IFLNK:
		target, err := readlinkat(e.dir, e.name, e.st.Size)
		if err != nil {
			w.unreadable(e.rel, err)
			return
		}
		ch.Target, ch.Detail = Path(target), "a symbolic link"
	case kind != unix.S_IFREG:
		ch.Detail = fileType(uint32(e.st.Mode))
	default:
		w.file(e, &ch)
		w.add(e, ch)
		return
	}
	switch {
	case e.old == nil:
		ch.Kind = Added
	case kindOfStat(e.old) != kindOfStat(&e.st):
		ch.Kind = Retyped
	case kindOfStat(&e.st) == unix.S_IFLNK && w.sameLink(e, string(ch.Target)):
		ch.Kind = touched
	default:
		ch.Kind = Modified
	}
	if kindOfStat(&e.st) != unix.S_IFLNK {
		ch.Kind = Special
	}
	w.add(e, ch)
}

func (w *layerWalk) sameLink(e layerEntry, target string) bool {
	old, err := readlinkat(e.host, e.name, e.old.Size)
	return err == nil && old == target
}

// touched is the kind of what was copied into a layer and is as the host's.
const touched Kind = "touched"

// add reports a change of the layer.
func (w *layerWalk) add(e layerEntry, ch Change) {
	class, rule := Violation, outsideRule
	switch {
	case w.layer.IsHome && ch.Kind == touched:
		return
	case w.layer.IsHome:
		if !w.capture {
			class = Note
		}
		if rule = e.why; rule == "" {
			rule = "it hides a file that your next login, shell or tools read"
		}
		rule += ownHomeRule
	case ch.Kind == touched:
		class, rule = Note, touchedRule
	}
	if ch.Kind != Deleted {
		ch.Kept = Path(path.Join(w.layer.kept(), e.rel))
	}
	w.report(e.rel, ch, class, rule)
}

// unreadable reports what could not be looked at. It is a violation in a home as
// well: nobody knows what it is.
func (w *layerWalk) unreadable(rel string, err error) {
	w.report(rel, Change{Kind: Unreadable, Detail: legible.Line(err.Error())}, Violation, never[Unreadable])
}

func (w *layerWalk) report(rel string, ch Change, class Class, rule string) {
	if len(w.found) >= maxLayerFindings {
		if w.more++; w.moreClass != Violation {
			w.moreClass = class
		}
		return
	}
	ch.Path, ch.Source = Path(path.Join(w.layer.At, rel)), w.layer.source()
	w.found = append(w.found, Finding{Change: ch, Class: class, Rule: rule})
}
