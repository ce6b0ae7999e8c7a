// Package legible makes text that somebody else chose fit to be shown among cordon's
// own words: nothing in it acts on a terminal, hides, turns a line around or passes for
// an empty place, and a line of it ends before the terminal would begin another.
//
// Text is the one function that does so; everything that a person reads of a worker's
// goes through it. What cannot be seen is written out (^M, \u202e, \x9b), never left out:
// a reader is to know that it is there. JSON does the same for a program's eyes, without
// loss.
//
// It refuses to judge what a text says, and it keeps nobody from being lied to by
// letters that look alike.
package legible

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text is a text in which everything can be seen. Line breaks and tabs stay.
func Text(s string) string { return write(s, "", "") }

// Marked is Text for a terminal with colours: what is written out is shown in reverse, so
// that it is not taken for letters of the text.
func Marked(s string) string { return write(s, "\x1b[7m", "\x1b[27m") }

// Line is a text in one line, with one space at a time.
func Line(s string) string { return strings.Join(strings.Fields(Text(s)), " ") }

// maxMarks is how many marks a letter may carry. More would be drawn over other lines.
const maxMarks = 3

func write(s, begin, end string) string {
	var b strings.Builder
	var e Eye
	s = strings.ReplaceAll(s, "\r\n", "\n")
	for len(s) > 0 {
		_, size := utf8.DecodeRuneInString(s)
		if text := e.See(s[:size]); text != s[:size] {
			b.WriteString(begin + text + end)
		} else {
			b.WriteString(text)
		}
		s = s[size:]
	}
	return b.String()
}

// Eye reads a text character by character, for text that comes in parts.
type Eye struct {
	last  rune // the character before
	marks int  // how many marks it carries
}

// See is the next character as Text has it: itself, or written out. A byte that is no
// character is one by itself.
func (e *Eye) See(char string) string {
	r, size := utf8.DecodeRuneInString(char)
	if ' ' <= r && r < 0x7f { // most are, and tables take their time
		e.last, e.marks = r, 0
		return char
	}
	mark := unicode.In(r, unicode.Mn, unicode.Me)
	if e.marks++; !mark {
		e.marks = 0
	}
	shown := (r != utf8.RuneError || size > 1) && seen(r, e.last, e.marks)
	switch {
	case !shown:
		e.last = 0
		return name(r, char)
	case !mark:
		e.last = r
	}
	return char
}

// seen reports whether a character can be seen where it stands.
func seen(r, last rune, marks int) bool {
	switch {
	case r == '\n' || r == '\t':
		return true
	case pictures(r, last):
		return marks == 1
	case blank(r) || !unicode.IsPrint(r):
		return false
	}
	return marks == 0 || marks <= maxMarks && (unicode.IsLetter(last) || unicode.IsNumber(last) || unicode.In(last, unicode.Mc, unicode.So))
}

// name is a character written out.
func name(r rune, raw string) string {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		return `\x` + strconv.FormatUint(uint64(raw[0])|0x100, 16)[1:]
	case r < 0x20:
		return "^" + string(r+'@')
	case r == 0x7f:
		return "^?"
	}
	quoted := strconv.QuoteRuneToASCII(r)
	return quoted[1 : len(quoted)-1]
}

// Silent reports whether a rune shows nothing and acts on what is around it: a control
// character, or one that says how others are to be read or ordered.
func Silent(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

// Hides reports whether a name holds a rune that shows nothing. A space of any width is seen as one.
func Hides(name string) bool {
	var last rune
	for _, r := range name {
		if Silent(r) || blank(r) && !unicode.Is(unicode.Zs, r) && !pictures(r, last) {
			return true
		}
		last = r
	}
	return false
}

// pictures reports whether a rune makes a picture of the symbol before it.
func pictures(r, last rune) bool {
	return r == '\ufe0f' && unicode.In(last, unicode.So, unicode.Sm, unicode.Po)
}

// blank knows what takes a place or none, and shows nothing.
func blank(r rune) bool {
	switch r {
	case ' ':
		return false
	case '\u2800', '\U0001d159': // an empty Braille cell, an empty note head
		return true
	}
	return unicode.In(r, unicode.Z, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) // the fillers of Hangul among these
}

// JSON is a JSON text with the same meaning in which every character can be seen: what
// cannot be is an escape. Outside of strings JSON has no such characters.
func JSON(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r < 0x7f || r == utf8.RuneError || seen(r, 'x', 0) && !unicode.In(r, unicode.Mn, unicode.Me) {
			out = append(out, b[:size]...)
		} else {
			for _, unit := range utf16.AppendRune(nil, r) {
				out = append(out, `\u`...)
				out = append(out, strconv.FormatUint(uint64(unit)|0x10000, 16)[1:]...)
			}
		}
		b = b[size:]
	}
	return out
}
