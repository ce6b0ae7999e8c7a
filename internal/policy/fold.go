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

// folding says whether a file system takes names that differ in case for one.
type folding bool

// key maps a name to the form in which the file system compares it.
func (f folding) key(name string) string {
	if f {
		return fold(name)
	}
	return name
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
