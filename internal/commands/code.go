package commands

import (
	"strings"

	"cordon/internal/mark"
)

// coded returns what a call of an interpreter does. Args[0] has neither directory
// nor version. byRow is what a command does that only its row tells.
func coded(c Call, byRow func(Call, *row) Use) (Use, bool) {
	u := Use{Known: true, Out: mark.Any}
	switch c.Args[0] {
	case "sed", "gsed", "ssed":
		return sedUse(c), true
	case "awk", "gawk", "mawk", "nawk", "original-awk", "goawk":
		return awkUse(c), true
	case "perl":
		return lineUse(c, lookup("perl")), true
	case "ruby", "jruby", "truffleruby":
		return lineUse(c, lookup("ruby")), true
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
	case "dc":
		return dcUse(c), true
	case "bc":
		return bcUse(c), true
	case "m4":
		return m4Use(c), true
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
		return Use{}, false
	}
	finish(&u, c, in, in.program(&u, c.Args[1:]))
	return u, true
}

// interpreter is the row of a program that runs code it is given: in an option,
// in a file, or on its standard input. Some programs compile as well, and have
// another row for that.
func interpreter(name string) *row {
	r := lookup(name)
	if r != nil && r.lang == "" {
		r = lookup(name + " -e")
	}
	if r != nil && r.lang == "" {
		return nil
	}
	return r
}

// program is what the arguments of an interpreter come to.
type program struct {
	*parsed
	code  []string
	coded bool
	file  string
	filed bool
}

// dialect is the language of code in an option; osascript has two.
func (r *row) dialect(args []string) Lang {
	for i, a := range args {
		if r.name == "osascript" && (a == "-l" && i+1 < len(args) && args[i+1] == "JavaScript" || a == "-lJavaScript") {
			return JavaScript
		}
	}
	return r.lang
}

// finish says what is run: code, a file, or standard input.
func finish(u *Use, c Call, in *row, p program) {
	switch {
	case p.coded:
		code := strings.Join(p.code, "\n")
		u.Runs = append(u.Runs, Run{Code: code, Lang: in.dialect(c.Args), Params: codeParams(c.Args[0], p.operands), Why: "code"})
		u.evaluated(c, in.lang, code)
	case p.filed:
		u.script(c, in.lang, append([]string{p.file}, p.operands...))
		return
	case in.operands == "" && len(p.operands) > 0:
		u.script(c, in.lang, p.operands)
		return
	case in.operands == "" || len(p.operands) == 0:
		u.standardInput(c, in.lang)
	}
	for _, o := range p.operands {
		switch in.operands {
		case "read*":
			u.path(Read, o, "operand")
		case "write*":
			u.path(Write, strings.TrimLeft(o, "+0123456789:"), "operand")
		default:
			u.given(o)
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

// script runs a file with parameters; "-" is standard input.
func (u *Use) script(c Call, lang Lang, params []string) {
	if params[0] == "-" || params[0] == "/dev/stdin" {
		u.standardInput(c, lang, params[1:]...)
	} else {
		u.Runs = append(u.Runs, Run{File: params[0], Lang: lang, Params: params, Why: "script"})
	}
	for _, o := range params[1:] {
		u.given(o)
	}
}

// given looks at an argument of a program that is not followed: what looks like
// a path may be read.
func (u *Use) given(arg string) {
	for _, p := range looseArgument(arg) {
		u.path(Read, p, "argument")
	}
}

// standardInput runs what is fed to an interpreter that has no other program.
func (u *Use) standardInput(c Call, lang Lang, params ...string) {
	if c.Fed {
		u.Runs = append(u.Runs, Run{Code: c.Stdin, Lang: lang, Params: append([]string{"-"}, params...), Why: "standard input"})
	}
}

// evaluated runs what is fed to code that evaluates its standard input, and the
// lines of IPython that a shell gets.
func (u *Use) evaluated(c Call, lang Lang, code string) {
	reads := strings.Contains(code, "stdin") || strings.Contains(code, "STDIN") || strings.Contains(code, "input()") || strings.Contains(code,
		"<>") || strings.Contains(code, "gets") || strings.Contains(code, "/dev/fd/0") || strings.Contains(code, "readFileSync(0")
	if c.Fed && reads && (strings.Contains(code, "eval") || strings.Contains(code, "exec")) && !mark.Has(c.Stdin, mark.Any) {
		u.standardInput(c, lang)
	}
	switch c.Args[0] {
	case "irb", "pry", "iex": // they read on
		u.standardInput(c, lang)
	case "ipython", "ipython3":
	default:
		return
	}
	for line := range strings.Lines(code) {
		if cmd, ok := strings.CutPrefix(strings.TrimSpace(line), "!"); ok {
			u.Runs = append(u.Runs, Run{Code: cmd, Why: "!"})
		}
	}
}

func (u *Use) path(role Role, p, why string) {
	if p != "" && p != "-" {
		u.Access = append(u.Access, Access{Role: role, Path: p, Why: why})
	}
}

// program reads the arguments of an interpreter. The first operand ends its
// options, unless operands are files.
func (r *row) program(u *Use, args []string) program {
	extra := style(0)
	if r.operands == "" {
		extra = stop
	}
	p := program{parsed: parseArgs(args, r, extra)}
	for _, o := range p.options {
		if o.has {
			p.take(u, o)
		}
	}
	return p
}

// take does what an option of an interpreter says.
func (p *program) take(u *Use, o option) {
	v := o.value
	switch o.kind {
	case "code":
		p.code, p.coded = append(p.code, v), true
	case "script":
		if p.filed {
			u.path(Read, p.file, o.at)
		}
		p.file, p.filed = v, true
	case "module": // a bare name is one of the language's own
		if strings.ContainsAny(v, "/~") || strings.HasPrefix(v, ".") || mark.In(v) {
			u.path(Read, v, o.at)
		}
	case "write", "enter":
		u.path(roleOf(o.kind), v, o.at)
	case "loose":
		u.given(v)
	case "suffix": // of the old file, which is elsewhere if it holds a slash
		if strings.Contains(v, "/") {
			u.path(Write, strings.ReplaceAll(v, "*", mark.Atom), o.at)
		}
	}
}
