package known

import (
	"strings"

	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// matches is what rg, ag and ack print that are not asked for names alone.
func (g *reading) matches(name string) string {
	files := g.operandFiles()
	if len(files) == 0 && g.call.Fed {
		return g.searched()
	}
	place := g.names()
	if mark.Has(place, mark.Any) || g.unusual() || g.Has("I", "no-filename", "L", "follow", "heading", "p", "pretty", "json", "stats", "b",
		"byte-offset", "0", "null") {
		return mark.Any
	}
	if g.Has("c", "count", "count-matches") {
		return argtext.Found(place, 0, mark.Atom)
	}
	numbers := 0
	for _, o := range [...]string{"n", "line-number", "column", "vimgrep"} {
		if g.Has(o) {
			numbers++
		}
	}
	if name != "rg" {
		numbers = 1
	}
	if g.Has("vimgrep") {
		numbers = 2
	}
	out := argtext.Found(place, numbers, mark.Any)
	if len(files) == 1 && !g.Has("H", "with-filename") { // perhaps it is no directory
		if numbers == 0 {
			return mark.Any
		}
		out += strings.TrimPrefix(argtext.Found("", numbers, mark.Any), ":")
	}
	return out
}

// unusual reports whether an option makes a search print lines of another form.
func (g *reading) unusual() bool {
	return g.Has("A", "after-context", "after", "B", "before-context", "before", "C", "context", "passthru", "field-match-separator",
		"path-separator", "output", "T", "initial-tab", "Z", "z", "null-data", "group-separator", "label") ||
		g.Has("1", "2", "3", "4", "5", "6", "7", "8", "9")
}

// grepped files are what grep prints that is given files.
func (g *reading) grepFiles() (string, bool) {
	files := g.operandFiles()
	deep := g.Has("r", "R", "recursive", "dereference-recursive")
	if len(files) == 0 && !deep {
		return "", false
	}
	place := g.names()
	if mark.Has(place, mark.Any) || g.unusual() || g.Has("h", "no-filename") || g.Has("b", "null") {
		return "", false
	}
	numbers := 0
	if g.Has("n", "line-number") {
		numbers = 1
	}
	named := deep || len(files) > 1 || g.Has("H", "with-filename") || len(files) == 1 && mark.In(files[0])
	switch {
	case g.Has("c", "count") && named:
		return argtext.Found(place, 0, mark.Atom), true
	case g.Has("c", "count"), !named && numbers == 0:
		return "", false
	}
	out := ""
	if named {
		out = argtext.Found(place, numbers, mark.Any)
	}
	if len(files) == 1 && !g.Has("H", "with-filename") {
		if numbers == 0 {
			return "", false
		}
		out += strings.TrimPrefix(argtext.Found("", numbers, mark.Any), ":")
	}
	return out, true
}

// arrow is behind the name of a link in a long listing.
const arrow = " -> " + mark.Any

// long is what ls prints besides names: columns before each of them, and where
// links lead.
func (g *reading) long(name string) string {
	columns := 0
	switch {
	case g.Has("Z", "context", "author", "format", "dired", "D"):
		return mark.Any
	case g.Has("g", "o"):
		columns = 7
	case g.Has("l", "long", "n", "full-time"):
		columns = 8
	}
	if style, ok := g.Given("time-style"); ok && columns > 0 {
		if style.Value != "long-iso" {
			return mark.Any
		}
		columns--
	}
	if columns > 0 && g.Has("full-time") {
		columns++
	}
	for _, o := range [...]string{"s", "i"} {
		if g.Has(o) {
			columns++
		}
	}
	line := strings.Repeat(mark.Atom+" ", columns) + name
	out := line + "\n"
	if columns > 2 {
		out += line + arrow + "\n"
	}
	if g.Has("R", "recursive") {
		out = name + ":\n" + out
	}
	return out
}

// summed is what prints numbers before the names of the files it read: wc, du and
// the sums.
func (g *reading) summed() string {
	switch name := g.Rows[0].Name; name {
	case "du":
		place := g.names()
		if mark.Has(place, mark.Any) || g.Has("0", "null", "time", "files0-from") {
			return mark.Any
		}
		return mark.Atom + "\t" + place + "\n"
	case "wc":
		return g.counted()
	case "cksum":
		if g.Has("a", "algorithm") && !g.Has("untagged") {
			return mark.Any
		}
		return g.named(mark.Atom+" "+mark.Atom, " ")
	}
	if g.Has("c", "check", "tag", "z", "zero") {
		return mark.Any
	}
	return g.named(mark.Atom, "  ")
}

// counted is wc, which prints a number for each of its options.
func (g *reading) counted() string {
	if g.Has("files0-from") {
		return mark.Any
	}
	columns := 0
	for _, o := range [...]string{"l", "w", "c", "m", "L"} {
		if g.Has(o) {
			columns++
		}
	}
	if columns == 0 {
		columns = 3
	}
	before := strings.TrimSuffix(strings.Repeat(mark.Atom+" ", columns), " ")
	if len(g.Operands) == 0 {
		return before + "\n"
	}
	out := g.named(before, " ")
	if len(g.Operands) > 1 || mark.In(g.Operands[0]) {
		out += before + " total\n"
	}
	return out
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
