package inline

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// outputOf is what a command prints, as far as code that works on it must know:
// a list of files that is made inside of the tree stays inside of it.
func (m *machine) outputOf(argv []value, code value) value {
	if argv != nil {
		code = joinText(literal(" "), listOf(argv))
	}
	for _, s := range code.texts() {
		if !listsInside(s) {
			return literal(mark.Any)
		}
	}
	for _, d := range m.dirs {
		if !staysBelow(d) {
			return literal(mark.Any)
		}
	}
	return literal(mark.Inside)
}

// listsInside reports whether a line of shell lists files below where it runs.
func listsInside(s string) bool {
	f := strings.Fields(s)
	if len(f) == 0 || strings.ContainsAny(s, ";&|<>$`()") || mark.Has(s, mark.Any+mark.Outside) {
		return false
	}
	for _, w := range f {
		w = strings.Trim(w, `'"`)
		if strings.HasPrefix(w, "/") || strings.HasPrefix(w, "~") || strings.HasPrefix(w, "-C") || strings.Contains(w, "..") && !strings.Contains(w, "...") {
			return false
		}
	}
	has := func(names ...string) bool {
		for _, w := range f[1:] {
			if slices.Contains(names, w) {
				return true
			}
		}
		return false
	}
	switch f[0] {
	case "git":
		return has("ls-files") || has("diff") && has("--name-only") || has("grep") && has("-l", "--name-only", "-rl")
	case "rg", "grep", "ag":
		return has("-l", "-rl", "-lr", "--files", "--files-with-matches", "-Rl", "-rlE", "-rlF", "-rln")
	case "find":
		return !has("-exec", "-execdir", "-printf", "-ok")
	}
	return f[0] == "ls" || f[0] == "fd"
}

// readGlob is what a pattern matches. One that stays below matches files of the tree.
func (m *machine) readGlob(v value, why string) value {
	if v.shape != text {
		return value{}
	}
	m.reportAccess(commands.Read, v.each(func(s string) string { return spellPattern(s) }), why)
	return v.each(globMatch)
}

// spellPattern replaces the parts of a pattern that match by a word.
func spellPattern(s string) string {
	parts := strings.Split(s, "/")
	for i, p := range parts {
		if strings.ContainsAny(p, "*?[{") && !mark.In(p) {
			parts[i] = mark.Atom
		}
	}
	return strings.Join(parts, "/")
}

func globMatch(s string) string {
	if staysBelow(s) {
		return mark.Inside
	}
	return spellPattern(s)
}

// staysBelow reports whether a path can only lead downward, symbolic links aside.
func staysBelow(s string) bool {
	return !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "~") && !strings.Contains(s, "..") && !mark.Has(s, mark.Any+mark.Outside+mark.Scratch+mark.System)
}

// listedName is what a listing of a directory gives: names.
func listedName(s string) string {
	if staysBelow(s) {
		return mark.Inside
	}
	return mark.Atom
}

// listedBelow is a path of what a directory holds.
func listedBelow(s string) string {
	if staysBelow(s) {
		return mark.Inside
	}
	return joinPath(s, mark.Atom)
}
