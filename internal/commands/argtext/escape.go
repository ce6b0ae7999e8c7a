package argtext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Unescape does the escapes of echo -e and printf %b, or of a printf format,
// whose octal numbers begin without a zero. It stops at \c.
func Unescape(s string, echo bool) (text string, stopped bool) {
	if !strings.Contains(s, `\`) {
		return s, false
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		if s[i+1] == 'c' {
			return b.String(), true
		}
		t, n := UnescapeOne(s[i+1:], echo)
		b.WriteString(t)
		i += 1 + n
	}
	return b.String(), false
}

// UnescapeOne reads what follows a backslash.
func UnescapeOne(s string, echo bool) (string, int) {
	if i := strings.IndexByte("abefnrtvE", s[0]); i >= 0 {
		return "\a\b\x1b\f\n\r\t\v\x1b"[i : i+1], 1
	}
	switch s[0] {
	case '\\', '"', '\'':
		return s[:1], 1
	case 'x':
		return numbered(s, 1, 2, 16)
	case 'u':
		return numbered(s, 1, 4, 16)
	case 'U':
		return numbered(s, 1, 8, 16)
	case '0':
		if echo {
			if t, n := numbered(s, 1, 3, 8); n > 1 {
				return t, n
			}
			return "\x00", 1
		}
	}
	if s[0] >= '0' && s[0] < '8' {
		return numbered(s, 0, 3, 8)
	}
	return `\` + s[:1], 1
}

// numbered reads a character given as a number, of at most limit digits that
// begin at from.
func numbered(s string, from, limit, base int) (string, int) {
	for n := min(limit, len(s)-from); n > 0; n-- {
		v, err := strconv.ParseUint(s[from:from+n], base, 32)
		switch {
		case err != nil:
		case limit > 3:
			return string(rune(v)), from + n
		default:
			return string([]byte{byte(v)}), from + n
		}
	}
	return `\` + s[:1], 1
}

// SplitWords splits a text at blanks as env does with the value of -S: quotes,
// backslashes and ${NAME} count. Git differs from it in rare escapes.
func SplitWords(text string, expand func(name string) string) []string {
	var words []string
	var b strings.Builder
	var quote byte
	open := false
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case quote == '\'' && ch == '\\' && i+1 < len(text) && (text[i+1] == '\'' || text[i+1] == '\\'):
			i++
			b.WriteByte(text[i])
		case quote != '\'' && ch == '\\' && i+1 < len(text):
			i++
			switch {
			case text[i] == 'c':
				i = len(text)
			case quote == 0 && text[i] == '_':
				words, open = Flush(words, &b, open), false
			default:
				b.WriteByte(envEscape(text[i]))
				open = true
			}
		case ch == quote && quote != 0:
			quote = 0
		case quote == 0 && (ch == '"' || ch == '\''):
			quote, open = ch, true
		case quote == 0 && strings.IndexByte(" \t\n\v\f\r", ch) >= 0:
			words, open = Flush(words, &b, open), false
		case quote == 0 && ch == '#' && !open:
			i = len(text)
		case quote != '\'' && expand != nil && strings.HasPrefix(text[i:], "${"):
			name, _, _ := strings.Cut(text[i+2:], "}")
			b.WriteString(expand(name))
			i, open = i+len("${")+len(name), true
		default:
			b.WriteByte(ch)
			open = true
		}
	}
	return Flush(words, &b, open)
}

func Flush(words []string, b *strings.Builder, open bool) []string {
	if open {
		words = append(words, b.String())
	}
	b.Reset()
	return words
}

func envEscape(ch byte) byte {
	if i := strings.IndexByte("_fnrtv", ch); i >= 0 {
		return " \f\n\r\t\v"[i]
	}
	return ch
}

// RuneLen is the length of a text's first character in bytes.
func RuneLen(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}
