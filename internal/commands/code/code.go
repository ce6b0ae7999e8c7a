// Package code knows interpreters and editors: where in their arguments, files or
// input their code is, and which files they edit. What the code does is package
// inline's business, except for scripts of sed.
package code

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// Use returns what a call of an interpreter does. Args[0] has neither directory
// nor version. byRow is what a command does that only its row tells.
func Use(c commands.Call, byRow func(commands.Call, *table.Row) commands.Use) (commands.Use, bool) {
	u := commands.Use{Known: true, Out: mark.Any}
	switch c.Args[0] {
	case "sed", "gsed", "ssed":
		return sedUse(c), true
	case "awk", "gawk", "mawk", "nawk", "original-awk", "goawk":
		return awkUse(c), true
	case "perl":
		return lineUse(c, table.Lookup("perl")), true
	case "ruby", "jruby", "truffleruby":
		return lineUse(c, table.Lookup("ruby")), true
	case "php", "php-cgi", "hhvm":
		return phpUse(c), true
	case "deno":
		return denoUse(c), true
	case "bun":
		return bunUse(c)
	case "vi", "vim", "nvim", "view", "ex", "rvim", "vimdiff", "gvim", "rview", "nvi", "vim.basic", "vim.tiny":
		return vimUse(c), true
	case "ed", "red":
		return edUse(c), true
	case "sqlite3", "sqlite", "duckdb":
		return sqliteUse(c), true
	case "pwsh", "powershell":
		return powershellUse(c), true
	case "dc", "m4":
		return macroUse(c), true
	case "rails", "dotnet", "crystal", "scala-cli":
		return runnerUse(c)
	case "lein":
		if len(c.Args) > 1 && (c.Args[1] == "exec" || c.Args[1] == "run") {
			c.Args = append([]string{"lein"}, c.Args[2:]...)
		}
	case "python", "python2", "python3", "pypy", "pypy3":
		if use, ok := pythonModule(c, byRow); ok {
			return use, true
		}
	}
	in := interpreter(c.Args[0])
	if in == nil {
		return commands.Use{}, false
	}
	finish(&u, c, in, readProgram(in, &u, c.Args[1:]))
	return u, true
}

// interpreter is the row of a program that runs code it is given: in an option,
// in a file, or on its standard input. Some programs compile as well, and have
// another row for that.
func interpreter(name string) *table.Row {
	r := table.Lookup(name)
	if r != nil && r.Lang == "" {
		r = table.Lookup(name + " -e")
	}
	if r != nil && r.Lang == "" {
		return nil
	}
	return r
}

// program is what the arguments of an interpreter come to.
type program struct {
	*table.Parsed
	code  []string
	coded bool
	file  string
	filed bool
}

// dialectOf is the language of code in an option; osascript has two.
func dialectOf(r *table.Row, args []string) commands.Lang {
	for i, a := range args {
		if r.Name == "osascript" && (a == "-l" && i+1 < len(args) && args[i+1] == "JavaScript" || a == "-lJavaScript") {
			return commands.JavaScript
		}
	}
	return r.Lang
}

// finish says what is run: code, a file, or standard input.
func finish(u *commands.Use, c commands.Call, in *table.Row, p program) {
	switch {
	case p.coded:
		code := strings.Join(p.code, "\n")
		u.Runs = append(u.Runs, commands.Run{Code: code, Lang: dialectOf(in, c.Args), Params: codeParams(c.Args[0], p.Operands), Why: "code"})
		runEvaluated(u, c, in.Lang, code)
	case p.filed:
		runScript(u, c, in.Lang, append([]string{p.file}, p.Operands...))
		return
	case in.Operands == "" && len(p.Operands) > 0:
		runScript(u, c, in.Lang, p.Operands)
		return
	case in.Operands == "" || len(p.Operands) == 0:
		runInput(u, c, in.Lang)
	}
	for _, o := range p.Operands {
		switch in.Operands {
		case "read*":
			addPath(u, commands.Read, o, "operand")
		case "write*":
			addPath(u, commands.Write, strings.TrimLeft(o, "+0123456789:"), "operand")
		default:
			addArgument(u, o)
		}
	}
}

