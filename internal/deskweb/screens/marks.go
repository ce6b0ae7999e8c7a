package screens

import (
	"unicode"
	"unicode/utf8"

	"cordon/internal/desk"
	"cordon/internal/legible"
)

// linePart is a part of a line; what differs from the other side is marked.
type linePart struct {
	Text   string
	Marked bool
	Folded bool   // the rest of a line that is too long for a row
	Class  string // of a word of a language; empty: none
}

// longLine is how much of a line a diff shows before it folds the rest.
const longLine = 2000

// codeRow is a row of a patch with the language of its file.
type codeRow struct {
	desk.Row
	Language *desk.Language
}

func codeRowOf(g *desk.Language, r desk.Row) codeRow { return codeRow{r, g} }

// languageOf is that of a file whose words are marked. A file that is folded is shown as it is: it is large.
func languageOf(f desk.File) *desk.Language {
	if f.Folded {
		return nil
	}
	return desk.LanguageOf(f.Name)
}

// classes are those of the words of a language.
var classes = map[desk.Kind]string{desk.Keyword: "kw", desk.Quoted: "str", desk.Remark: "com", desk.Called: "fn"}

// lineParts splits a line of one side of a row. Nothing is left out: the end of a long line is folded.
func lineParts(g *desk.Language, line, other string, changed bool) []linePart {
	if len(line) > longLine {
		at := longLine
		for at > 0 && !utf8.RuneStart(line[at]) {
			at--
		}
		return []linePart{{Text: line[:at]}, {Text: line[at:], Folded: true}}
	}
	from, to := 0, 0
	if changed && len(other) <= longLine {
		from, to = difference(line, other)
	}
	var list []linePart
	at := 0
	until := func(end int, class string) { // what differs is a part of its own
		for at < end {
			next := end
			for _, cut := range []int{from, to} {
				if cut > at && cut < next {
					next = cut
				}
			}
			list = append(list, linePart{Text: line[at:next], Marked: at >= from && at < to, Class: class})
			at = next
		}
	}
	letters, begins := lettersOf(g, line)
	spans := g.Spans(letters)
	if len(spans) > legible.MostParts || len(legible.Parts(line)) > legible.MostParts {
		return []linePart{{Text: line}}
	}
	for _, s := range spans {
		until(begins[s.From], "")
		until(begins[s.To], classes[s.Kind])
	}
	until(len(line), "")
	return list
}

// lettersOf are the letters of a line, each with its marks, and where they begin; the last begins at the end.
func lettersOf(g *desk.Language, line string) (letters []string, begins []int) {
	if g == nil {
		return nil, nil
	}
	for at := 0; at < len(line); {
		r, n := utf8.DecodeRuneInString(line[at:])
		if last := len(letters) - 1; last >= 0 && unicode.In(r, unicode.M, unicode.Cf) {
			letters[last] += line[at : at+n]
		} else {
			letters, begins = append(letters, line[at:at+n]), append(begins, at)
		}
		at += n
	}
	return letters, append(begins, len(line))
}

// difference is the part of a line that the other side does not have, in whole words. Lines that
// have little in common have no such part: marking all of one says nothing.
func difference(line, other string) (from, to int) {
	most := min(len(line), len(other))
	for from < most && line[from] == other[from] {
		from++
	}
	end := 0
	for end < most-from && line[len(line)-1-end] == other[len(other)-1-end] {
		end++
	}
	to = len(line) - end
	if from >= to {
		return 0, 0
	}
	for inside(line, from) {
		from--
	}
	for inside(line, to) {
		to++
	}
	if (to-from)*4 > len(line)*3 {
		return 0, 0
	}
	return from, to
}

// inside reports whether a place in a line is within a character or a word.
func inside(s string, at int) bool {
	if at <= 0 || at >= len(s) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, _ := utf8.DecodeRuneInString(s[at:])
	return !utf8.RuneStart(s[at]) || inWord(before) && inWord(after)
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
