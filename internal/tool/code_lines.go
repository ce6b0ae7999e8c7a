package tool

import (
	"strconv"
	"strings"

	"cordon/internal/mark"
)

// sedUse reads sed: a script, and files that are read, or written with -i.
func sedUse(c Call) Use {
	u := Use{Known: true, Out: mark.Any}
	s := &sedCall{use: &u, stdin: c.Stdin}
	s.options(c.Args[1:])
	script := strings.Join(s.scripts, "\n")
	if !s.scripted && len(s.operands) > 0 {
		script, s.operands = s.operands[0], s.operands[1:]
	}
	su := SedScript(script)
	u.Access = append(u.Access, su.Access...)
	u.Runs = append(u.Runs, su.Runs...)
	u.Findings = append(u.Findings, su.Findings...)
	if mark.Has(script, mark.Any) && strings.Trim(script, mark.Any+" ;\n") == "" {
		u.Findings = append(u.Findings, Finding{Weight: Ask, Reason: "sed's script is not known, and it could write or run", Instead: "write the script out"})
	}
	for _, o := range s.operands {
		if s.inPlace {
			u.edited(o)
		} else {
			u.path(Read, o, "operand")
		}
	}
	if len(s.operands) == 0 && c.Fed && mark.In(c.Stdin) {
		u.Out = through(c.Stdin, replacements(script))
	}
	return u
}

// replacements is the text that a script puts into its output.
func replacements(script string) string {
	p := &sedParser{src: script}
	for p.pos < len(p.src) {
		at := p.pos
		p.command()
		if p.pos <= at {
			p.pos = at + 1
		}
	}
	text := strings.Join(p.text, "\n")
	for _, t := range p.text {
		if strings.HasPrefix(t, "/") || strings.HasPrefix(t, "\\/") {
			return "~" // an absolute path leads elsewhere as a home does
		}
	}
	return text
}

// sedCall is what sed's arguments come to.
type sedCall struct {
	use               *Use
	stdin             string
	scripts, operands []string
	scripted          bool
	inPlace           bool
}

func (s *sedCall) options(args []string) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			s.operands = append(s.operands, args[i+1:]...)
			return
		case strings.HasPrefix(a, "--"):
			i += s.long(a, args[i+1:])
		case strings.HasPrefix(a, "-") && a != "-":
			i += s.short(a, args[i+1:])
		default:
			s.operands = append(s.operands, a)
		}
	}
}

func (s *sedCall) script(v string) { s.scripts, s.scripted = append(s.scripts, v), true }

func (s *sedCall) file(v string) {
	s.scripted = true
	if v == "-" || v == "/dev/stdin" {
		s.scripts = append(s.scripts, s.stdin)
	} else {
		s.use.Runs = append(s.use.Runs, Run{File: v, Lang: Sed, Why: "-f"})
	}
}

// long reads a long option, which may be cut short.
func (s *sedCall) long(a string, rest []string) int {
	name, v, has := strings.Cut(a, "=")
	took := 0
	value := func() string {
		if !has && len(rest) > 0 {
			v, took = rest[0], 1
		}
		return v
	}
	is := func(full string) bool { return len(name) > 3 && strings.HasPrefix(full, name) }
	switch {
	case is("--expression"):
		s.script(value())
	case is("--file"):
		s.file(value())
	case is("--in-place"):
		s.editing(v)
	case is("--line-length"):
		value()
	}
	return took
}

func (s *sedCall) short(a string, rest []string) int {
	for j := 1; j < len(a); j++ {
		switch a[j] {
		case 'i', 'I':
			s.editing(a[j+1:])
			if j+1 == len(a) && len(rest) > 0 && rest[0] == "" {
				return 1 // the empty suffix of other systems
			}
			return 0
		case 'e', 'f', 'l':
			v, took := a[j+1:], 0
			if v == "" && len(rest) > 0 {
				v, took = rest[0], 1
			}
			if a[j] == 'e' {
				s.script(v)
			} else if a[j] == 'f' {
				s.file(v)
			}
			return took
		}
	}
	return 0
}

// editing notes -i. A suffix with a slash says where the old file goes.
func (s *sedCall) editing(suffix string) {
	s.inPlace = true
	if strings.Contains(suffix, "/") {
		s.use.path(Write, strings.ReplaceAll(suffix, "*", mark.Atom), "-i")
	}
}

