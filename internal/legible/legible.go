// Package legible makes text that somebody else chose fit to be shown among cordon's
// own words: nothing in it acts on a terminal, turns a line around or passes for an
// empty place, and a line of it ends before the terminal would begin another.
//
// It refuses to judge what a text says, and it keeps no terminal from being lied to by
// letters that look alike. Where a program's own output goes to a terminal, colours
// and all, is not here.
package legible

import (
	"strings"
	"unicode"
)

// Text is a text of several lines. What shows nothing is left out, what looks like an
// empty place is a space; line breaks and tabs stay.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case blank(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// Line is a text in one line, with one space at a time.
func Line(s string) string { return strings.Join(strings.Fields(Text(s)), " ") }

// Silent reports whether a rune shows nothing and acts on what is around it: a control
// character, or one that says how others are to be read or ordered.
func Silent(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

// blank knows what takes a place, or begins another line, and shows nothing.
func blank(r rune) bool {
	switch r {
	case '\u2800', '\U0001d159': // an empty Braille cell, an empty note head
		return true
	}
	return unicode.In(r, unicode.Z, unicode.Other_Default_Ignorable_Code_Point) // the fillers of Hangul among these
}
