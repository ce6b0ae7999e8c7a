package audit

import (
	"path"
	"sort"
	"strings"

	"cordon/internal/git"
)

// outcome is the tree that landing some changes would make of a base. It is read
// as far as it is asked about, and is exact there: nobody has to list the base to
// judge a few files.
type outcome struct {
	base  *git.Listing
	files map[string]git.Entry       // what is changed; absent: gone
	names map[string]map[string]bool // directory → what changes put into it
	cut   map[string]bool            // directories that something is gone from
	folds map[string]map[string][]string
	known map[string][]string // folded path → its spellings
	links map[git.OID]string  // targets
}

func newOutcome(base *git.Listing, list []Change) *outcome {
	o := &outcome{
		base: base, files: map[string]git.Entry{}, names: map[string]map[string]bool{}, cut: map[string]bool{},
		folds: map[string]map[string][]string{}, known: map[string][]string{}, links: map[git.OID]string{},
	}
	o.land(list)
	return o
}

// land makes the changes that may land.
func (o *outcome) land(list []Change) {
	for _, ch := range list {
		if !ch.Ignored && ch.Kind.Landable() {
			o.set(string(ch.Path), ch.New)
		}
	}
}

// set puts an entry in its place, or takes it away.
func (o *outcome) set(p string, e git.Entry) {
	o.files[p] = e
	for d := p; d != ""; {
		above := dirOf(d)
		names := o.names[above]
		switch {
		case e.Mode == git.Absent:
			if o.cut[above] {
				return // and all above
			}
			o.cut[above] = true
		case names == nil:
			o.names[above] = map[string]bool{path.Base(d): true}
		case names[path.Base(d)]:
			return
		default:
			names[path.Base(d)] = true
		}
		d = above
	}
}

// dirOf is the directory of a path as a listing calls it: the top is "".
func dirOf(p string) string { return p[:max(strings.LastIndexByte(p, '/'), 0)] }

// below is a name in a directory.
func below(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// file is the file, link or submodule at a path.
func (o *outcome) file(p string) git.Entry {
	if e, ok := o.files[p]; ok {
		return e
	}
	return o.base.File(p)
}

// dir lists the names in a directory. A directory without a file is none.
func (o *outcome) dir(d string) []string {
	var names []string
	for name, e := range o.base.Dir(d) {
		if !o.names[d][name] && o.keeps(below(d, name), e) {
			names = append(names, name)
		}
	}
	for name := range o.names[d] {
		names = append(names, name)
	}
	return names
}

// keeps reports whether something of what the base has at a path is left.
func (o *outcome) keeps(p string, e git.Entry) bool {
	if e.Mode != git.Directory {
		_, changed := o.files[p]
		return !changed || o.files[p].Mode != git.Absent
	}
	if !o.cut[p] {
		return true
	}
	for name, e := range o.base.Dir(p) {
		if o.keeps(below(p, name), e) {
			return true
		}
	}
	return false
}

// target is where a link leads.
func (o *outcome) target(p string) (string, bool) {
	e := o.file(p)
	if e.Mode != git.Symlink {
		return "", false
	}
	return targetOf(o.base, o.links, e.OID), true
}

// targetOf reads where a link of a listing leads. One that cannot be a link leads
// out.
func targetOf(base *git.Listing, known map[git.OID]string, oid git.OID) string {
	if _, ok := known[oid]; !ok {
		loadTargets(base, known, []git.OID{oid})
	}
	return known[oid]
}

func loadTargets(base *git.Listing, known map[git.OID]string, oids []git.OID) {
	found := base.Links(oids)
	for _, oid := range oids {
		if target, ok := found[oid]; ok {
			known[oid] = target
		} else {
			known[oid] = endless
		}
	}
}

// allLinks lists every link of the tree, which takes reading all of it.
func (o *outcome) allLinks() []string {
	var links []string
	var oids []git.OID
	for _, f := range o.base.All() {
		if _, changed := o.files[f.Path]; !changed && f.Mode == git.Symlink {
			links, oids = append(links, f.Path), append(oids, f.OID)
		}
	}
	loadTargets(o.base, o.links, oids)
	for p, e := range o.files {
		if e.Mode == git.Symlink {
			links = append(links, p)
		}
	}
	sort.Strings(links)
	return links
}

// inRepository returns the directory above a path that git would take for a git
// directory.
func (o *outcome) inRepository(p string) (dir, why string) {
	for d := dirOf(p); ; d = dirOf(d) {
		file := func(name string) bool { return o.file(below(d, name)).Mode != git.Absent }
		if why := Repository(o.dir(d), file); why != "" {
			return path.Join(".", d), why
		}
		if d == "" {
			return "", ""
		}
	}
}

// spellings lists every path of the tree that some file system takes for this one,
// found level by level: the directories above may be spelled otherwise too.
func (o *outcome) spellings(p string) []string {
	key := folded(p)
	if list, ok := o.known[key]; ok {
		return list
	}
	above := []string{""}
	if d := dirOf(p); d != "" {
		above = o.spellings(d)
	}
	var list []string
	for _, d := range above {
		for _, name := range o.fold(d)[folded(path.Base(p))] {
			list = append(list, below(d, name))
		}
	}
	sort.Strings(list)
	o.known[key] = list
	return list
}

// fold lists the names in a directory by how they are folded.
func (o *outcome) fold(d string) map[string][]string {
	if names, ok := o.folds[d]; ok {
		return names
	}
	names := map[string][]string{}
	for _, name := range o.dir(d) {
		f := folded(name)
		names[f] = append(names[f], name)
	}
	o.folds[d] = names
	return names
}
