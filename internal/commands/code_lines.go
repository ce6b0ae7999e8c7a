package commands

import (
	"strconv"
	"strings"

	"cordon/internal/mark"
)

// sedUse reads sed: a script, and files that are read, or written with -i.
func sedUse(c Call) Use {
	u := Use{Known: true, Out: mark.Any}
	p := lookup("sed").program(&u, c.Args[1:])
	inPlace := p.has("i")
	if inPlace && len(p.operands) > 0 && p.operands[0] == "" {
		p.operands = p.operands[1:] // the empty suffix of other systems
	}
	for _, o := range p.options {
		switch {
		case o.kind != "script":
		case o.value == "-" || o.value == "/dev/stdin":
			p.code = append(p.code, c.Stdin)
		default:
			u.Runs = append(u.Runs, Run{File: o.value, Lang: Sed, Why: "-f"})
		}
	}
	script := strings.Join(p.code, "\n")
	if !p.coded && !p.filed && len(p.operands) > 0 {
		script, p.operands = p.operands[0], p.operands[1:]
	}
	su := SedScript(script)
	u.Access = append(u.Access, su.Access...)
	u.Runs = append(u.Runs, su.Runs...)
	u.Findings = append(u.Findings, su.Findings...)
	if mark.Has(script, mark.Any) && strings.Trim(script, mark.Any+" ;\n") == "" {
		u.Findings = append(u.Findings, Finding{Weight: Ask, Reason: "sed's script is not known, and it could write or run", Instead: "write the script out"})
	}
	for _, o := range p.operands {
		if inPlace {
			u.edited(o)
		} else {
			u.path(Read, o, "operand")
		}
	}
	if len(p.operands) == 0 && c.Fed && mark.In(c.Stdin) {
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

// awkUse reads awk: a program, assignments and files.
func awkUse(c Call) Use {
	u := Use{Known: true, Out: mark.Any}
	p := lookup("awk").program(&u, c.Args[1:])
	var assigned, sep string
	inPlace := false
	for _, o := range p.options {
		switch o.kind {
		case "assign":
			assigned += awkAssign(o.value)
		case "separator":
			sep = o.value
		case "module":
			inPlace = inPlace || strings.HasPrefix(o.value, "inplace")
		}
	}
	code := strings.Join(p.code, "\n")
	if !p.coded && !p.filed && len(p.operands) > 0 {
		code, p.coded, p.operands = p.operands[0], true, p.operands[1:]
	}
	files := 0
	for _, o := range p.operands {
		if assignment := awkAssign(o); assignment != "" {
			assigned += assignment
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
