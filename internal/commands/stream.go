package commands

import (
	"strconv"
	"strings"

	"cordon/internal/mark"
)

// maxStream is how much text is followed through a stream editor.
const maxStream = 16 << 10

// streamed is what awk and sed print of records, for programs of the plain kinds
// that pick a column, leave lines out or cut an end off. They do to a line what
// cut and grep do, so that what is known of a name stays known.
func streamed(c Call) (string, bool) {
	var out string
	ok := false
	switch c.Args[0] {
	case "awk", "gawk", "mawk", "nawk":
		program, sep, files, plain := awkLine(c.Args[1:])
		text, fed := streamInput(c, files)
		if plain && fed {
			out, ok = awkPrints(program, sep, text)
		}
	case "sed", "gsed":
		script, files, plain := sedLineOf(c.Args[1:])
		text, fed := streamInput(c, files)
		if mark.In(script) && fed {
			return mark.Any, true
		}
		if plain && fed {
			out, ok = sedPrints(script, text)
		}
	}
	if !strings.HasSuffix(c.Stdin, "\n") {
		out = strings.TrimSuffix(out, "\n")
	}
	return out, ok && len(out) <= maxPrint
}

// streamInput is the text that a stream editor reads, if that is marked; others
// know what becomes of one that is not.
func streamInput(c Call, files []string) (string, bool) {
	text, ok := c.Stdin, c.Fed
	switch {
	case len(files) == 1 && files[0] != "-":
		text, ok = c.text(files[0])
	case len(files) > 1:
		return "", false
	}
	return text, ok && mark.In(text) && len(text) <= maxStream
}

// awkLine takes the arguments of awk apart, if they are a separator, a program
// and files.
func awkLine(args []string) (program, sep string, files []string, ok bool) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		switch v, glued := strings.CutPrefix(args[0], "-F"); {
		case glued && v != "":
			sep = v
		case glued && len(args) > 1:
			sep, args = args[1], args[1:]
		default:
			return "", "", nil, false
		}
		args = args[1:]
	}
	if len(args) == 0 || mark.In(args[0]) {
		return "", "", nil, false
	}
	return strings.TrimSpace(args[0]), sep, args[1:], true
}

// awkPrints is a program of one rule that prints: '$2 > 3 {print $1}'.
func awkPrints(program, sep, text string) (string, bool) {
	if rest, ok := strings.CutPrefix(program, "BEGIN{FS=\""); ok {
		sep, program, _ = strings.Cut(rest, "\"}")
		program = strings.TrimSpace(program)
	}
	pattern, body, braced := strings.Cut(program, "{")
	if !braced {
		return chosen(text), plainPattern(program)
	}
	if pattern != "" {
		text = chosen(text)
	}
	body, after, _ := strings.Cut(body, "}")
	if !plainPattern(pattern) || strings.TrimSpace(after) != "" {
		return "", false
	}
	body = strings.TrimSpace(body)
	body, _ = strings.CutSuffix(body, "exit")
	list, ok := strings.CutPrefix(strings.TrimRight(body, " ;"), "print")
	if !ok || strings.ContainsAny(list, ">|;") {
		return "", false
	}
	var b strings.Builder
	for _, line := range lines(text) {
		printed, ok := awkItems(list, sep, line)
		if !ok {
			return "", false
		}
		b.WriteString(printed + "\n")
	}
	return b.String(), true
}

// plainPattern reports whether a pattern of awk only chooses lines. One that
// assigns may change them.
func plainPattern(p string) bool {
	for _, op := range [...]string{"==", "!=", "<=", ">="} {
		p = strings.ReplaceAll(p, op, " ")
	}
	return !strings.ContainsAny(p, "={}|;\n") && !strings.Contains(p, "sub") && !strings.Contains(p, "getline") && !strings.Contains(p, "BEGIN") &&
		!strings.Contains(p, "END")
}

