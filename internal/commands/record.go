package commands

import (
	"strconv"
	"strings"

	"cordon/internal/mark"
)

// A record is a line that a command prints for each thing it found, with marks
// for what is in it: a name, a number, and perhaps text that is not known. It
// begins with what is known to be a name or a number, so that the text behind
// that has no line of its own.

// record reports whether the columns of a line can be told apart although some
// of it is not known at all.
func record(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return !mark.Has(line, mark.Any) || mark.First(line) == 0 && !strings.HasPrefix(line, mark.Any)
}

// single returns the mark that a line is nothing but, perhaps more than once: a
// list of names, whose columns are names again.
func single(line string) (string, bool) {
	line = strings.TrimSpace(line)
	if line == "" || mark.First(line) != 0 {
		return "", false
	}
	m := line[:len(mark.Any)]
	return m, strings.Trim(line, m+" \t") == ""
}

// farthest is where a range ends that has no end.
const farthest = 1 << 20

// columns is what is left of a text when only some columns of each line are
// printed, counted from 1; the last one for -1. An empty separator is blanks.
func columns(text, sep string, from, to int) string {
	if len(text) > maxPrint {
		return mark.Any
	}
	return eachLine(text, func(line string) string { return columnsOf(line, sep, from, to) })
}

func columnsOf(line, sep string, from, to int) string {
	if m, ok := single(line); ok {
		return m
	}
	fields := strings.Fields(line)
	if sep != "" {
		fields = strings.Split(line, sep)
	}
	if from < 0 {
		from, to = len(fields), len(fields)
	}
	to = min(to, len(fields))
	known := len(fields)
	for i, f := range fields {
		if mark.Has(f, mark.Any) {
			known = i
			break
		}
	}
	switch {
	case !record(line) || to > known || from < 1 || from > to && known < len(fields):
		return mark.Any // something that is not known, and may be several columns, is among or before them
	case len(fields) == 1:
		return line
	case from > to:
		return ""
	}
	return strings.Join(fields[from-1:to], sep)
}

// cut is cut on a text of which part is not known.
func (g *reading) cut(text string) string {
	list, chars := g.given("c", "characters", "b", "bytes")
	if !chars {
		list, _ = g.given("f", "fields")
	}
	sep := "\t"
	if o, ok := g.given("d", "delimiter"); ok {
		sep = o.value
	}
	from, to, ok := columnRange(list.value)
	switch {
	case !ok || sep == "" || g.has("complement", "output-delimiter"):
		return mark.Any
	case strings.HasPrefix(text, turned): // what is left is a beginning or a piece of it, read backwards
		if !chars && (sep == "." || sep == "/") || chars && to >= farthest {
			return text
		}
		return mark.Any
	case chars:
		return eachLine(text, func(line string) string { return characters(line, from, to) })
	}
	return columns(text, sep, from, to)
}

// turned marks a line that rev has reversed: nothing is known of it but what it
// is when rev has reversed it again.
const turned = mark.Any + "\x0e"

// turn is rev on a line that is not known.
func turn(line string) string {
	back, was := strings.CutPrefix(line, turned)
	switch {
	case was:
		return back
	case strings.HasPrefix(line, mark.Any) || !mark.In(line):
		return mark.Any
	}
	return turned + line
}

// columnRange reads 2, 2-, -3 and 2-3.
func columnRange(list string) (from, to int, ok bool) {
	a, b, ranged := strings.Cut(list, "-")
	from, to = 1, farthest
	var err, err2 error
	if a != "" {
		from, err = strconv.Atoi(a)
	}
	if b != "" {
		to, err2 = strconv.Atoi(b)
	}
	if !ranged {
		to = from
	}
	return from, to, list != "" && err == nil && err2 == nil
}

// maxHash is the longest beginning of a word that is taken to be part of it.
const maxHash = 64

// characters is a range of the characters of a line. Counted from the start they
// may leave the middle of a path, except after the "./" of find and the two
// letters of git status.
func characters(line string, from, to int) string {
	m, all := single(line)
	name, status := strings.CutPrefix(line, mark.Atom+mark.Atom+" ")
	switch {
	case m == mark.Any:
	case all && (m == mark.Atom || from == 1 || from == 3 && to >= farthest):
		return m
	case from == 1 && to <= maxHash && strings.HasPrefix(line, mark.Atom+" "):
		return mark.Atom
	case status && from == 4 && to >= farthest:
		return name
	}
	return mark.Any
}

