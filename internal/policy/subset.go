package policy

import "slices"

// RootWithin reports whether one of the roots covers every path that an entry covers. Both are
// in the normal form of CheckRoot. Where only a file system could tell, it says no.
func RootWithin(entry string, roots []string) bool {
	inner := split(entry)
	return slices.ContainsFunc(roots, func(root string) bool {
		outer := split(root)
		return outer.form == inTree && inner.form == inTree && covers(outer.parts, inner.parts)
	})
}

// covers compares component by component. A ** at the end of the outer one covers what a
// longer one covers, as its end is always free.
func covers(outer, inner []string) bool {
	for len(outer) > 0 && outer[len(outer)-1] == "**" {
		outer = outer[:len(outer)-1]
	}
	if len(outer) > len(inner) {
		return false
	}
	for i, part := range outer {
		switch {
		case part == inner[i] && part != "**":
		case part == "**", isGlob(inner[i]), !globPart(part).is(part, inner[i]):
			return false
		}
	}
	return true
}