// awkItems is what print makes of its list for one line.
func awkItems(list, sep, line string) (string, bool) {
	if strings.TrimSpace(list) == "" {
		return line, true
	}
	var b strings.Builder
	for list != "" {
		switch {
		case list[0] == ' ' || list[0] == '(' || list[0] == ')':
			list = list[1:]
		case list[0] == ',':
			b.WriteByte(' ')
			list = list[1:]
		case list[0] == '"':
			text, rest, ok := strings.Cut(list[1:], `"`)
			if !ok || strings.Contains(text, `\`) || strings.Contains(text, "..") || strings.Contains(text, "~") {
				return "", false
			}
			b.WriteString(text)
			list = rest
		default:
			value, n := awkItem(list, sep, line)
			if n == 0 {
				return "", false
			}
			b.WriteString(value)
			list = list[n:]
		}
	}
	return b.String(), true
}

// awkItem is a column, a number, or what substr leaves of a line.
func awkItem(list, sep, line string) (value string, n int) {
	switch {
	case strings.HasPrefix(list, "$NF"):
		return columnOf(line, separatorOf(sep), -1), 3
	case strings.HasPrefix(list, "NR"), strings.HasPrefix(list, "NF"):
		return mark.Atom, 2
	case strings.HasPrefix(list, "substr($0,"):
		inner, _, ok := strings.Cut(list, ")")
		from, err := strconv.Atoi(strings.TrimSpace(inner[len("substr($0,"):]))
		if !ok || err != nil || from < 1 {
			return "", 0
		}
		return characters(line, []span{{from, farthest}}), len(inner) + 1
	case list[0] != '$':
		return "", 0
	}
	d := digitsOf(list[1:], 3, 10)
	field, err := strconv.Atoi(list[1 : 1+d])
	if err != nil {
		return "", 0
	}
	return columnOf(line, separatorOf(sep), field), 1 + d
}

// sedLineOf takes the arguments of sed apart, if they are scripts and files.
func sedLineOf(args []string) (script string, files []string, ok bool) {
	var scripts []string
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "-" {
		switch args[0] {
		case "-n", "-E", "-r", "-u", "-z":
		case "-e", "-ne", "-Ee", "-nE", "-En":
			if strings.HasSuffix(args[0], "e") && len(args) > 1 {
				scripts, args = append(scripts, args[1]), args[1:]
			}
		default:
			return "", nil, false
		}
		args = args[1:]
	}
	if len(scripts) == 0 && len(args) > 0 {
		scripts, args = args[:1], args[1:]
	}
	script = strings.Join(scripts, ";")
	return script, args, len(scripts) > 0 && !mark.In(script)
}

// sedPrints is a script that leaves lines out, or cuts an end off them.
func sedPrints(script, text string) (string, bool) {
	for _, command := range strings.FieldsFunc(script, func(r rune) bool { return r == ';' || r == '\n' }) {
		command = strings.TrimSpace(command)
		if choosesLines(command) {
			text = chosen(text)
			continue
		}
		pattern, ok := removed(command)
		if !ok {
			return "", false
		}
		var kept []string
		for _, line := range lines(text) {
			line, ok = shorn(line, pattern)
			if !ok {
				return "", false
			}
			kept = append(kept, line)
		}
		text = joinLines(kept)
	}
	return text, true
}

// choosesLines reports whether a command of sed prints or drops lines and
// nothing else: 1,5p, $d, /x/d, /x/!p.
func choosesLines(command string) bool {
	if command == "" || strings.IndexByte("pdq", command[len(command)-1]) < 0 {
		return false
	}
	address := strings.TrimRight(command[:len(command)-1], "! ")
	if len(address) > 1 && address[0] == '/' {
		return strings.IndexByte(address[1:], '/') == len(address)-2
	}
	return strings.Trim(address, "0123456789,$~") == ""
}

// removed is the pattern of a substitution that puts nothing in its place.
func removed(command string) (string, bool) {
	if len(command) < 4 || command[0] != 's' || strings.IndexByte("/|,#:@!", command[1]) < 0 {
		return "", false
	}
	parts := strings.Split(command[2:], command[1:2])
	if len(parts) != 3 || parts[1] != "" || parts[2] != "" || strings.HasSuffix(parts[0], `\`) {
		return "", false
	}
	return parts[0], true
}

// shorn is a line from which an end is cut off: so many characters, blanks,
// what is behind a separator or before the last one.
func shorn(line, pattern string) (string, bool) {
	if dots, ok := strings.CutPrefix(pattern, "^"); ok && dots != "" && strings.Trim(dots, ".") == "" {
		return characters(line, []span{{len(dots) + 1, farthest}}), true
	}
	switch pattern {
	case "^ *", `^\s*`, "^[ \t]*", "^[[:space:]]*", `^[ \t]*`, `^\s+`, "^ +":
		return strings.TrimLeft(line, " \t"), true
	case ":$", " *$", `\s*$`, "$":
		return strings.TrimRight(line, ": \t"), true
	}
	if sep, ok := strings.CutSuffix(strings.TrimSuffix(pattern, "$"), ".*"); ok {
		return endless(line, sep, 1)
	}
	if sep, ok := strings.CutPrefix(strings.TrimPrefix(pattern, "^"), ".*"); ok {
		return endless(line, sep, -1)
	}
	return "", false
}

// endless is the first or last column, if a separator is a character that means
// itself, or a tab.
func endless(line, sep string, n int) (string, bool) {
	if sep == `\t` {
		sep = "\t"
	}
	if len(sep) != 1 || strings.Contains(`.*[]^$\`, sep) {
		return "", false
	}
	if m, ok := single(line); ok {
		return m, sep != "/" || m != mark.Any
	}
	if n < 0 && mark.Has(line, mark.Any) || !record(line) {
		return mark.Any, true
	}
	fields := strings.Split(line, sep)
	if n < 0 {
		n = len(fields)
	}
	return certain(fields, []span{{n, n}}, ""), true
}
