package code

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// lineUse reads perl and ruby, whose -i edits their operands in place, and whose
// -n and -p read them line by line.
func lineUse(c commands.Call, in *table.Row) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	p := readProgram(in, &u, c.Args[1:])
	loop, inPlace := p.Has("n", "p"), p.Has("i")
	if !p.coded {
		finish(&u, c, in, p)
		return u
	}
	code := strings.Join(p.code, "\n")
	r := commands.Run{Code: code, Lang: in.Lang, Params: codeParams(c.Args[0], p.Operands), Why: "code"}
	u.Runs = append(u.Runs, r)
	runEvaluated(&u, c, in.Lang, code)
	for _, o := range p.Operands {
		switch {
		case inPlace:
			addEdited(&u, o)
		case loop:
			addPath(&u, commands.Read, o, "operand")
		default:
			addArgument(&u, o)
		}
	}
	if text, ok := lineInput(c, p.Operands); ok && loop && !inPlace {
		u.Out = argtext.Through(text, code)
	}
	return u
}

// addEdited is a file that is changed in place: what it held is not known any more.
func addEdited(u *commands.Use, path string) {
	addPath(u, commands.Write, path, "operand")
	u.Effects = append(u.Effects, commands.Effect{Path: path, Text: mark.Any})
}

// phpUse reads php: -r and its kin have code, -f and the first operand a file.
func phpUse(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	in := table.Lookup("php")
	p := readProgram(in, &u, c.Args[1:])
	for _, a := range c.Args[1:] { // -d auto_prepend_file=x
		if _, v, ok := strings.Cut(a, "_file="); ok {
			addPath(&u, commands.Read, v, "-d")
		}
	}
	if !p.coded && !p.filed && len(p.Operands) == 0 && !c.Fed {
		return u
	}
	finish(&u, c, in, p)
	return u
}

// denoUse reads deno run, eval and the others.
func denoUse(c commands.Call) commands.Use {
	u := commands.Use{Known: true, Out: mark.Any}
	in := table.Lookup("deno")
	verb := ""
	args := c.Args[1:]
	if len(args) > 0 {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "eval":
		if p := readProgram(in, &u, args); len(p.Operands) > 0 {
			u.Runs = append(u.Runs, commands.Run{Code: p.Operands[0], Lang: commands.JavaScript, Params: p.Operands, Why: "eval"})
		}
		return u
	case "repl":
		in = table.Lookup("deno repl")
	case "run", "serve":
	case "fmt":
		for _, o := range readProgram(in, &u, args).Operands {
			addPath(&u, commands.Write, o, "operand")
		}
		return u
	case "compile", "bundle", "install", "test", "bench", "check", "lint", "doc", "info", "cache", "task", "coverage", "add", "remove", "upgrade", "", "types":
		for _, o := range readProgram(in, &u, args).Operands {
			addArgument(&u, o)
		}
		return u
	default:
		args = c.Args[1:]
	}
	finish(&u, c, in, readProgram(in, &u, args))
	return u
}

// bunUse reads bun where it runs code; the rest is a package manager.
func bunUse(c commands.Call) (commands.Use, bool) {
	u := commands.Use{Known: true, Out: mark.Any}
	in := table.Lookup("bun -e")
	args := c.Args[1:]
	if len(args) == 0 {
		return u, len(c.Args) > 1
	}
	verb := args[0]
	switch {
	case verb == "run" && len(args) > 1 && (strings.ContainsAny(args[1], "./") || strings.HasPrefix(args[1], "-")):
		finish(&u, c, in, readProgram(in, &u, args[1:]))
	case strings.HasPrefix(verb, "-"), strings.ContainsAny(verb, "./"):
		finish(&u, c, in, readProgram(in, &u, args))
	case verb == "x" && len(args) > 1:
		u.Runs = append(u.Runs, commands.Run{Args: args[1:], Why: "x"})
	default:
		return commands.Use{}, false
	}
	return u, true
}

// pythonModule reads python -m MODULE, most of which are commands of their own.
func pythonModule(c commands.Call, byRow func(commands.Call, *table.Row) commands.Use) (commands.Use, bool) {
	u := commands.Use{Known: true, Out: mark.Any}
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
			runModule(&u, c, name, rest, byRow)
			return u, true
		}
	}
	return u, false
}

// runModule does what a module of Python does when it is run.
func runModule(u *commands.Use, c commands.Call, name string, args []string, byRow func(commands.Call, *table.Row) commands.Use) {
	switch r := table.Lookup("python -m " + name); {
	case name == "cProfile" || name == "profile":
		p := readProgram(table.Lookup("python -m venv"), u, args)
		for _, o := range p.Operands[:min(1, len(p.Operands))] {
			u.Runs = append(u.Runs, commands.Run{File: o, Lang: commands.Python, Why: "script"})
		}
	case name == "timeit":
		runTimed(u, args)
	case name == "code":
		runInput(u, c, commands.Python)
	case r != nil:
		c.Args = append([]string{r.Name}, args...)
		u.Access = append(u.Access, byRow(c, r).Access...)
	default:
		// Most modules that can be run are commands too: pip, pytest, black, mypy.
		u.Runs = append(u.Runs, commands.Run{Args: append([]string{name}, args...), Why: "-m"})
		if strings.ContainsAny(name, "/") || mark.In(name) {
			addPath(u, commands.Execute, name, "-m")
		}
	}
}

func runTimed(u *commands.Use, args []string) {
	in := table.Lookup("python -m timeit")
	p := readProgram(in, u, args)
	u.Runs = append(u.Runs, commands.Run{Code: strings.Join(append(p.code, p.Operands...), "\n"), Lang: commands.Python, Why: "timeit"})
}
