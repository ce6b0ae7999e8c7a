package plan

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/paths"
)

// view is the file system of the cell, and the directories in it that are closed.
func view(o Order, h Host, overlays bool) (ops []Op, closed []string) {
	v := &viewer{order: o, host: h, overlays: overlays, placed: o.Placed(), hides: map[string]bool{}}
	for _, path := range slices.Concat(o.Hide, h.Aliases) {
		v.hides[path] = !slices.Contains(o.Write, path)
	}
	v.root()
	v.rooms()
	v.replaced()
	v.home()
	v.scratch()
	v.opened()
	v.inWrite()
	v.hidden()
	v.holes()
	closed = v.closed()
	v.sort()
	return v.ops, closed
}

type viewer struct {
	order    Order
	host     Host
	overlays bool
	placed   []string        // what is put into the view by name
	hides    map[string]bool // what is not seen, unless it is written in place
	ops      []Op
	at       []string // where each of them is, as filepath.Clean leaves it
}

// add puts an operation into the view, unless it would show something of the host's in a hidden
// directory: whatever is mounted or held there, a hidden directory shows only what was placed in it.
func (v *viewer) add(op Op) {
	if op.Do.showsHost() && v.unseen(op.At) {
		return
	}
	v.ops, v.at = append(v.ops, op), append(v.at, filepath.Clean(op.At))
}

// unseen reports whether a path lies in a hidden directory, and in nothing that was placed there.
func (v *viewer) unseen(path string) bool {
	for path != "/" && !v.named(path) {
		if path = filepath.Dir(path); v.hides[path] {
			return true
		}
	}
	return false
}

