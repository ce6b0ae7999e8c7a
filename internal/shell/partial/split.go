package partial

import (
	"strings"
)

// letter is a character of a line, and whether it was quoted by a backslash.
type letter struct {
	r      rune
	quoted bool
}

func PlainText(s string) []letter {
	out := make([]letter, 0, len(s))
	for _, r := range s {
		out = append(out, letter{r: r})
	}
	return out
}

// EscapedText is a line whose backslashes quote.
func EscapedText(s string) []letter {
	var out []letter
	quoted := false
	for _, r := range s {
		if r == '\\' && !quoted {
			quoted = true
			continue
		}
		if !quoted || r != '\n' {
			out = append(out, letter{r, quoted})
		}
		quoted = false
	}
	return out
}

func TextOf(list []letter) string {
	var b strings.Builder
	for _, l := range list {
		b.WriteRune(l.r)
	}
	return b.String()
}

// separators are the characters that end a field.
type separators string

func (s separators) blank(l letter) bool {
	return !l.quoted && (l.r == ' ' || l.r == '\t' || l.r == '\n') && strings.ContainsRune(string(s), l.r)
}

func (s separators) ends(l letter) bool { return !l.quoted && strings.ContainsRune(string(s), l.r) }

func (s separators) trimmed(list []letter) []letter {
	for len(list) > 0 && s.blank(list[0]) {
		list = list[1:]
	}
	return list
}

// next takes a field with what ends it: blanks, and one separator that is none.
func (s separators) next(list []letter) (field, rest []letter) {
	n := 0
	for n < len(list) && !s.ends(list[n]) {
		n++
	}
	field, rest = list[:n], s.trimmed(list[n:])
	if len(rest) > 0 && s.ends(rest[0]) && !s.blank(rest[0]) {
		rest = s.trimmed(rest[1:])
	}
	return field, rest
}

// Fields splits a line as bash does, into at most so many fields (0 is any
// Number): the last one keeps the separators in it.
func Fields(line []letter, ifs string, most int) []string {
	s := separators(ifs)
	rest := s.trimmed(line)
	var out []string
	for len(rest) > 0 {
		field, after := s.next(rest)
		if most > 0 && len(out) == most-1 && len(after) > 0 {
			field, after = rest, nil
			for len(field) > 0 && s.blank(field[len(field)-1]) {
				field = field[:len(field)-1]
			}
		}
		out = append(out, TextOf(field))
		rest = after
	}
	return out
}
