package legible

import (
	"strings"
	"unicode"
)

// Plain are the words of a text, for what is kept as words: a question, an answer, what a
// client says. What shows nothing is left out, what looks like an empty place is a space;
// line breaks and tabs stay. What is shown of it still goes through Text.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case blank(r) && !unicode.Is(unicode.Variation_Selector, r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// PlainLine are the words of a text in one line, with one space at a time.
func PlainLine(s string) string { return strings.Join(strings.Fields(Plain(s)), " ") }
