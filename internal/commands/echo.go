package commands

import (
	"strconv"
	"strings"

	"cordon/internal/mark"
)

// echoes is what echo prints.
func echoes(args []string) string {
	newline, escapes := true, false
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
		for _, c := range args[0][1:] {
			switch c {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E':
				escapes = false
			}
		}
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		stopped := false
		text, stopped = unescape(text, true)
		newline = newline && !stopped
	}
	if newline {
		text += "\n"
	}
	if !cleanMade(text, args) {
		return mark.Any
	}
	return text
}

// cleanMade reports whether no escape made a character that is a mark.
func cleanMade(text string, from []string) bool {
	return mark.Clean(text) || !mark.Clean(strings.Join(from, ""))
}

// unescape does the escapes of echo -e and printf %b, or of a printf format,
// whose octal numbers begin without a zero. It stops at \c.
func unescape(s string, echo bool) (text string, stopped bool) {
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
		t, n := unescapeOne(s[i+1:], echo)
		b.WriteString(t)
		i += 1 + n
	}
	return b.String(), false
}

// unescapeOne reads what follows a backslash.
func unescapeOne(s string, echo bool) (string, int) {
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
	if digit(s[0]) < 8 {
		return numbered(s, 0, 3, 8)
	}
	return `\` + s[:1], 1
}

// numbered reads a character given as a number, of at most limit digits that
// begin at from.
func numbered(s string, from, limit, base int) (string, int) {
	n := digitsOf(s[from:], limit, byte(base))
	if n == 0 {
		return `\` + s[:1], 1
	}
	v, _ := strconv.ParseUint(s[from:from+n], base, 32)
	if limit > 3 {
		return string(rune(v)), from + n
	}
	return string([]byte{byte(v)}), from + n
}

// printfs is what printf prints.
func (g *reading) printfs() string {
	args := g.call.Args[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 || args[0] == "-v" {
		return ""
	}
	text, ok := Printf(args[0], args[1:])
	if !ok || !cleanMade(text, args) {
		return mark.Any
	}
	return text
}

// Printf is what the printf of a shell prints for a format and arguments, which
// may hold marks; false if that is not known.
func Printf(format string, args []string) (string, bool) {
	if mark.Has(format, mark.Any) {
		return "", false
	}
	var b strings.Builder
	for round := 0; round < 4096; round++ {
		used, ended, ok := printfOnce(&b, format, args)
		if !ok || b.Len() > maxPrint {
			return "", false
		}
		args = args[min(used, len(args)):]
		if ended || used == 0 || len(args) == 0 {
			return b.String(), true
		}
	}
	return "", false
}

// printfOnce goes through the format once.
func printfOnce(b *strings.Builder, format string, args []string) (used int, ended, ok bool) {
	for i := 0; i < len(format); {
		c := format[i]
		switch {
		case c == '\\' && i+1 < len(format):
			if format[i+1] == 'c' {
				return used, true, true
			}
			t, n := unescapeOne(format[i+1:], false)
			b.WriteString(t)
			i += 1 + n
		case c == '%' && strings.HasPrefix(format[i:], "%%"):
			b.WriteByte('%')
			i += 2
		case c == '%':
			n := verbLen(format[i:])
			if n == 0 {
				return used, false, false
			}
			arg := ""
			if used < len(args) {
				arg = args[used]
			}
			used++
			t, stopped, ok := verbText(format[i:i+n], arg)
			b.WriteString(t)
			if !ok || stopped {
				return used, stopped, ok
			}
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return used, false, true
}

// verbLen is the length of a directive such as %-5.3s; 0 if it is not known.
func verbLen(s string) int {
	n := 1
	for n < len(s) && strings.IndexByte("-+ #0123456789.", s[n]) >= 0 {
		n++
	}
	if n < len(s) && strings.IndexByte("sdiuxXobqc", s[n]) >= 0 {
		return n + 1
	}
	return 0
}

// verbText is what a directive makes of an argument.
func verbText(directive, arg string) (text string, stopped, ok bool) {
	verb := directive[len(directive)-1]
	flags := directive[1 : len(directive)-1]
	switch verb {
	case 's':
		text, ok = arg, true
	case 'b':
		text, stopped = unescape(arg, true)
		ok = true
	case 'q':
		text, ok = arg, strings.Trim(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:@%+,") == "" && arg != ""
	case 'c':
		text, ok = arg[:min(runeLen(arg), len(arg))], !mark.In(arg)
	default:
		text, ok = numberText(verb, arg)
	}
	if flags == "" || !ok {
		return text, stopped, ok
	}
	text, ok = padded(flags, text)
	return text, stopped, ok
}

func numberText(verb byte, arg string) (string, bool) {
	if mark.In(arg) {
		return mark.Atom, true
	}
	if arg == "" {
		arg = "0"
	}
	if len(arg) == 2 && (arg[0] == '\'' || arg[0] == '"') {
		arg = strconv.Itoa(int(arg[1]))
	}
	n, err := strconv.ParseInt(arg, 0, 64)
	if err != nil {
		return "", false
	}
	switch verb {
	case 'x':
		return strconv.FormatInt(n, 16), n >= 0
	case 'X':
		return strings.ToUpper(strconv.FormatInt(n, 16)), n >= 0
	case 'o':
		return strconv.FormatInt(n, 8), n >= 0
	}
	return strconv.FormatInt(n, 10), true
}

// padded applies a width and a precision.
func padded(flags, text string) (string, bool) {
	left := strings.HasPrefix(flags, "-")
	zero := strings.HasPrefix(flags, "0")
	w, p, precise := strings.Cut(strings.TrimLeft(flags, "-0"), ".")
	if precise {
		n, err := strconv.Atoi(p)
		if err != nil || mark.In(text) {
			return "", false
		}
		text = text[:min(n, len(text))]
	}
	if w == "" {
		return text, true
	}
	n, err := strconv.Atoi(w)
	if err != nil || n > 4096 {
		return "", false
	}
	pad := " "
	if zero {
		pad = "0"
	}
	fill := strings.Repeat(pad, max(0, n-len(text)))
	if left {
		return text + fill, true
	}
	return fill + text, true
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
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 255
}
