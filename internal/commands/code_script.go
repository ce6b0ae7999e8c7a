package commands

import (
	"strings"

	"cordon/internal/mark"
)

// lineUse reads perl and ruby, whose -i edits their operands in place, and whose
// -n and -p read them line by line.
func lineUse(c Call, in *row) Use {
	u := Use{Known: true, Out: mark.Any}
	p := in.program(&u, c.Args[1:])
	loop, inPlace := p.has("n", "p"), p.has("i")
	if !p.coded {
		finish(&u, c, in, p)
		return u
	}
	code := strings.Join(p.code, "\n")
	r := Run{Code: code, Lang: in.lang, Params: codeParams(c.Args[0], p.operands), Why: "code"}
	u.Runs = append(u.Runs, r)
	u.evaluated(c, in.lang, code)
	for _, o := range p.operands {
		switch {
		case inPlace:
			u.edited(o)
		case loop:
			u.path(Read, o, "operand")
		default:
			u.given(o)
		}
	}
	if text, ok := lineInput(c, p.operands); ok && loop && !inPlace {
		u.Out = through(text, code)
	}
	return u
}

// edited is a file that is changed in place: what it held is not known any more.
func (u *Use) edited(path string) {
	u.path(Write, path, "operand")
	u.Effects = append(u.Effects, Effect{Path: path, Text: mark.Any})
}

// phpUse reads php: -r and its kin have code, -f and the first operand a file.
func phpUse(c Call) Use {
	u := Use{Known: true, Out: mark.Any}
	in := lookup("php")
	p := in.program(&u, c.Args[1:])
	for _, a := range c.Args[1:] { // -d auto_prepend_file=x
		if _, v, ok := strings.Cut(a, "_file="); ok {
			u.path(Read, v, "-d")
		}
	}
	if !p.coded && !p.filed && len(p.operands) == 0 && !c.Fed {
		return u
	}
	finish(&u, c, in, p)
	return u
}

// denoUse reads deno run, eval and the others.
func denoUse(c Call) Use {
	u := Use{Known: true, Out: mark.Any}
	in := lookup("deno")
	verb := ""
	args := c.Args[1:]
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "eval":
		p := in.program(&u, args)
		if len(p.operands) > 0 {
			u.Runs = append(u.Runs, Run{Code: p.operands[0], Lang: JavaScript, Params: p.operands, Why: "eval"})
		}
	case "run", "serve":
		finish(&u, c, in, in.program(&u, args))
	case "repl":
		in = lookup("deno repl")
		finish(&u, c, in, in.program(&u, args))
	case "compile", "bundle", "install":
		for _, o := range in.program(&u, args).operands {
			u.given(o)
		}
	case "fmt":
		for _, o := range in.program(&u, args).operands {
			u.path(Write, o, "operand")
		}
	case "test", "bench", "check", "lint", "doc", "info", "cache", "task", "coverage", "add", "remove", "upgrade", "", "types":
		for _, o := range in.program(&u, args).operands {
			u.given(o)
		}
	default:
		finish(&u, c, in, in.program(&u, c.Args[1:]))
	}
	return u
}

// bunUse reads bun where it runs code; the rest is a package manager.
func bunUse(c Call) (Use, bool) {
	u := Use{Known: true, Out: mark.Any}
	in := lookup("bun -e")
	args := c.Args[1:]
	for len(args) > 0 && (strings.HasPrefix(args[0], "--cwd") || args[0] == "--silent" || args[0] == "--bun" || args[0] == "--watch" || args[0] == "--hot") {
		n := 1
		if args[0] == "--cwd" && len(args) > 1 {
			n = 2
		}
		in.program(&u, args[:n])
		args = args[n:]
	}
	if len(args) == 0 {
		return u, len(c.Args) > 1
	}
	verb := args[0]
	switch {
	case verb == "run" && len(args) > 1 && (strings.ContainsAny(args[1], "./") || strings.HasPrefix(args[1], "-")):
		finish(&u, c, in, in.program(&u, args[1:]))
	case strings.HasPrefix(verb, "-"), strings.ContainsAny(verb, "./"):
		finish(&u, c, in, in.program(&u, args))
	case verb == "x" && len(args) > 1:
		u.Runs = append(u.Runs, Run{Args: args[1:], Why: "x"})
	default:
		return Use{}, false
	}
	return u, true
}

// pythonModule reads python -m MODULE, most of which are commands of their own.
func pythonModule(c Call, byRow func(Call, *row) Use) (Use, bool) {
	u := Use{Known: true, Out: mark.Any}
	for i := 1; i < len(c.Args); i++ {
		a := c.Args[i]
		switch {
		case a == "-W" || a == "-X":
			i++
		case a == "-c" || !strings.HasPrefix(a, "-") || a == "-":
			return u, false
		case strings.HasPrefix(a, "--") || !strings.Contains(a, "m") || strings.ContainsAny(a, "cWX"):
			if strings.Contains(a, "c") && !strings.HasPrefix(a, "--") {
				return u, false
			}
		default:
			name, rest := a[strings.IndexByte(a, 'm')+1:], c.Args[i+1:]
			if name == "" && len(rest) > 0 {
				name, rest = rest[0], rest[1:]
			}
			u.module(c, name, rest, byRow)
			return u, true
		}
	}
	return u, false
}

// module does what a module of Python does when it is run.
func (u *Use) module(c Call, name string, args []string, byRow func(Call, *row) Use) {
	switch r := lookup("python -m " + name); {
	case name == "cProfile" || name == "profile":
		p := lookup("python -m venv").program(u, args)
		for _, o := range p.operands[:min(1, len(p.operands))] {
			u.Runs = append(u.Runs, Run{File: o, Lang: Python, Why: "script"})
		}
	case name == "timeit":
		u.timed(args)
	case name == "code":
		u.standardInput(c, Python)
	case r != nil:
		c.Args = append([]string{r.name}, args...)
		u.Access = append(u.Access, byRow(c, r).Access...)
	default:
		// Most modules that can be run are commands too: pip, pytest, black, mypy.
		u.Runs = append(u.Runs, Run{Args: append([]string{name}, args...), Why: "-m"})
		if strings.ContainsAny(name, "/") || mark.In(name) {
			u.path(Execute, name, "-m")
		}
	}
}

func (u *Use) timed(args []string) {
	in := lookup("python -m timeit")
	p := in.program(u, args)
	u.Runs = append(u.Runs, Run{Code: strings.Join(append(p.code, p.operands...), "\n"), Lang: Python, Why: "timeit"})
}
