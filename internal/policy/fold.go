package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold maps names that a case-folding file system takes for one file to one
// string: canonical normalisation and simple case folding. Bytes that are not
// UTF-8 stay as they are. Applied to a glob it keeps the glob's syntax, which
// holds no letters; soundClasses makes sure that ranges survive.
func fold(s string) string {
	if isASCII(s) {
		return strings.ToUpper(s)
	}
	var b strings.Builder
	decomposed := norm.NFD.String(s)
	for i := 0; i < len(decomposed); {
		r, size := utf8.DecodeRuneInString(decomposed[i:])
		if r == utf8.RuneError && size == 1 {
			b.WriteByte(decomposed[i])
		} else {
			b.WriteRune(foldRune(r))
		}
		i += size
	}
	return norm.NFC.String(b.String())
}

// foldRune returns the least of the characters that differ from r only in case;
// for an ASCII letter that is the upper-case one.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// foldHidden is fold for the built-in table, which must hold on every file
// system the result may be checked out on: HFS+ also ignores the characters
// below, so that .g<U+200C>it is .git to it.
func foldHidden(s string) string {
	if !isASCII(s) {
		s = strings.Map(dropIgnorable, s)
	}
	return fold(s)
}

func dropIgnorable(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// folding says whether a file system takes names that differ in case for one.
type folding bool

// key maps a name to the form in which the file system compares it.
func (f folding) key(name string) string {
	if f {
		return fold(name)
	}
	return name
}

func (f folding) keys(names []string) []string { return mapped(names, f.key) }

func mapped(names []string, key func(string) string) []string {
	keys := make([]string, 0, len(names))
	for _, name := range names {
		keys = append(keys, key(name))
	}
	return keys
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
