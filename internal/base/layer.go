package base

import (
	"cmp"
	"path"
	"slices"

	"cordon/internal/git"
)

// layer is what has to be in a layer so that, lying on the files of one tree, it
// shows the files of another.
type layer struct {
	written []string // files and links, and submodules as empty directories
	gone    []string // whiteouts
}

// layerOf plans a layer from the changes between two trees, directories included.
//
// What takes the place of something else covers it: a file that of a directory with
// all its files, a directory that of a file. A submodule alone is a directory that
// comes from nothing, so that what was in a real one has to go by name.
func layerOf(changes []git.Delta) layer {
	var l layer
	old, new := modes(changes)
	for p, m := range new {
		if m != git.Directory && (m != git.Gitlink || old[p] != git.Gitlink) {
			l.written = append(l.written, p)
		}
	}
	for p := range old {
		_, replaced := new[p]
		parent := path.Dir(p)
		_, parentThere := new[parent]
		parentGone := old[parent] == git.Directory && (!parentThere || new[parent] != git.Directory)
		if !replaced && (!parentGone || new[parent] == git.Gitlink) {
			l.gone = append(l.gone, p)
		}
	}
	slices.Sort(l.written)
	slices.Sort(l.gone)
	return l
}

// modes are what the paths of changes are in the one tree and in the other.
func modes(changes []git.Delta) (old, new map[string]git.Mode) {
	old, new = map[string]git.Mode{}, map[string]git.Mode{}
	for _, d := range changes {
		if d.Old.Mode != git.Absent {
			old[d.Path] = d.Old.Mode
		}
		if d.New.Mode != git.Absent {
			new[d.Path] = d.New.Mode
		}
	}
	return old, new
}

// isFile reports whether a mode is of something that counts as a file.
func isFile(m git.Mode) bool {
	return m == git.Regular || m == git.Executable || m == git.Symlink
}

// count is how many paths that are not directories differ.
func count(changes []git.Delta) int {
	n := 0
	for _, d := range changes {
		if d.Old.Mode != git.Directory && d.New.Mode != git.Directory {
			n++
		}
	}
	return n
}

// after is what a record says of the files, moved on by changes.
func (r record) after(changes []git.Delta) (files int, submodules [][]byte) {
	files = r.Files
	names := map[string]bool{}
	for _, p := range r.Submodules {
		names[string(p)] = true
	}
	for _, d := range changes {
		if d.Old.Mode == git.Gitlink {
			delete(names, d.Path)
		}
	}
	for _, d := range changes {
		if d.New.Mode == git.Gitlink {
			names[d.Path] = true
		}
		files += number(isFile(d.New.Mode)) - number(isFile(d.Old.Mode))
	}
	for p := range names {
		submodules = append(submodules, []byte(p))
	}
	slices.SortFunc(submodules, slices.Compare)
	return files, submodules
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// The choice of what to lie on.
const (
	maxDepth   = 4   // layers in all: each is one more place to look a name up in
	maxLooked  = 5   // bases that are compared, those used last
	fewChanges = 300 // never too many
	perLayer   = 100 // what one layer more may cost, in changes
)

// candidate is a base that another could lie on.
type candidate struct {
	kept    Kept
	changes []git.Delta
}

// worth reports whether a layer is cheaper than a checkout.
func (c candidate) worth() bool {
	return count(c.changes) <= max(fewChanges, c.kept.Files/4)
}

// rank puts the cheapest first. Depth costs, so that bases of one line of history
// lie beside each other on an older one for as long as they differ little, and the
// deepest are not built upon.
func rank(list []candidate) {
	slices.SortStableFunc(list, func(a, b candidate) int {
		return cmp.Compare(count(a.changes)+perLayer*a.kept.Depth, count(b.changes)+perLayer*b.kept.Depth)
	})
}
