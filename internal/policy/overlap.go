package policy

import "strings"

// Overlap returns the roots of a that may share a path with a root of b, in the
// order of a. It takes the roots of two leases as Rules.Roots gives them. Where
// only a file system could tell (two globs, a **, names that differ in case) it
// says yes: a false alarm costs a question, a missed overlap a merge conflict.
func Overlap(a, b []string) []string {
	var shared []string
	for _, x := range a {
		for _, y := range b {
			if mayMeet(split(x), split(y)) {
				shared = append(shared, x)
				break
			}
		}
	}
	return shared
}

func mayMeet(a, b pattern) bool {
	if a.form != inTree || b.form != inTree {
		return true // not a root of Rules.Roots: unknown is yes
	}
	for i := range min(len(a.parts), len(b.parts)) {
		x, y := fold(a.parts[i]), fold(b.parts[i])
		if x == "**" || y == "**" {
			return true
		}
		if !mayBeSame(x, y) {
			return false
		}
	}
	return true // one covers the other's place
}

// mayBeSame reports whether one name can match both components.
func mayBeSame(x, y string) bool {
	switch {
	case !isGlob(x) && !isGlob(y):
		return x == y
	case !isGlob(x):
		return globPart(y).is(y, x)
	case !isGlob(y):
		return globPart(x).is(x, y)
	}
	px, py := literalPrefix(x), literalPrefix(y)
	return strings.HasPrefix(px, py) || strings.HasPrefix(py, px)
}

func literalPrefix(glob string) string {
	if i := strings.IndexAny(glob, `*?[]{}\`); i >= 0 {
		return glob[:i]
	}
	return glob
}