// over is the operation through which a path is seen. Nearest wins.
func (v *viewer) over(path string) *Op {
	best := -1
	if path != "" {
		path = filepath.Clean(path)
	}
	for i, at := range v.at {
		if paths.Inside(path, at) && (best < 0 || len(v.ops[i].At) >= len(v.ops[best].At)) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &v.ops[best]
}

// readsAll reports whether the policy leaves the machine readable as a whole.
func (v *viewer) readsAll() bool {
	return len(v.order.Read) == 0 || slices.Contains(v.order.Read, "/")
}

// root shows what may be read.
func (v *viewer) root() {
	if v.readsAll() {
		v.show("/")
		return
	}
	top := Op{Do: Skeleton, At: "/", Mode: 0o755}
	for _, e := range v.host.Lists["/"] {
		if e.Kind == Symbolic {
			top.Links = append(top.Links, Link{e.Name, e.To})
		}
	}
	v.add(top)
	for _, r := range v.order.Read {
		if v.host.Kinds[r] == Symbolic && filepath.Dir(r) == "/" {
			continue // the link is there, and what it leads to is a root of its own
		}
		if v.host.Kinds[r] != Absent && !v.isReplaced(r) {
			v.show(r)
		}
	}
}

// captured is the layer for what is written where nothing may be written.
func (v *viewer) captured(at string) string {
	if v.order.Capture {
		return outsideLayer(at)
	}
	return ""
}

// maxEntries bounds how many mounts one directory may need.
const maxEntries = 300

// show makes a directory of the host visible. An overlay is preferred to a bind
// also where nothing can be written: sockets of the host cannot be reached
// through one, and nothing that was opened through one leads to the host's own
// file. The kernel refuses an overlay over a directory with mounts below it: such
// a directory is taken apart.
func (v *viewer) show(path string) {
	entries, listed := v.host.Lists[path]
	mount, mounted := v.mountAt(path)
	switch {
	case mounted && Pseudo[mount.Type]:
	case v.host.Kinds[path] == File, !v.overlays, mounted && readOnlyKinds[mount.Type]:
		v.add(Op{Do: BindOver, At: path, From: path, Bare: path != "/"})
	case !v.mountsBelow(path):
		v.add(Op{Do: Overlay, At: path, From: path, Layer: v.captured(path), Bare: true})
	case !listed || len(entries) > maxEntries:
		v.add(Op{Do: BindOver, At: path, From: path, Bare: true})
	default:
		v.split(path, entries)
	}
}

// split shows the entries of a directory one by one.
func (v *viewer) split(path string, entries []Entry) {
	op := Op{Do: Skeleton, At: path, From: path, Layer: v.captured(path), Bare: path != "/"}
	var below []string
	for _, e := range entries {
		at := filepath.Join(path, e.Name)
		switch e.Kind {
		case Symbolic:
			op.Links = append(op.Links, Link{e.Name, e.To})
		case File:
			if !v.fullyHidden(at) { // a name that is not made is as absent as one that an overlay takes away
				op.Files = append(op.Files, e.Name)
				below = append(below, at)
			}
		case Directory:
			op.Make = append(op.Make, e.Name)
			if !v.isReplaced(at) && !v.fullyHidden(at) && at != v.order.Home {
				below = append(below, at)
			}
		}
	}
	v.add(op)
	for _, at := range below {
		v.show(at)
	}
}

// rooms makes room for files that the host does not have. A bind has none: the
// directory that they lie in is taken apart.
func (v *viewer) rooms() {
	elsewhere := slices.Concat(v.placed, v.order.Hide) // there is room in these, or they are made
	for _, b := range v.order.Bind {
		over := v.over(b.At)
		if v.host.Kinds[b.From] != File || v.host.Kinds[b.At] != Absent || over == nil || over.Do != BindOver || v.isReplaced(b.At) || InsideAny(b.At, elsewhere) {
			continue
		}
		dir := filepath.Dir(b.At)
		for dir != "/" && v.host.Kinds[dir] == Absent {
			dir = filepath.Dir(dir)
		}
		if entries, listed := v.host.Lists[dir]; listed && len(entries) <= maxEntries {
			v.split(dir, entries)
		}
	}
}

// fullyHidden reports whether nothing of a directory is seen: then it need not be
// shown to be hidden again.
func (v *viewer) fullyHidden(at string) bool {
	return v.hides[at] && !slices.ContainsFunc(v.placed, func(p string) bool { return paths.Within(p, at) })
}

func (v *viewer) mountAt(path string) (found MountPoint, ok bool) {
	for _, m := range v.host.Mounts {
		if m.At == path && path != "/" {
			found, ok = m, true // the last one is on top
		}
	}
	return found, ok
}

func (v *viewer) mountsBelow(path string) bool {
	return slices.ContainsFunc(v.host.Mounts, func(m MountPoint) bool { return m.At != path && paths.Within(m.At, path) })
}

func (v *viewer) isReplaced(path string) bool {
	return slices.ContainsFunc(Replaced, func(op Op) bool { return paths.Within(path, op.At) })
}

func (v *viewer) replaced() {
	for _, op := range Replaced {
		if v.readsAll() && v.host.Kinds[op.At] != Directory {
			continue // there is nothing to put it on, and nothing that it would hide
		}
		op.Size = v.order.Limits.InMemory()
		v.add(op)
	}
	if run := v.over("/run"); run.At == "/run" {
		for _, e := range v.host.Lists["/run"] {
			if e.Kind == Symbolic {
				run.Links = append(run.Links, Link{e.Name, e.To})
			}
		}
	}
	if v.host.Kinds["/var/run"] == Directory {
		v.add(Op{Do: Tmpfs, At: "/var/run", Write: true, Mode: 0o755, Size: v.order.Limits.InMemory()})
	}
}

// home begins empty: what is shown in it was placed there by name. One that read_roots names is
// copied on write as a whole.
func (v *viewer) home() {
	at := v.order.Home
	switch {
	case at == "" || v.host.Kinds[at] != Directory:
	case !v.overlays || !v.order.ReadsHome() || v.hides[at]:
		v.add(Op{Do: Private, At: at, Layer: emptyHome, Mode: 0o700})
	case v.mountsBelow(at):
		v.add(Op{Do: Private, At: at, Layer: emptyHome, Mode: 0o700})
		v.homeParts(at)
	default:
		v.add(Op{Do: Overlay, At: at, From: at, Layer: HomeName})
	}
}

// HomePart is the layer of a directory of a home that is shown in parts, by its name in the home. A later launch
// finds it again: others may have come to be beside it meanwhile.
func HomePart(name string) string {
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%s-%x", HomeName, sum[:8])
}

// homeParts shows the directories of a home that cannot be copied on write as a
// whole, because something is mounted in it. Its files are not there.
func (v *viewer) homeParts(home string) {
	for _, e := range v.host.Lists[home] {
		at := filepath.Join(home, e.Name)
		if e.Kind == Directory && !v.mountsBelow(at) && !v.fullyHidden(at) {
			v.add(Op{Do: Overlay, At: at, From: at, Layer: HomePart(e.Name), Bare: true})
		}
	}
}

func (v *viewer) scratch() {
	for i, at := range v.order.Scratch {
		name := fmt.Sprintf("scratch-%d", i)
		switch {
		case v.host.Kinds[at] != Directory, v.order.Home != "" && paths.Within(at, v.order.Home):
		case v.overlays:
			v.add(Op{Do: Overlay, At: at, From: at, Layer: name})
		default:
			v.add(Op{Do: Private, At: at, Layer: name, Mode: 0o755})
		}
	}
}

// opened puts the worker's own places in.
func (v *viewer) opened() {
	for _, w := range v.order.Write {
		v.add(Op{Do: BindOver, At: w, From: w, Write: !slices.Contains(v.order.Sealed, w)})
	}
	for _, b := range v.order.Bind {
		v.add(Op{Do: BindOver, At: b.At, From: b.From, Write: b.Write})
	}
	for _, c := range v.order.Over {
		v.add(Op{Do: Overlay, At: c.At, Below: c.Below, Layer: c.Layer, Sealed: slices.Contains(v.order.Sealed, c.At)})
	}
	for _, p := range v.order.Pinned {
		v.add(Op{Do: BindOver, At: p, From: p, Write: true})
	}
}

// InsideAny reports whether a path lies in one of the directories.
func InsideAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return path != d && paths.Within(path, d) })
}

