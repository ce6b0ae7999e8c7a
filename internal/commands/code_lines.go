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
	if text, ok := lineInput(c, p.operands); ok && !inPlace {
		u.Out = sedPrints(script, text)
		if mark.In(script) {
			u.Out = mark.Any
		}
	}
	return u
}

// lineInput is the text that an editor of lines reads, if part of it is known:
// its standard input, or one file.
func lineInput(c Call, files []string) (string, bool) {
	text, ok := c.Stdin, c.Fed
	if len(files) == 1 && files[0] != "-" {
		text, ok = c.FileText(files[0])
	}
	return text, ok && len(files) < 2 && mark.In(text)
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
	var files []string
	for _, o := range p.operands {
		if assignment := awkAssign(o); assignment != "" {
			assigned += assignment
			continue
		}
		files = append(files, o)
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
	if text, ok := lineInput(c, files); ok && p.coded {
		u.Out = awkPrints(code, sep, text)
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

// awkPrints is what a program of awk prints of a text: a column, or what went in.
func awkPrints(code, sep, text string) string {
	switch sep {
	case `\t`:
		sep = "\t"
	case " ", "[[:space:]]+", "[ ]+", " +", `\s+`, "[ \t]+", `[ \t]+`:
		sep = ""
	}
	pattern, body, braced := strings.Cut(code, "{")
	for _, op := range [...]string{"==", "!=", "<=", ">="} {
		pattern = strings.ReplaceAll(pattern, op, " ")
	}
	changes := strings.ContainsAny(pattern, "={}()|;\n")
	for _, word := range [...]string{"getline", "BEGIN", "END"} {
		changes = changes || strings.Contains(pattern, word)
	}
	if changes { // it may change the lines as well
		return awkThrough(code, text)
	}
	if strings.TrimSpace(pattern) != "" {
		text = chosen(text)
	}
	if !braced {
		return text
	}
	item, _ := strings.CutPrefix(strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(body), "}"), " ", ""), "print")
	item = strings.TrimSuffix(strings.TrimRight(item, ";"), ";exit")
	n, err := strconv.Atoi(strings.TrimPrefix(item, "$"))
	switch {
	case item == "" || item == "$0":
		return text
	case item == "$NF":
		return columns(text, sep, -1, -1)
	case err == nil && item[0] == '$' && len(sep) < 2:
		return columns(text, sep, n, n)
	}
	return awkThrough(code, text)
}

// awkThrough is what a program prints that does more than to print a column. What
// it has in quotes may come before a name.
func awkThrough(code, text string) string {
	if strings.Contains(code, `"`) && !mark.Has(text, mark.Outside) {
		return mark.Any
	}
	return through(text, code)
}

// sedPrints is what a script of sed prints of a text: some of its lines, their
// first column, or what went in.
func sedPrints(script, text string) string {
	script = strings.TrimSpace(script)
	address := strings.TrimRight(script, "pdq! ")
	if script != "" && strings.IndexByte("pdq", script[len(script)-1]) >= 0 && (strings.Trim(address, "0123456789,$~") == "" ||
		len(address) > 1 && address[0] == '/' && strings.IndexByte(address[1:], '/') == len(address)-2) {
		return chosen(text)
	}
	if len(script) == len("s/:.*//") && script[:2]+script[3:] == "s/.*//" {
		return columns(text, script[2:3], 1, 1)
	}
	return through(text, replacements(script))
}
