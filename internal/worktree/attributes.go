package worktree

import "strings"

// HasAttribute reports whether a text of attributes has a word; one that ends in = stands
// for every value.
func HasAttribute(text, word string) bool {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		for i, w := range f {
			if i > 0 && !strings.HasPrefix(f[0], "#") && (w == word || strings.HasSuffix(word, "=") && strings.HasPrefix(w, word)) {
				return true
			}
		}
	}
	return false
}

// FilterOf is the filter that a line of attributes names, or "".
func FilterOf(line string) string {
	fields := strings.Fields(line)
	if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
		return ""
	}
	for _, word := range fields[1:] {
		if name, ok := strings.CutPrefix(word, "filter="); ok {
			return name
		}
	}
	return ""
}
