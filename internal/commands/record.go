package commands

import (
	"strconv"
	"strings"
	"unicode/utf8"

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

// column is what is left of a text when only one column of each line is printed:
// the n-th from 1, the last for -1, all of it for 0. An empty separator is blanks,
// as in awk.
func column(text, sep string, n int) string {
	sep = separatorOf(sep)
	var b strings.Builder
	for _, line := range lines(text) {
		b.WriteString(columnOf(line, sep, n) + "\n")
		if b.Len() > maxPrint {
			return mark.Any
		}
	}
	return b.String()
}

// separatorOf is a separator of awk: a character, or "" for blanks.
func separatorOf(sep string) string {
	switch sep {
	case `\t`:
		return "\t"
	case " ", "[[:space:]]+", "[ ]+", " +", `\s+`, "[ \t]+", `[ \t]+`:
		return ""
	}
	return sep
}

func columnOf(line, sep string, n int) string {
	if m, ok := single(line); ok {
		return m
	}
	if n == 0 {
		return line
	}
	if !record(line) || utf8.RuneCountInString(sep) > 1 {
		return mark.Any
	}
	fields := strings.Fields(line)
	if sep != "" {
		fields = strings.Split(line, sep)
	}
	if n < 0 {
		n = len(fields)
	}
	if n > len(fields) {
		if mark.Has(line, mark.Any) {
			return mark.Any
		}
		return ""
	}
	return certain(fields, []span{{n, n}}, "")
}

// certain joins the wanted fields of a line, unless something that is not known,
// and may be several fields, is among or before them.
func certain(fields []string, wanted []span, separator string) string {
	for i, f := range fields {
		if !mark.Has(f, mark.Any) {
			continue
		}
		for _, s := range wanted {
			if s.to > i {
				return mark.Any
			}
		}
		break
	}
	return pick(fields, wanted, separator)
}

// turned marks a line that rev has reversed: nothing is known of it but what it
// is when rev has reversed it again.
const turned = mark.Any + "\x0e"

// turn is rev on a text that is not known.
func turn(text string) string {
	l := lines(text)
	for i, line := range l {
		switch back, was := strings.CutPrefix(line, turned); {
		case was:
			l[i] = back
		case strings.HasPrefix(line, mark.Any):
			l[i] = mark.Any
		case mark.In(line):
			l[i] = turned + line
		default:
			l[i] = strings.TrimSuffix(reversed(line), "\n")
		}
	}
	return joinLines(l)
}

// cutMarked is cut on a text of which part is not known.
func (g *reading) cutMarked(text string) string {
	if o, ok := g.given("output-delimiter"); ok && strings.ContainsAny(o.value, "./~$") || g.has("complement") {
		return mark.Any
	}
	list, chars := g.given("c", "characters", "b", "bytes")
	if !chars {
		list, _ = g.given("f", "fields")
	}
	wanted, ok := ranges(list.value)
	separator := "\t"
	if o, given := g.given("d", "delimiter"); given {
		separator = o.value
	}
	if !ok || utf8.RuneCountInString(separator) != 1 {
		return mark.Any
	}
	var kept []string
	for _, line := range lines(text) {
		switch {
		case strings.HasPrefix(line, turned):
			// What is left is a beginning or a piece of it, read backwards.
			if separator == "." && !chars || separator == "/" && !chars || chars && len(wanted) == 1 && wanted[0].to >= farthest {
				kept = append(kept, line)
				continue
			}
			kept = append(kept, mark.Any)
		case chars:
			kept = append(kept, characters(line, wanted))
		default:
			kept = append(kept, g.cutFields(line, separator, wanted))
		}
	}
	return joinLines(kept)
}

func (g *reading) cutFields(line, separator string, wanted []span) string {
	if m, ok := single(line); ok {
		return m
	}
	switch {
	case !record(line):
		return mark.Any
	case !strings.Contains(line, separator) && mark.Has(line, mark.Any):
		return mark.Any
	case !strings.Contains(line, separator):
		return line
	}
	return certain(strings.Split(line, separator), wanted, separator)
}

// maxHash is the longest beginning of a word that is taken to be part of it.
const maxHash = 64

// characters is a range of the characters of a line. Counted from the start they
// may leave the middle of a path, except after the "./" of find.
func characters(line string, wanted []span) string {
	if len(wanted) != 1 || strings.HasPrefix(line, mark.Any) {
		return mark.Any
	}
	s := wanted[0]
	if m, ok := single(line); ok {
		if m == mark.Atom || s.from == 1 && m != mark.Any || s.from == 3 && s.to >= farthest {
			return m
		}
		return mark.Any
	}
	if s.from == 1 && s.to <= maxHash && strings.HasPrefix(line, mark.Atom+" ") {
		return mark.Atom
	}
	// The two letters of git status are a character each.
	rest, ok := strings.CutPrefix(line, mark.Atom+mark.Atom+" ")
	if !ok {
		rest = line
	} else {
		s.from -= 3
	}
	known := rest[:max(mark.First(rest), 0)]
	if n := utf8.RuneCountInString(known); s.from < 1 || s.from-1 > n || s.to < farthest {
		return mark.Any
	}
	return string([]rune(rest)[s.from-1:])
}

// someBytes is what head -c and tail -c leave of a text that is not known.
func (g *reading) someBytes(word, text string) string {
	o, _ := g.given("c", "bytes")
	n, err := strconv.Atoi(o.value)
	m, all := single(text)
	switch {
	case all && m == mark.Atom:
		return m
	case err != nil || n < 0 || word != "head":
		return mark.Any
	case n <= maxHash && strings.HasPrefix(text, mark.Atom):
		return mark.Atom
	case all && m != mark.Any:
		return m
	}
	return mark.Any
}

// numberedLines puts a number before each line.
func numberedLines(text, behind string) string {
	l := lines(text)
	for i, line := range l {
		l[i] = " " + mark.Atom + behind + line
	}
	return joinLines(l)
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

// collapsed is a text whose lines are names of the tree and words, with blanks
// and colons between them, without its columns: each of them is such a name.
func collapsed(text string) string {
	if !mark.Has(text, mark.Inside) || strings.Trim(text, mark.Inside+mark.Atom+" \t\n:") != "" {
		return text
	}
	return mark.Inside + "\n"
}
