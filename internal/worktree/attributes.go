package worktree

import (
	"slices"
	"strings"
)

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

// AttributeLine is a line of attributes, without blanks around it.
type AttributeLine struct {
	Text   string
	Number int // from one
}

// LinesAbout are the lines of a text that give, unset or reset an attribute, by its own name or by
// that of a macro.
func LinesAbout(text, attribute string, macros []string) (found []AttributeLine) {
	for i, line := range attributeLines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		macro, defined := strings.CutPrefix(fields[0], "[attr]")
		about := defined && slices.Contains(macros, macro)
		for _, word := range fields[1:] {
			name, _, _ := strings.Cut(strings.TrimLeft(word, "-!"), "=")
			about = about || name == attribute || slices.Contains(macros, name)
		}
		if about {
			found = append(found, AttributeLine{strings.Join(fields, " "), i + 1})
		}
	}
	return found
}

// MacrosOf are the macros that texts of attributes define with an attribute, or with another
// such macro.
func MacrosOf(attribute string, texts ...string) (macros []string) {
	for grown := true; grown; {
		grown = false
		for _, text := range texts {
			for _, line := range LinesAbout(text, attribute, macros) {
				name, defined := strings.CutPrefix(strings.Fields(line.Text)[0], "[attr]")
				if defined && !slices.Contains(macros, name) {
					macros, grown = append(macros, name), true
				}
			}
		}
	}
	return macros
}

// attributeLines cuts a text into lines as git does: the mark of a byte order is not text.
func attributeLines(text string) []string {
	return strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
}