// someBytes is what head -c and tail -c leave of a text that is not known.
func (g *reading) someBytes(word, text string) string {
	n, err := strconv.Atoi(g.text("c", "bytes"))
	if m, all := single(text); all && m == mark.Atom || word == "head" && err == nil && n >= 0 && n <= maxHash && strings.HasPrefix(text, mark.Atom) {
		return mark.Atom
	}
	return mark.Any
}

// numberedLines puts a number before each line.
func numberedLines(text, behind string) string {
	return eachLine(text, func(line string) string { return " " + mark.Atom + behind + line })
}

// chosen is a text of which some lines are left out, nobody knows which. Names
// that are not known hide one that is known to lead elsewhere, if that is the one
// which is left.
func chosen(text string) string {
	l := lines(text)
	for _, line := range l {
		if len(l) > 1 && !mark.In(line) && (startsPath(line) && line != "." && !strings.HasPrefix(line, "./") || climbs(line)) {
			return mark.Any
		}
	}
	return text
}

// through is what comes out of an editor of lines: what went in, as far as one
// can tell. Names of files of the tree stay names of its files, and so do records
// of names and words, unless the code has what could lead elsewhere.
func through(text, code string) string {
	switch {
	case mark.Has(text, mark.Outside):
		return mark.Outside
	case mark.Has(text, mark.Any), !mark.In(text), strings.Contains(code, ".."), strings.Contains(code, "~"), writesAbsolute(code):
		return mark.Any
	}
	if mark.Has(text, mark.Inside) && strings.Trim(text, mark.Inside+mark.Atom+" \t\n:") == "" {
		return mark.Inside
	}
	if m, ok := single(strings.ReplaceAll(text, "\n", " ")); ok {
		return m
	}
	return mark.Any
}

// writesAbsolute reports whether code may put an absolute path before the names
// that it reads.
func writesAbsolute(code string) bool {
	if strings.Contains(code, `/\/`) {
		return true
	}
	for i := 1; i+1 < len(code); i++ {
		if code[i] == '/' && strings.IndexByte("\"',|#{:@!(= ", code[i-1]) >= 0 && (code[i+1] == '$' || code[i+1]|0x20 >= 'a' && code[i+1]|0x20 <= 'z') {
			return true
		}
	}
	return false
}

// awkPrints is what a program of awk prints of a text: a column, or what went in.
func awkPrints(code, sep, text string) string {
	switch sep {
	case `\t`:
		sep = "\t"
	case " ", "[[:space:]]+", "[ ]+", " +", `\s+`, "[ \t]+", `[ \t]+`:
		sep = ""
	}
	pattern, body, braced := strings.Cut(code, "{")
	for _, op := range [...]string{"==", "!=", "<=", ">="} {
		pattern = strings.ReplaceAll(pattern, op, " ")
	}
	changes := strings.ContainsAny(pattern, "={}()|;\n")
	for _, word := range [...]string{"getline", "BEGIN", "END"} {
		changes = changes || strings.Contains(pattern, word)
	}
	if changes { // it may change the lines as well
		return awkThrough(code, text)
	}
	if strings.TrimSpace(pattern) != "" {
		text = chosen(text)
	}
	if !braced {
		return text
	}
	item, _ := strings.CutPrefix(strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(body), "}"), " ", ""), "print")
	item = strings.TrimSuffix(strings.TrimRight(item, ";"), ";exit")
	n, err := strconv.Atoi(strings.TrimPrefix(item, "$"))
	switch {
	case item == "" || item == "$0":
		return text
	case item == "$NF":
		return columns(text, sep, -1, -1)
	case err == nil && item[0] == '$' && len(sep) < 2:
		return columns(text, sep, n, n)
	}
	return awkThrough(code, text)
}

// awkThrough is what a program prints that does more than to print a column. What
// it has in quotes may come before a name.
func awkThrough(code, text string) string {
	if strings.Contains(code, `"`) && !mark.Has(text, mark.Outside) {
		return mark.Any
	}
	return through(text, code)
}

// sedPrints is what a script of sed prints of a text: some of its lines, their
// first column, or what went in.
func sedPrints(script, text string) string {
	script = strings.TrimSpace(script)
	address := strings.TrimRight(script, "pdq! ")
	if script != "" && strings.IndexByte("pdq", script[len(script)-1]) >= 0 && (strings.Trim(address, "0123456789,$~") == "" ||
		len(address) > 1 && address[0] == '/' && strings.IndexByte(address[1:], '/') == len(address)-2) {
		return chosen(text)
	}
	if len(script) == len("s/:.*//") && script[:2]+script[3:] == "s/.*//" {
		return columns(text, script[2:3], 1, 1)
	}
	return through(text, replacements(script))
}
