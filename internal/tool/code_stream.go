package tool

import (
	"regexp"
	"strconv"
	"strings"

	"cordon/internal/mark"
)

// maxStream is how much text is edited here; more is not known.
const maxStream = 16 << 10

// sedRun is what sed prints, for scripts of the plain kinds: s///, and p, d and
// q for numbered lines. For any other it is not known.
func sedRun(script, stdin string, quiet, extended bool) string {
	if len(stdin) > maxStream {
		return mark.Any
	}
	var edits []sedEdit
	for _, s := range strings.FieldsFunc(script, func(r rune) bool { return r == '\n' }) {
		e, ok := sedEdits(s, extended)
		if !ok {
			return mark.Any
		}
		edits = append(edits, e...)
	}
	var b strings.Builder
	lines := strings.SplitAfter(stdin, "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	}
	for i, line := range lines {
		if sedLine(&b, edits, line, i+1, len(lines), quiet) {
			break
		}
	}
	return b.String()
}

// sedEdit is one command: a letter, the lines it is for, and what it replaces.
type sedEdit struct {
	verb     byte
	from, to int // lines; 0 is none, -1 the last
	pattern  *regexp.Regexp
	by       string
	all, put bool
}

// sedEdits reads a line of commands; false if one is of another kind.
func sedEdits(s string, extended bool) ([]sedEdit, bool) {
	var edits []sedEdit
	for s = strings.Trim(s, " ;"); s != ""; s = strings.TrimLeft(s, " ;") {
		var e sedEdit
		e, s = sedNumbers(s)
		if s == "" {
			return nil, false
		}
		e.verb = s[0]
		s = s[1:]
		switch e.verb {
		case 'p', 'd', 'q':
			if s != "" && s[0] != ';' && s[0] != ' ' {
				return nil, false
			}
		case 's':
			var ok bool
			if s, ok = e.substitution(s, extended); !ok {
				return nil, false
			}
		default:
			return nil, false
		}
		edits = append(edits, e)
	}
	return edits, true
}

// sedNumbers reads N, $, N,M and N,$.
func sedNumbers(s string) (sedEdit, string) {
	var e sedEdit
	e.from, s = sedNumber(s)
	e.to = e.from
	if rest, ok := strings.CutPrefix(s, ","); ok && e.from != 0 {
		e.to, s = sedNumber(rest)
	}
	return e, s
}

func sedNumber(s string) (int, string) {
	if strings.HasPrefix(s, "$") {
		return -1, s[1:]
	}
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, _ := strconv.Atoi(s[:i])
	return n, s[i:]
}

// substitution reads /pattern/replacement/flags.
func (e *sedEdit) substitution(s string, extended bool) (string, bool) {
	p := &sedParser{src: s, pos: 1}
	if s == "" {
		return "", false
	}
	pattern := p.until(s[0])
	by := p.until(s[0])
	rest := s[p.pos:]
	for rest != "" && rest[0] != ';' && rest[0] != ' ' {
		switch rest[0] {
		case 'g':
			e.all = true
		case 'p':
			e.put = true
		default:
			return "", false
		}
		rest = rest[1:]
	}
	if d := s[0]; d != '/' && strings.ContainsRune(`|+?(){}.*[]^$&`, rune(d)) && strings.Contains(pattern+by, `\`+string(d)) {
		return "", false
	}
	re, err := regexp.Compile(translated(strings.ReplaceAll(pattern, `\`+s[:1], s[:1]), extended))
	if err != nil || strings.Contains(by, "\n") {
		return "", false
	}
	re.Longest()
	e.pattern, e.by = re, template(strings.ReplaceAll(by, `\`+s[:1], s[:1]))
	return rest, true
}

// translated turns a pattern of sed into one of Go: without -E, brackets and
// repetitions are special when they are escaped.
func translated(s string, extended bool) string {
	if extended {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i++
			if strings.IndexByte("(){}+?|", s[i]) < 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i])
		case strings.IndexByte("(){}+?|", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// template turns a replacement of sed into one of Go.
func template(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '$':
			b.WriteString("$$")
		case c == '&':
			b.WriteString("${0}")
		case c == '\\' && i+1 < len(s):
			i++
			switch d := s[i]; {
			case d >= '0' && d <= '9':
				b.WriteString("${" + string(d) + "}")
			case d == 'n':
				b.WriteByte('\n')
			default:
				b.WriteByte(d)
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// sedLine edits one line and reports whether it is the last that is read.
func sedLine(b *strings.Builder, edits []sedEdit, line string, n, last int, quiet bool) bool {
	text, nl := strings.CutSuffix(line, "\n")
	end := ""
	if nl {
		end = "\n"
	}
	for _, e := range edits {
		if !e.covers(n, last) {
			continue
		}
		switch e.verb {
		case 'p':
			b.WriteString(text + end)
		case 'd':
			return false
		case 'q':
			if !quiet {
				b.WriteString(text + end)
			}
			return true
		case 's':
			changed := e.replace(text)
			if e.put && e.pattern.MatchString(text) {
				b.WriteString(changed + end)
			}
			text = changed
		}
	}
	if !quiet && b.Len() < 4*maxStream {
		b.WriteString(text + end)
	}
	return false
}

func (e sedEdit) covers(n, last int) bool {
	from, to := e.from, e.to
	if from == 0 {
		return true
	}
	if from < 0 {
		from = last
	}
	if to < 0 {
		to = last
	}
	return n == from || n > from && n <= to
}

func (e sedEdit) replace(s string) string {
	if e.all {
		return e.pattern.ReplaceAllString(s, e.by)
	}
	at := e.pattern.FindStringSubmatchIndex(s)
	if at == nil {
		return s
	}
	return s[:at[0]] + string(e.pattern.ExpandString(nil, e.by, s, at)) + s[at[1]:]
}
