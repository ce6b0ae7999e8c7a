package commands

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// farthest is where a range ends that has no end.
const farthest = 1 << 20

// span is a range of fields, counted from 1.
type span struct{ from, to int }

// ranges reads the list of cut: 1,3-5,7-.
func ranges(list string) ([]span, bool) {
	var spans []span
	for _, piece := range strings.Split(list, ",") {
		a, b, dashed := strings.Cut(piece, "-")
		s := span{1, farthest}
		var err error
		if a != "" {
			if s.from, err = strconv.Atoi(a); err != nil {
				return nil, false
			}
		}
		if !dashed {
			s.to = s.from
		} else if b != "" {
			if s.to, err = strconv.Atoi(b); err != nil {
				return nil, false
			}
		}
		spans = append(spans, s)
	}
	return spans, list != "" && len(spans) < 64
}

func pick(fields []string, wanted []span, separator string) string {
	var kept []string
	for i, f := range fields {
		for _, s := range wanted {
			if i+1 >= s.from && i+1 <= s.to {
				kept = append(kept, f)
				break
			}
		}
	}
	return strings.Join(kept, separator)
}

// charSet expands a set of tr: escapes, ranges, [:upper:] and [:lower:].
func charSet(s string) ([]rune, bool) {
	s = strings.ReplaceAll(s, "[:upper:]", "A-Z")
	s = strings.ReplaceAll(s, "[:lower:]", "a-z")
	s = strings.ReplaceAll(s, "[:digit:]", "0-9")
	s = strings.ReplaceAll(s, "[:alnum:]", "A-Za-z0-9")
	s = strings.ReplaceAll(s, "[:alpha:]", "A-Za-z")
	s = strings.ReplaceAll(s, "[:xdigit:]", "0-9A-Fa-f")
	s = strings.ReplaceAll(s, "[:space:]", ` \t\n\v\f\r`)
	s = strings.ReplaceAll(s, "[:blank:]", ` \t`)
	if strings.Contains(s, "[:") || strings.Contains(s, "[=") || strings.Contains(s, "*]") {
		return nil, false
	}
	var set []rune
	for i := 0; i < len(s); {
		r, n := escaped(s[i:])
		i += n
		if i+1 < len(s) && s[i] == '-' {
			last, m := escaped(s[i+1:])
			if last < r || last-r > 512 {
				return nil, false
			}
			for c := r; c <= last; c++ {
				set = append(set, c)
			}
			i += 1 + m
		} else {
			set = append(set, r)
		}
		if len(set) > 1024 {
			return nil, false
		}
	}
	return set, true
}

// escaped reads one character that may be written with a backslash.
func escaped(s string) (rune, int) {
	if s[0] != '\\' || len(s) == 1 {
		return utf8.DecodeRuneInString(s)
	}
	if n := digitsOf(s[1:], 3, 8); n > 0 {
		v, _ := strconv.ParseUint(s[1:1+n], 8, 16)
		return rune(v & 0xff), 1 + n
	}
	switch s[1] {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'a':
		return '\a', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'v':
		return '\v', 2
	}
	r, n := utf8.DecodeRuneInString(s[1:])
	return r, 1 + n
}

// digitsOf counts the digits of a base that a text begins with, at most limit.
func digitsOf(s string, limit int, base byte) int {
	n := 0
	for n < len(s) && n < limit && digit(s[n]) < base {
		n++
	}
	return n
}

func digit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}
