package argtext

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

// Single returns the mark that a line is nothing but, perhaps more than once: a
// list of names, whose columns are names again.
func Single(line string) (string, bool) {
	line = strings.TrimSpace(line)
	if line == "" || mark.First(line) != 0 {
		return "", false
	}
	m := line[:len(mark.Any)]
	return m, strings.Trim(line, m+" \t") == ""
}

// Farthest is where a range ends that has no end.
const Farthest = 1 << 20

// Columns is what is left of a text when only some columns of each line are
// printed, counted from 1; the last one for -1. An empty separator is blanks.
func Columns(text, sep string, from, to int) string {
	if len(text) > MaxPrint {
		return mark.Any
	}
	return EachLine(text, func(line string) string { return columnsOf(line, sep, from, to) })
}

func columnsOf(line, sep string, from, to int) string {
	if m, ok := Single(line); ok {
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

// Turned marks a line that rev has reversed: nothing is known of it but what it
// is when rev has reversed it again.
const Turned = mark.Any + "\x0e"

// Turn is rev on a line that is not known.
func Turn(line string) string {
	back, was := strings.CutPrefix(line, Turned)
	switch {
	case was:
		return back
	case strings.HasPrefix(line, mark.Any) || !mark.In(line):
		return mark.Any
	}
	return Turned + line
}

// ColumnRange reads 2, 2-, -3 and 2-3.
func ColumnRange(list string) (from, to int, ok bool) {
	a, b, ranged := strings.Cut(list, "-")
	from, to = 1, Farthest
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

// MaxHash is the longest beginning of a word that is taken to be part of it.
const MaxHash = 64

// Characters is a range of the characters of a line. Counted from the start they
// may leave the middle of a path, except after the "./" of find and the two
// letters of git status.
func Characters(line string, from, to int) string {
	m, all := Single(line)
	name, status := strings.CutPrefix(line, mark.Atom+mark.Atom+" ")
	switch {
	case m == mark.Any:
	case all && (m == mark.Atom || from == 1 || from == 3 && to >= Farthest):
		return m
	case from == 1 && to <= MaxHash && strings.HasPrefix(line, mark.Atom+" "):
		return mark.Atom
	case status && from == 4 && to >= Farthest:
		return name
	}
	return mark.Any
}

// Chosen is a text of which some lines are left out, nobody knows which. Names
// that are not known hide one that is known to lead elsewhere, if that is the one
// which is left.
func Chosen(text string) string {
	l := Lines(text)
	for _, line := range l {
		if len(l) > 1 && !mark.In(line) && (StartsPath(line) && line != "." && !strings.HasPrefix(line, "./") || Climbs(line)) {
			return mark.Any
		}
	}
	return text
}

// Through is what comes out of an editor of lines: what went in, as far as one
// can tell. Names of files of the tree stay names of its files, and so do records
// of names and words, unless the code has what could lead elsewhere.
func Through(text, code string) string {
	switch {
	case mark.Has(text, mark.Outside):
		return mark.Outside
	case mark.Has(text, mark.Any), !mark.In(text), strings.Contains(code, ".."), strings.Contains(code, "~"), writesAbsolute(code):
		return mark.Any
	}
	if mark.Has(text, mark.Inside) && strings.Trim(text, mark.Inside+mark.Atom+" \t\n:") == "" {
		return mark.Inside
	}
	if m, ok := Single(strings.ReplaceAll(text, "\n", " ")); ok {
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

// MaxPrint bounds what is worked out of a command's output.
const MaxPrint = 64 << 10

func Lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// EachLine is a text with every line changed.
func EachLine(text string, change func(string) string) string {
	l := Lines(text)
	for i, line := range l {
		l[i] = change(line)
	}
	if len(l) == 0 {
		return ""
	}
	return strings.Join(l, "\n") + "\n"
}

// Found is what a search prints for a match: the file's name, numbers, and the
// text, which nobody knows.
func Found(place string, numbers int, end string) string {
	return place + ":" + strings.Repeat(mark.Atom+":", numbers) + end + "\n"
}

func When(ok bool, out string) string {
	if ok {
		return out
	}
	return ""
}