// codeParams are the parameters of code in an option. Node puts no name of the
// code among them.
func codeParams(name string, operands []string) []string {
	first := "-c"
	if name == "node" || name == "nodejs" {
		first = "node"
	}
	return append([]string{first}, operands...)
}

// runScript runs a file with parameters; "-" is standard input.
func runScript(u *commands.Use, c commands.Call, lang commands.Lang, params []string) {
	if params[0] == "-" || params[0] == "/dev/stdin" {
		runInput(u, c, lang, params[1:]...)
	} else {
		u.Runs = append(u.Runs, commands.Run{File: params[0], Lang: lang, Params: params, Why: "script"})
	}
	for _, o := range params[1:] {
		addArgument(u, o)
	}
}

// addArgument looks at an argument of a program that is not followed: what looks like
// a path may be read.
func addArgument(u *commands.Use, arg string) {
	for _, p := range argtext.LooseArgument(arg) {
		addPath(u, commands.Read, p, "argument")
	}
}

// runInput runs what is fed to an interpreter that has no other program.
func runInput(u *commands.Use, c commands.Call, lang commands.Lang, params ...string) {
	if c.Fed {
		u.Runs = append(u.Runs, commands.Run{Code: c.Stdin, Lang: lang, Params: append([]string{"-"}, params...), Why: "standard input"})
	}
}

// runEvaluated runs what is fed to code that evaluates its standard input, and the
// lines of IPython that a shell gets.
func runEvaluated(u *commands.Use, c commands.Call, lang commands.Lang, code string) {
	reads := strings.Contains(code, "stdin") || strings.Contains(code, "STDIN") || strings.Contains(code, "input()") || strings.Contains(code,
		"<>") || strings.Contains(code, "gets") || strings.Contains(code, "/dev/fd/0") || strings.Contains(code, "readFileSync(0")
	if c.Fed && reads && (strings.Contains(code, "eval") || strings.Contains(code, "exec")) && !mark.Has(c.Stdin, mark.Any) {
		runInput(u, c, lang)
	}
	switch c.Args[0] {
	case "irb", "pry", "iex": // they read on
		runInput(u, c, lang)
	case "ipython", "ipython3":
	default:
		return
	}
	for line := range strings.Lines(code) {
		if cmd, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			u.Runs = append(u.Runs, commands.Run{Code: cmd, Why: "!"})
		}
	}
}

func addAsk(u *commands.Use, reason, instead string) {
	u.Findings = append(u.Findings, commands.Finding{Weight: commands.Ask, Reason: reason, Instead: instead})
}

func addPath(u *commands.Use, role commands.Role, p, why string) {
	if p != "" && p != "-" {
		u.Access = append(u.Access, commands.Access{Role: role, Path: p, Why: why})
	}
}

// readProgram reads the arguments of an interpreter. The first operand ends its
// options, unless operands are files.
func readProgram(r *table.Row, u *commands.Use, args []string) program {
	extra := table.Style(0)
	if r.Operands == "" {
		extra = table.Stop
	}
	p := program{Parsed: table.ParseArgs(args, r, extra)}
	for _, o := range p.Options {
		if o.Has {
			p.take(u, o)
		}
	}
	return p
}

// take does what an option of an interpreter says.
func (p *program) take(u *commands.Use, o table.Option) {
	v := o.Value
	switch o.Kind {
	case "code":
		p.code, p.coded = append(p.code, v), true
	case "script":
		if p.filed {
			addPath(u, commands.Read, p.file, o.At)
		}
		p.file, p.filed = v, true
	case "module": // a bare name is one of the language's own
		if strings.ContainsAny(v, "/~") || strings.HasPrefix(v, ".") || mark.In(v) {
			addPath(u, commands.Read, v, o.At)
		}
	case "write", "enter":
		addPath(u, table.RoleOf(o.Kind), v, o.At)
	case "loose":
		addArgument(u, v)
	case "suffix": // of the old file, which is elsewhere if it holds a slash
		if strings.Contains(v, "/") {
			addPath(u, commands.Write, strings.ReplaceAll(v, "*", mark.Atom), o.At)
		}
	}
}
