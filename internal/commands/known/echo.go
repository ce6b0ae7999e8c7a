package known

import (
	"fmt"
	"strconv"
	"strings"

	"cordon/internal/commands/argtext"
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
		text, stopped = argtext.Unescape(text, true)
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
		if !ok || b.Len() > argtext.MaxPrint {
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
			t, n := argtext.UnescapeOne(format[i+1:], false)
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
	n, err := strconv.Atoi(arg)
	verb := directive[len(directive)-1:]
	switch {
	case directive == "%s":
		return arg, false, true
	case directive == "%.0s" && !mark.In(arg): // it repeats what is around it
		return "", false, true
	case directive == "%b":
		text, stopped = argtext.Unescape(arg, true)
		return text, stopped, true
	case strings.Contains("sbcqiu", verb) || len(directive) > 6:
		return "", false, false
	case mark.In(arg):
		return mark.Atom, false, true
	}
	return fmt.Sprintf(directive, n), false, err == nil
}
