package legible

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Part is a part of a text: letters that can be seen, or the name of characters that cannot.
type Part struct{ Text, Chip string }

// MostParts is after how many parts the rest of a text is one more. Each part is an element of a page.
const MostParts = 200

// Parts are a text as the faces of the desk show it: what cannot be seen is a chip of its own,
// such as U+202E or U+202E ×600, which a reader does not take for letters of the text. Line breaks and tabs stay.
// The last of too many parts is a chip in which everything is written out.
func Parts(s string) (list []Part) {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var eye Eye
	begin := 0
	for at := 0; at < len(s); {
		r, n := utf8.DecodeRuneInString(s[at:])
		char := s[at : at+n]
		if eye.See(char) == char {
			at += n
			continue
		}
		if at > begin {
			list = append(list, Part{Text: s[begin:at]})
		}
		if len(list) >= MostParts {
			return append(list, Part{Chip: Text(s[at:])})
		}
		run := n
		for again, m := utf8.DecodeRuneInString(s[at+run:]); again == r && m == n && s[at+run:at+run+n] == char; {
			run += n
			again, m = utf8.DecodeRuneInString(s[at+run:])
		}
		list = append(list, Part{Chip: chip(r, char, run/n)})
		at += run
		begin = at
	}
	if begin < len(s) {
		list = append(list, Part{Text: s[begin:]})
	}
	return list
}

// chip names a character that cannot be seen, and says how often it stands there.
func chip(r rune, raw string, times int) string {
	name := fmt.Sprintf("U+%04X", r)
	if r == utf8.RuneError && len(raw) == 1 {
		name = fmt.Sprintf(`\x%02x`, raw[0])
	}
	if times > 1 {
		name += fmt.Sprintf(" ×%d", times)
	}
	return name
}
