package code

import (
	"strconv"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// sedUse reads sed: a script, and files that are read, or written with -i.
func sedUse(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	p := readProgram(table.Lookup("sed"), &u, c.Args[1:])
	inPlace := p.Has("i")
	if inPlace && len(p.Operands) > 0 && p.Operands[0] == "" {
		p.Operands = p.Operands[1:] // the empty suffix of other systems
	}
	for _, o := range p.Options {
		switch {
		case o.Kind != "script":
		case o.Value == "-" || o.Value == "/dev/stdin":
			p.code = append(p.code, c.Stdin)
		default:
			u.Runs = append(u.Runs, commands.Run{File: o.Value, Lang: commands.Sed, Why: "-f"})
		}
	}
	script := strings.Join(p.code, "\n")
	if !p.coded && !p.filed && len(p.Operands) > 0 {
		script, p.Operands = p.Operands[0], p.Operands[1:]
	}
	su := SedScript(script)
	u.Access = append(u.Access, su.Access...)
	u.Runs = append(u.Runs, su.Runs...)
	u.Findings = append(u.Findings, su.Findings...)
	if mark.Has(script, mark.Any) && strings.Trim(script, mark.Any+" ;\n") == "" {
		addAsk(&u, "sed's script is not known, and it could write or run", "write the script out")
	}
	for _, o := range p.Operands {
		if inPlace {
			addEdited(&u, o)
		} else {
			addPath(&u, commands.Read, o, "operand")
		}
	}
	if text, ok := lineInput(c, p.Operands); ok && !inPlace {
		u.Out = sedPrints(script, text)
		if mark.In(script) {
			u.Out = mark.Any
		}
	}
	return u
}

// lineInput is the text that an editor of lines reads, if part of it is known:
// its standard input, or one file.
func lineInput(c commands.Call, files []string) (string, bool) {
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
func awkUse(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	p := readProgram(table.Lookup("awk"), &u, c.Args[1:])
	var assigned, sep string
	inPlace := false
	for _, o := range p.Options {
		switch o.Kind {
		case "assign":
			assigned += awkAssign(o.Value)
		case "separator":
			sep = o.Value
		case "module":
			inPlace = inPlace || strings.HasPrefix(o.Value, "inplace")
		}
	}
	code := strings.Join(p.code, "\n")
	if !p.coded && !p.filed && len(p.Operands) > 0 {
		code, p.coded, p.Operands = p.Operands[0], true, p.Operands[1:]
	}
	var files []string
	for _, o := range p.Operands {
		if assignment := awkAssign(o); assignment != "" {
			assigned += assignment
			continue
		}
		files = append(files, o)
		if inPlace {
			addEdited(&u, o)
		} else {
			addPath(&u, commands.Read, o, "operand")
		}
	}
	params := append([]string{"awk"}, p.Operands...)
	if p.filed {
		u.Runs = append(u.Runs, commands.Run{File: p.file, Lang: commands.Awk, Params: params, Why: "-f"})
	}
	if p.coded {
		u.Runs = append(u.Runs, commands.Run{Code: assigned + code, Lang: commands.Awk, Params: params, Why: "program"})
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
		text = argtext.Chosen(text)
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
		return argtext.Columns(text, sep, -1, -1)
	case err == nil && item[0] == '$' && len(sep) < 2:
		return argtext.Columns(text, sep, n, n)
	}
	return awkThrough(code, text)
}

// awkThrough is what a program prints that does more than to print a column. What
// it has in quotes may come before a name.
func awkThrough(code, text string) string {
	if strings.Contains(code, `"`) && !mark.Has(text, mark.Outside) {
		return mark.Any
	}
	return argtext.Through(text, code)
}

// sedPrints is what a script of sed prints of a text: some of its lines, their
// first column, or what went in.
func sedPrints(script, text string) string {
	script = strings.TrimSpace(script)
	address := strings.TrimRight(script, "pdq! ")
	if script != "" && strings.IndexByte("pdq", script[len(script)-1]) >= 0 && (strings.Trim(address, "0123456789,$~") == "" ||
		len(address) > 1 && address[0] == '/' && strings.IndexByte(address[1:], '/') == len(address)-2) {
		return argtext.Chosen(text)
	}
	if len(script) == len("s/:.*//") && script[:2]+script[3:] == "s/.*//" {
		return argtext.Columns(text, script[2:3], 1, 1)
	}
	return argtext.Through(text, replacements(script))
}
