package known

import (
	"strings"

	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// matches is what a search prints that is not asked for names alone: the name of
// the file, perhaps numbers, and text.
func (g *reading) matches(files []string, named bool, numbers int) string {
	place := g.names()
	if mark.Has(place, mark.Any) || g.unusual() {
		return mark.Any
	}
	if g.Has("c", "count", "count-matches") {
		return argtext.Found(place, 0, mark.Atom)
	}
	out := ""
	if named {
		out = argtext.Found(place, numbers, mark.Any)
	}
	if len(files) == 1 && !g.Has("H", "with-filename") { // perhaps it is no directory
		if numbers == 0 {
			return mark.Any
		}
		out += strings.TrimPrefix(argtext.Found("", numbers, mark.Any), ":")
	}
	return out
}

// ripped is what rg, ag and ack print.
func (g *reading) ripped(name string) string {
	files := g.operandFiles()
	switch {
	case len(files) == 0 && g.call.Fed:
		return g.searched()
	case g.Has("I", "L", "follow", "heading", "p", "pretty", "json", "stats", "0"):
		return mark.Any
	case g.Has("vimgrep", "column"):
		return g.matches(files, true, 2)
	case name != "rg" || g.Has("n", "line-number"):
		return g.matches(files, true, 1)
	}
	return g.matches(files, true, 0)
}

// unusual reports whether an option makes a search print lines of another form.
func (g *reading) unusual() bool {
	return g.Has("A", "after-context", "after", "B", "before-context", "before", "C", "context", "passthru", "field-match-separator",
		"path-separator", "output", "T", "initial-tab", "Z", "z", "null-data", "group-separator", "label", "no-filename", "b", "byte-offset", "null") ||
		g.Has("1", "2", "3", "4", "5", "6", "7", "8", "9")
}

// grepFiles is what grep prints that is given files.
func (g *reading) grepFiles() string {
	files := g.operandFiles()
	deep := g.Has("r", "R", "recursive", "dereference-recursive")
	named := deep || len(files) > 1 || g.Has("H", "with-filename") || len(files) == 1 && mark.In(files[0])
	switch {
	case len(files) == 0 && !deep || g.Has("h") || !named && g.Has("c", "count"):
		return mark.Any
	case g.Has("n", "line-number"):
		return g.matches(files, named, 1)
	}
	return g.matches(files, named, 0)
}

// arrow is behind the name of a link in a long listing.
const arrow = " -> " + mark.Any

// long is what ls prints besides names: columns before each of them, and where
// links lead.
func (g *reading) long(name string) string {
	switch {
	case g.Has("Z", "context", "author", "format", "dired", "D", "g", "o", "n", "full-time", "time-style", "s", "i", "R", "recursive"):
		return mark.Any
	case !g.Has("l", "long"):
		return name + "\n"
	}
	line := strings.Repeat(mark.Atom+" ", 8) + name
	return line + "\n" + line + arrow + "\n"
}

// summed is what prints numbers before the names of the files it read: wc and the
// sums.
func (g *reading) summed() string {
	name := g.Rows[0].Name
	switch {
	case name == "wc" && len(g.Operands) == 0:
		return mark.Atom + "\n"
	case name == "wc" && g.Has("l") && !g.Has("w", "c", "m", "L", "files0-from"):
		total := argtext.When(len(g.Operands) > 1 || mark.In(g.Operands[0]), mark.Atom+" total\n")
		return g.named(mark.Atom, " ") + total
	case name == "wc" || g.Has("0", "null", "time", "files0-from", "a", "algorithm", "c", "check", "tag", "z", "zero") && !(name == "du" && g.Has("a")):
		return mark.Any
	case name == "du":
		return mark.Atom + "\t" + g.names() + "\n"
	case name == "cksum":
		return g.named(mark.Atom+" "+mark.Atom, " ")
	}
	return g.named(mark.Atom, "  ")
}

// named is a line for each operand, or for the standard input.
func (g *reading) named(before, between string) string {
	if len(g.Operands) == 0 {
		return before + between + "-\n"
	}
	var b strings.Builder
	for _, o := range g.Operands {
		b.WriteString(before + between + o + "\n")
	}
	return b.String()
}

// formatted is what the formatters and linters print that list the files they
// would change.
func (g *reading) formatted() string {
	if !g.Has("l", "list", "list-different", "files-with-matches") || g.Has("w", "write", "d", "diff") && g.Has("d", "diff") {
		return mark.Any
	}
	return g.names() + "\n"
}

// golist is what go list prints about packages of the tree: names, unless its
// format puts something before them.
func (g *reading) golist() string {
	for _, o := range g.Operands {
		if o != "." && !strings.HasPrefix(o, "./") {
			return mark.Any
		}
	}
	format := g.Text("f")
	if g.Has("json", "deps", "test", "u", "export", "find") || argtext.PlaceOf(g.dir) != mark.Inside || g.Has("m") && format != "" && format != "{{.Dir}}" ||
		strings.Contains(format, "..") || strings.HasPrefix(format, "/") || strings.ContainsAny(format, "~") || strings.Contains(format, "}/{") ||
		strings.Contains(format, "Deps") || strings.Contains(format, "Imports") || strings.Contains(format, "Root") || strings.Contains(format, "Target") {
		return mark.Any
	}
	return mark.Inside + "\n"
}
