package policy

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/paths"
)

// Grave says why a write root deserves a second look before somebody adds it to a lease: it
// is the whole tree, a glob, or names something protected. "" means that it does not.
func Grave(root string) string {
	clean := path.Clean(root)
	switch {
	case clean == ".":
		return "is the whole tree"
	case isGlob(root):
		return "is a glob"
	}
	for _, row := range protectedRows() {
		if row.occurs(folding(false).spell(strings.Split(clean, "/"))) {
			return row.Reason
		}
	}
	return ""
}

// MeetRoots are the write roots that lie in one of most, and those of most that lie in one of the
// roots. A glob meets only itself and a directory that holds it.
func MeetRoots(roots, most []string) (kept []string) {
	keep := func(root string) {
		if !slices.Contains(kept, root) {
			kept = append(kept, root)
		}
	}
	for _, root := range roots {
		for _, bound := range most {
			switch {
			case lies(root, bound):
				keep(root)
			case lies(bound, root):
				keep(bound)
			}
		}
	}
	return kept
}

// lies reports whether everything of one root is in another.
func lies(root, in string) bool {
	switch {
	case path.Clean(root) == path.Clean(in):
		return true
	case isGlob(in) || strings.Contains(root, "..") || strings.Contains(in, ".."):
		return false
	}
	return paths.Within(root, in)
}