// inWrite deals with what is mounted below a directory that is written in place: a
// bind brings it along. A view of the kernel is covered, anything else can be read.
func (v *viewer) inWrite() {
	for _, m := range v.host.Mounts {
		if !InsideAny(m.At, v.order.Write) || v.named(m.At) || v.unseen(m.At) {
			continue
		}
		if Pseudo[m.Type] {
			v.add(Op{Do: Mask, At: m.At, File: v.host.Kinds[m.At] == File})
		} else {
			v.add(Op{Do: BindOver, At: m.At, From: m.At})
		}
	}
}

// hidden takes away what may not be read. Seen through an overlay, a name is made
// absent, also one that is not there yet: what comes to be later stays unseen.
// Elsewhere something unreadable is mounted over what is there.
func (v *viewer) hidden() {
	list := slices.Concat(v.order.Hide, v.host.Aliases)
	for _, s := range v.host.Sockets { // through an overlay they cannot be reached
		if over := v.over(s); over != nil && over.Do == BindOver && over.At != s {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, downward)
	last := "" // the last name that is gone with everything below
	for _, at := range slices.Compact(list) {
		over := v.over(at)
		switch {
		case last != "" && paths.Within(at, last):
			// It is gone with what it is in.
		case over == nil, over.At != at && (over.Do == Tmpfs || over.Do == Private || over.Do == Mask || over.Do == Skeleton):
			// It is not there to be seen.
		case over.At == at && over.Do != Overlay && over.Do != Skeleton && v.named(at):
			// It is what was asked for by name.
		case over.At == at:
			v.add(Op{Do: Mask, At: at, File: v.host.Kinds[at] == File})
		case over.Do == Overlay && !v.holesBelow(at):
			over.Absent = append(over.Absent, strings.TrimPrefix(strings.TrimPrefix(at, over.At), "/"))
			last = at
		case v.host.Kinds[at] == Directory:
			v.add(Op{Do: Mask, At: at})
		case v.host.Kinds[at] == File, v.host.Kinds[at] == Special:
			v.add(Op{Do: Mask, At: at, File: true}) // a link is harmless: what it leads to is hidden
		}
	}
}

// closed lists the hidden directories in which nothing can lie but what was placed there. Where
// the worker writes privately, it may have left something at an earlier launch.
func (v *viewer) closed() []string {
	var list []string
	for dir, hidden := range v.hides {
		if hidden && v.host.Kinds[dir] == Directory && !v.named(dir) && v.over(dir).Layer == "" {
			list = append(list, dir)
		}
	}
	slices.Sort(list)
	return list
}

// named reports whether a path was put into the view by name.
func (v *viewer) named(at string) bool { return slices.Contains(v.placed, at) }

func (v *viewer) holesBelow(at string) bool {
	clean := filepath.Clean(at)
	for i, op := range v.ops {
		if op.At != at && paths.Inside(v.at[i], clean) {
			return true
		}
	}
	return false
}

// holes notes what has to be made because what something is mounted on does not
// have it.
func (v *viewer) holes() {
	for _, op := range v.ops {
		below := v.over(filepath.Dir(op.At))
		if op.At == "/" || below == nil || !v.makes(below, op.At) {
			continue
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(op.At, below.At), "/")
		if slices.Contains(below.Make, rel) || slices.Contains(below.Files, rel) {
			continue
		}
		if op.File || v.host.Kinds[op.At] == File || op.Do == BindOver && v.host.Kinds[op.From] == File {
			below.Files = append(below.Files, rel)
		} else {
			below.Make = append(below.Make, rel)
		}
	}
}

// makes reports whether the place for a mount has to be made in an operation. In an
// overlay it has when the host does not have it.
func (v *viewer) makes(op *Op, at string) bool {
	switch op.Do {
	case Tmpfs, Private, Mask, Skeleton:
		return true
	case Overlay:
		return v.host.Kinds[at] == Absent
	}
	return false
}

// sort puts what lies above before what lies below.
func (v *viewer) sort() {
	slices.SortStableFunc(v.ops, func(a, b Op) int { return downward(a.At, b.At) })
}

// downward is an order in which a directory is followed by all that is below it, and then by
// its neighbours: ".name.json" does not come between ".name" and what is in that.
func downward(a, b string) int {
	a, b = strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/")
	for i := range min(len(a), len(b)) {
		switch x, y := a[i], b[i]; {
		case x == y:
		case x == '/':
			return -1
		case y == '/':
			return 1
		default:
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}
