package argtext

import (
	"slices"
	"strings"
)

// Leaves reports whether a name of a patch leads out of the directory that the
// patch is for.
func Leaves(name string) bool { return strings.HasPrefix(name, "/") || Climbs(name) }

// PatchedNames are the files that a patch names, without the components that -p
// takes away. Only the names in headers have the first of these.
func PatchedNames(text string, strip int) []string {
	var names []string
	for line := range strings.Lines(text) {
		for _, head := range [...]string{"+++ ", "--- ", "rename to ", "copy to "} {
			name, ok := strings.CutPrefix(line, head)
			if !ok {
				continue
			}
			name, _, _ = strings.Cut(strings.TrimRight(name, "\r\n"), "\t")
			n := strip
			if head[3] != ' ' {
				n--
			}
			if name = withoutFirst(name, n); name != "" && name != "/dev/null" && len(names) < MaxLoose {
				names = append(names, name)
			}
		}
	}
	return slices.Compact(names)
}

// withoutFirst is a name without its first components. An absolute name keeps
// them: what becomes of it is not worth knowing.
func withoutFirst(name string, n int) string {
	for ; n > 0 && !strings.HasPrefix(name, "/"); n-- {
		_, rest, found := strings.Cut(name, "/")
		if !found {
			return name
		}
		name = rest
	}
	return name
}
