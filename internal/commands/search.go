package commands

import (
	"strings"

	"cordon/internal/mark"
)

// matches is what rg, ag and ack print that are not asked for names alone.
func (g *reading) matches(name string) string {
	files := g.operandFiles()
	if len(files) == 0 && g.call.Fed {
		return g.searched()
	}
	place := g.names()
	if mark.Has(place, mark.Any) || g.unusual() || g.has("I", "no-filename", "L", "follow", "heading", "p", "pretty", "json", "stats", "b",
		"byte-offset", "0", "null") {
		return mark.Any
	}
	if g.has("c", "count", "count-matches") {
		return found(place, 0, mark.Atom)
	}
	numbers := 0
	for _, o := range [...]string{"n", "line-number", "column", "vimgrep"} {
		if g.has(o) {
			numbers++
		}
	}
	if name != "rg" {
		numbers = 1
	}
	if g.has("vimgrep") {
		numbers = 2
	}
	out := found(place, numbers, mark.Any)
	if len(files) == 1 && !g.has("H", "with-filename") { // perhaps it is no directory
		if numbers == 0 {
			return mark.Any
		}
		out += strings.TrimPrefix(found("", numbers, mark.Any), ":")
	}
	return out
}

// unusual reports whether an option makes a search print lines of another form.
func (g *reading) unusual() bool {
	return g.has("A", "after-context", "after", "B", "before-context", "before", "C", "context", "passthru", "field-match-separator",
		"path-separator", "output", "T", "initial-tab", "Z", "z", "null-data", "group-separator", "label") ||
		g.has("1", "2", "3", "4", "5", "6", "7", "8", "9")
}

// grepped files are what grep prints that is given files.
func (g *reading) grepFiles() (string, bool) {
	files := g.operandFiles()
	deep := g.has("r", "R", "recursive", "dereference-recursive")
	if len(files) == 0 && !deep {
		return "", false
	}
	place := g.names()
	if mark.Has(place, mark.Any) || g.unusual() || g.has("h", "no-filename") || g.has("b", "null") {
		return "", false
	}
	numbers := 0
	if g.has("n", "line-number") {
		numbers = 1
	}
	named := deep || len(files) > 1 || g.has("H", "with-filename") || len(files) == 1 && mark.In(files[0])
	switch {
	case g.has("c", "count") && named:
		return found(place, 0, mark.Atom), true
	case g.has("c", "count"), !named && numbers == 0:
		return "", false
	}
	out := ""
	if named {
		out = found(place, numbers, mark.Any)
	}
	if len(files) == 1 && !g.has("H", "with-filename") {
		if numbers == 0 {
			return "", false
		}
		out += strings.TrimPrefix(found("", numbers, mark.Any), ":")
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
	case g.has("Z", "context", "author", "format", "dired", "D"):
		return mark.Any
	case g.has("g", "o"):
		columns = 7
	case g.has("l", "long", "n", "full-time"):
		columns = 8
	}
	if style, ok := g.given("time-style"); ok && columns > 0 {
		if style.value != "long-iso" {
			return mark.Any
		}
		columns--
	}
	if columns > 0 && g.has("full-time") {
		columns++
	}
	for _, o := range [...]string{"s", "i"} {
		if g.has(o) {
			columns++
		}
	}
	line := strings.Repeat(mark.Atom+" ", columns) + name
	out := line + "\n"
	if columns > 2 {
		out += line + arrow + "\n"
	}
	if g.has("R", "recursive") {
		out = name + ":\n" + out
	}
	return out
}

// summed is what prints numbers before the names of the files it read: wc, du and
// the sums.
func (g *reading) summed() string {
	switch name := g.rows[0].name; name {
	case "du":
		place := g.names()
		if mark.Has(place, mark.Any) || g.has("0", "null", "time", "files0-from") {
			return mark.Any
		}
		return mark.Atom + "\t" + place + "\n"
	case "wc":
		return g.counted()
	case "cksum":
		if g.has("a", "algorithm") && !g.has("untagged") {
			return mark.Any
		}
		return g.named(mark.Atom+" "+mark.Atom, " ")
	}
	if g.has("c", "check", "tag", "z", "zero") {
		return mark.Any
	}
	return g.named(mark.Atom, "  ")
}

// counted is wc, which prints a number for each of its options.
func (g *reading) counted() string {
	if g.has("files0-from") {
		return mark.Any
	}
	columns := 0
	for _, o := range [...]string{"l", "w", "c", "m", "L"} {
		if g.has(o) {
			columns++
		}
	}
	if columns == 0 {
		columns = 3
	}
	before := strings.TrimSuffix(strings.Repeat(mark.Atom+" ", columns), " ")
	if len(g.operands) == 0 {
		return before + "\n"
	}
	out := g.named(before, " ")
	if len(g.operands) > 1 || mark.In(g.operands[0]) {
		out += before + " total\n"
	}
	return out
}

// named is a line for each operand, or for the standard input.
func (g *reading) named(before, between string) string {
	if len(g.operands) == 0 {
		return before + between + "-\n"
	}
	var b strings.Builder
	for _, o := range g.operands {
		b.WriteString(before + between + o + "\n")
	}
	return b.String()
}

// formatted is what the formatters and linters print that list the files they
// would change.
func (g *reading) formatted() string {
	if !g.has("l", "list", "list-different", "files-with-matches") || g.has("w", "write", "d", "diff") && g.has("d", "diff") {
		return mark.Any
	}
	return g.names() + "\n"
}

// golist is what go list prints about packages of the tree: names, unless its
// format puts something before them.
func (g *reading) golist() string {
	for _, o := range g.operands {
		if o != "." && !strings.HasPrefix(o, "./") {
			return mark.Any
		}
	}
	format := g.text("f")
	if g.has("json", "deps", "test", "u", "export", "find") || placeOf(g.dir) != mark.Inside || g.has("m") && format != "" && format != "{{.Dir}}" ||
		strings.Contains(format, "..") || strings.HasPrefix(format, "/") || strings.ContainsAny(format, "~") || strings.Contains(format, "}/{") ||
		strings.Contains(format, "Deps") || strings.Contains(format, "Imports") || strings.Contains(format, "Root") || strings.Contains(format, "Target") {
		return mark.Any
	}
	return mark.Inside + "\n"
}
