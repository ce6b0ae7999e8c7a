package policy

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// part is one component of a cover.
type part struct {
	text string
	glob bool
	wide string // of a deny: the text for names on any file system
}

// literalPart matches exactly name, whatever characters it has.
func literalPart(name string) part { return part{text: name} }

// globPart matches by the glob it is given.
func globPart(glob string) part { return part{text: glob, glob: isGlob(glob)} }

func isGlob(s string) bool { return strings.ContainsAny(s, `*?[]{}\`) }

// widened makes the part of a deny, which also matches each name that another
// file system takes for one that it matches.
func (p part) widened() part {
	p.wide = Folded(p.text)
	if !p.glob {
		p.wide = bareName(p.wide)
	}
	return p
}

func (p part) matches(n spelling) bool {
	if p.is(p.text, n.key) {
		return true
	}
	return p.wide != "" && n.wide != "" && (p.is(p.wide, n.wide) || n.bare != n.wide && p.is(p.wide, n.bare) || isShortOf(n.bare, p.wide))
}

func (p part) is(text, name string) bool {
	if !p.glob {
		return text == name
	}
	return doublestar.MatchUnvalidated(text, name)
}

// cover is a compiled pattern: it covers each path that it matches, and
// everything below. Components are matched one by one and never across a slash.
// (The glob library is not given whole paths: its [^a] matches a slash, and
// would turn a[^b]c into a way from one directory to another.)
//
// The parts are cut at each ** into runs. Because everything below a match is
// covered, the end is always free, so taking each run at its first place is
// enough and no backtracking is needed. The zero cover covers nothing.
type cover struct{ runs [][]part }

// newCover compiles parts for names that are keyed by fold.
func newCover(parts []part, fold folding) cover {
	runs := [][]part{nil}
	for _, p := range parts {
		if p.glob && p.text == "**" {
			runs = append(runs, nil)
			continue
		}
		last := len(runs) - 1
		runs[last] = append(runs[last], part{text: fold.key(p.text), glob: p.glob, wide: p.wide})
	}
	return cover{runs}
}

func (c cover) covers(names []spelling) bool {
	if len(c.runs) == 0 {
		return false
	}
	if !startsWith(names, c.runs[0]) {
		return false
	}
	names = names[len(c.runs[0]):]
	for _, run := range c.runs[1:] {
		for !startsWith(names, run) {
			if len(names) == 0 {
				return false
			}
			names = names[1:]
		}
		names = names[len(run):]
	}
	return true
}

// above reports whether something the cover covers may lie below the path: the
// path is a beginning of the components before the first **, or ends with a
// beginning of some that follow one. (A last component after ** says nothing
// about what is above it: *.pem is found at its own path, wherever it is.)
func (c cover) above(names []spelling) bool {
	if len(c.runs) == 0 {
		return false
	}
	first := c.runs[0]
	if len(names) <= len(first) {
		return startsWith(names, first[:len(names)])
	}
	return startsWith(names, first) && endsInside(names[len(first):], c.runs[1:])
}

// endsInside reports whether the last names are a beginning of one of the runs.
func endsInside(names []spelling, runs [][]part) bool {
	for _, run := range runs {
		for n := 1; n < len(run) && n <= len(names); n++ {
			if startsWith(names[len(names)-n:], run[:n]) {
				return true
			}
		}
	}
	return false
}

func startsWith(names []spelling, run []part) bool {
	if len(names) < len(run) {
		return false
	}
	for i, p := range run {
		if !p.matches(names[i]) {
			return false
		}
	}
	return true
}