// awkUse reads awk: a program, assignments and files.
func awkUse(c Call) Use {
	u := Use{Known: true, Out: mark.Any}
	in := &interpreter{lang: Awk, code: "-e --source", file: "-f --file -E --exec", text: "-v --assign -F --field-separator -i --include -l --load -W", loose: "", operands: "read"}
	args, assigned, sep, inPlace := awkOptions(&u, c.Args[1:])
	p := in.options(&u, args)
	code := strings.Join(p.code, "\n")
	if !p.coded && !p.filed && len(p.operands) > 0 {
		code, p.coded, p.operands = p.operands[0], true, p.operands[1:]
	}
	files := 0
	for _, o := range p.operands {
		if name, v, ok := strings.Cut(o, "="); ok && isName(name) {
			assigned += "BEGIN{" + name + "=\"" + strings.ReplaceAll(v, `"`, `\"`) + "\"}\n"
			continue
		}
		files++
		if inPlace {
			u.edited(o)
		} else {
			u.path(Read, o, "operand")
		}
	}
	params := append([]string{"awk"}, p.operands...)
	if p.filed {
		u.Runs = append(u.Runs, Run{File: p.file, Lang: Awk, Params: params, Why: "-f"})
	}
	if p.coded {
		u.Runs = append(u.Runs, Run{Code: assigned + code, Lang: Awk, Params: params, Why: "program"})
	}
	if files == 0 && c.Fed && p.coded {
		u.Out = awkRun(code, sep, c.Stdin)
	}
	return u
}

// awkOptions takes the assignments, the separator, and what gawk writes out of
// the options.
func awkOptions(u *Use, args []string) (rest []string, assigned, sep string, inPlace bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		switch {
		case a == "--" || !strings.HasPrefix(a, "-") || a == "-":
			return append(rest, args[i:]...), assigned, sep, inPlace
		case a == "-v" || a == "--assign":
			assigned += awkAssign(next)
			i++
		case strings.HasPrefix(a, "-v"), strings.HasPrefix(a, "--assign="):
			assigned += awkAssign(strings.TrimPrefix(strings.TrimPrefix(a, "-v"), "--assign="))
		case a == "-F":
			sep = next
			i++
		case strings.HasPrefix(a, "-F"):
			sep = a[2:]
		case a == "-i" || a == "--include" || a == "-l" || a == "--load":
			inPlace = inPlace || strings.HasPrefix(next, "inplace")
			if strings.ContainsAny(next, "/") {
				u.path(Read, next, a)
			}
			i++
		case strings.HasPrefix(a, "-iinplace"), strings.HasPrefix(a, "--include=inplace"):
			inPlace = true
		case len(a) > 2 && (a[1] == 'o' || a[1] == 'p' || a[1] == 'd') && a[1] != '-':
			u.path(Write, a[2:], a[:2])
		case strings.HasPrefix(a, "--pretty-print=") || strings.HasPrefix(a, "--profile=") || strings.HasPrefix(a, "--dump-variables="):
			name, v, _ := strings.Cut(a, "=")
			u.path(Write, v, name)
		case a == "-f" || a == "-e" || a == "-E" || a == "--file" || a == "--source" || a == "--exec":
			rest = append(rest, a, next)
			i++
		default:
			rest = append(rest, a)
		}
	}
	return rest, assigned, sep, inPlace
}

func awkAssign(s string) string {
	name, v, ok := strings.Cut(s, "=")
	if !ok || !isName(name) {
		return ""
	}
	return "BEGIN{" + name + "=\"" + strings.ReplaceAll(v, `"`, `\"`) + "\"}\n"
}

// isName reports whether a text is the name of a variable.
func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c|32 < 'a' || c|32 > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

// awkRun is what a program prints that only prints a field of each line.
func awkRun(code, sep, stdin string) string {
	n, ok := printedField(code)
	if mark.In(stdin) {
		if n, ok := printedField(afterCondition(code)); ok {
			return column(stdin, sep, n)
		}
		if strings.Contains(code, `"`) && !mark.Has(stdin, mark.Outside) {
			return mark.Any
		}
		return through(stdin, code)
	}
	if !ok || len(sep) > 1 {
		return mark.Any
	}
	var b strings.Builder
	for line := range strings.Lines(stdin) {
		b.WriteString(fieldOf(strings.TrimSuffix(line, "\n"), sep, n) + "\n")
	}
	return b.String()
}

// afterCondition is an action without the condition before it, which only says
// for which lines it is done, unless it changes something itself.
func afterCondition(code string) string {
	i := strings.IndexByte(code, '{')
	if i <= 0 {
		return code
	}
	cond := code[:i]
	for _, s := range [...]string{"==", "!=", "<=", ">="} {
		cond = strings.ReplaceAll(cond, s, "")
	}
	if strings.ContainsAny(cond, "=}()") || strings.Contains(cond, "getline") || strings.Contains(cond, "BEGIN") || strings.Contains(cond, "END") {
		return code
	}
	return code[i:]
}

// printedField reads {print $N}, {print} and 1.
func printedField(code string) (int, bool) {
	s := strings.ReplaceAll(strings.TrimSpace(code), " ", "")
	switch s {
	case "1", "{print}", "{print$0}":
		return 0, true
	case "{print$NF}":
		return -1, true
	}
	s, ok := strings.CutPrefix(s, "{print$")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimRight(s, ";}"))
	return n, err == nil && n >= 0
}

func fieldOf(line, sep string, n int) string {
	fields := strings.Fields(line)
	if sep != "" && sep != " " {
		fields = strings.Split(line, sep)
	}
	switch {
	case n == 0:
		return line
	case n < 0 && len(fields) > 0:
		return fields[len(fields)-1]
	case n > 0 && n <= len(fields):
		return fields[n-1]
	}
	return ""
}
