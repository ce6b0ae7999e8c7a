package legible

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Part is a part of a text: letters that can be seen, or the name of one character that cannot.
type Part struct{ Text, Chip string }

// Parts are a text as the faces of the desk show it: what cannot be seen is a chip of its own,
// such as U+202E, which a reader does not take for letters of the text. Line breaks and tabs stay.
func Parts(s string) (list []Part) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var eye Eye
	begin := 0
	for at := 0; at < len(s); {
		r, n := utf8.DecodeRuneInString(s[at:])
		if char := s[at : at+n]; eye.See(char) != char {
			if at > begin {
				list = append(list, Part{Text: s[begin:at]})
			}
			list = append(list, Part{Chip: chip(r, char)})
			begin = at + n
		}
		at += n
	}
	if begin < len(s) {
		list = append(list, Part{Text: s[begin:]})
	}
	return list
}

// chip names a character that cannot be seen.
func chip(r rune, raw string) string {
	if r == utf8.RuneError && len(raw) == 1 {
		return fmt.Sprintf(`\x%02x`, raw[0])
	}
	return fmt.Sprintf("U+%04X", r)
}
