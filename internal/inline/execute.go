package inline

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// performRun does what a row says that runs something.
func (m *machine) performRun(r row, args []arg, a, b value, okB bool, why string) value {
	switch r.act {
	case actShell:
		m.command(shellList(a), a, args, why)
		return m.produced(shellList(a), a)
	case actArgv:
		m.argv(a, args, why)
		if _, moved := option(args, "cwd"); !moved {
			return m.produced(shellList(a), a)
		}
	case actSpawn:
		m.spawn(a, b, okB, args, why)
	case actVector:
		m.vector(args, r.a, why)
	case actExecv:
		m.spawn(a, afterFirst(b), okB, args, why)
	case actExecl:
		vs := values(args)
		m.command(append([]value{a}, vs[min(r.b+1, len(vs)):]...), value{}, nil, why)
	case actEval:
		return m.eval(a, why)
	case actScript:
		for _, s := range a.texts() {
			m.rep.run(commands.Run{File: s, Lang: m.lang, Dir: m.dirs[len(m.dirs)-1], Why: why})
		}
	case actModule:
		return m.module(a)
	case actGetattr:
		if s, ok := b.known(); ok {
			return m.attr(a, s)
		}
		if a.shape == named && hasModule(a.name) {
			m.rep.opaque("the code takes a function by a name that is not known")
		}
		return value{}
	}
	return literal(mark.Any)
}

// shellList is nil: a shell gets a text, and a list only if it is one.
func shellList(a value) []value {
	if a.shape == list && len(a.items) > 0 {
		return a.items
	}
	return nil
}

// argv runs a list, or a text in a shell.
func (m *machine) argv(a value, args []arg, why string) {
	sh, _ := option(args, "shell")
	switch {
	case a.shape == list && len(a.items) > 0 && sh.name == "True":
		m.command(nil, a.items[0], args, why)
	case a.shape == list && len(a.items) > 0:
		m.command(a.items, value{}, args, why)
	case a.shape == dict:
	default:
		m.command(nil, a, args, why)
	}
}

// spawn runs a file with a list of arguments.
func (m *machine) spawn(a, b value, okB bool, args []arg, why string) {
	if sh, ok := option(args, "shell"); ok && sh.name != "false" && b.shape != list {
		m.command(nil, a, args, why)
		return
	}
	argv := []value{a}
	if v, ok := option(args, "args"); ok && b.shape == dict {
		b = v
	}
	switch {
	case b.shape == list:
		argv = append(argv, b.items...)
	case okB && b.shape != dict && b.shape != fn:
		argv = append(argv, literal(mark.Any))
	}
	if sh, ok := option(args, "shell"); ok && sh.name != "false" {
		code := a
		for _, v := range argv[1:] {
			code = concat(concat(asText(code), literal(" ")), asText(v))
		}
		m.command(nil, code, args, why)
		return
	}
	m.command(argv, value{}, args, why)
}

// afterFirst drops the name that a program is called by.
func afterFirst(v value) value {
	if v.shape == list && len(v.items) > 0 {
		return listOf(v.items[1:])
	}
	return v
}

// vector runs its arguments: one is a line of shell, several are a vector. An
// environment may be before them, options behind.
func (m *machine) vector(args []arg, from int, why string) {
	var argv []value
	opts := args
	for i, v := range values(args) {
		switch {
		case i < from:
		case v.shape == dict && len(argv) == 0:
			opts = append(opts[:len(opts):len(opts)], arg{name: "env", v: v})
		case v.shape == dict || v.shape == fn:
		case v.shape == list:
			argv = append(argv, v.items...)
			if len(v.items) == 1 {
				argv = append(argv, literal(""))[:len(argv)]
			}
		default:
			argv = append(argv, v)
		}
	}
	switch len(argv) {
	case 0:
	case 1:
		m.command(nil, argv[0], opts, why)
	default:
		m.command(argv, value{}, opts, why)
	}
}

// eval evaluates code that is text. What is not known cannot be judged.
func (m *machine) eval(a value, why string) value {
	if a.shape == fn {
		return m.invoke(a.fn, nil, nil)
	}
	if a.shape == named && strings.HasPrefix(a.name, "compile") || a.shape == dict || a.num {
		return value{}
	}
	if len(a.of) > 0 && !mark.Has(strings.Join(a.of, ""), mark.Any) {
		for _, s := range a.of { // as good as running the file
			m.rep.run(commands.Run{File: s, Lang: m.lang, Dir: m.dirs[len(m.dirs)-1], Why: why})
		}
		return value{}
	}
	if len(a.of) == 1 && a.of[0] == mark.Any {
		m.rep.run(commands.Run{Code: mark.Any, Lang: m.lang, Why: why}) // what somebody sends
	}
	for _, s := range a.texts() {
		if mark.In(s) {
			m.rep.opaque("the code evaluates text that is not known")
			continue
		}
		var v value
		m.spend(4 * len(s))
		m.within(lex(m.lang, s), 0, func() { v = m.statements(len(m.toks) - 1) })
		if len(a.alts) == 1 {
			return v
		}
	}
	return value{}
}

// home is the directory of the code's own file, "" for code without one: modules
// are looked for there, wherever the code is run.
func (m *machine) home() string {
	if len(m.params) > 0 && strings.Contains(m.params[0], "/") {
		return parent(m.params[0])
	}
	return ""
}

// module is a module that is taken by its name, or a file by its path.
func (m *machine) module(a value) value {
	if a.shape == named && m.lang == commands.Perl && !strings.HasPrefix(a.name, "$") || a.num {
		return a // require Foo::Bar, require 5.006
	}
	s, ok := a.known()
	if !ok {
		if a.shape == text && len(a.alts) > 0 && !strings.HasPrefix(a.alts[0], mark.Any) {
			m.access(commands.Read, a, "require")
			return value{}
		}
		m.rep.opaque("the code loads a module whose name is not known")
		return value{}
	}
	s = strings.TrimPrefix(s, "node:")
	m.dangerous(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") {
		m.rep.add(Access{Access: commands.Access{Role: commands.Read, Path: s, Dir: m.home(), Why: "require"}})
		return value{}
	}
	switch s {
	case "fs/promises", "fs-extra", "graceful-fs", "original-fs":
		s = "fs"
	case "path/posix":
		s = "path"
	}
	return nameOf(s)
}

// performGive does what a row says that only gives a value, or little more.
func (m *machine) performGive(r row, recv value, args []arg, a, b value, okA bool, why string) value {
	switch r.act {
	case actCwd:
		return pathOf([]string{"."})
	case actHome:
		return joined(append([]value{literal("~")}, values(args)...)...)
	case actTemp:
		if d, ok := option(args, "dir"); ok {
			m.access(commands.Write, d, why)
		}
		return pathOf([]string{mark.Scratch})
	case actGlob:
		return m.glob(fromEach(a), why)
	case actList:
		if !okA {
			a = literal(".")
		}
		m.access(commands.Read, a, why)
		return a.each(listed)
	case actWalk:
		m.access(commands.Read, a, why)
		return listOf([]value{listOf([]value{a.each(listedBelow), a.each(listed), a.each(listed)})})
	case actEnv:
		v := m.environ(a)
		if s, ok := v.known(); okA && (!ok || s == "") && b.shape == text {
			return either(b, v)
		}
		return v
	case actPutenv:
		m.putenv(a, b)
	case actInput:
		return sentIn(r.name)
	case actGrow:
		for _, v := range values(args) {
			m.grow(recv, v)
		}
		m.weakUnlessList(recv, args, why)
	case actOpaque:
		m.rep.opaque("the code calls " + why + ", which cannot be followed")
	case actDict:
		return m.dictOf(args)
	case actOutput:
		if v, ok := option(args, "file", "filename", "con"); ok && v.shape != named {
			m.access(commands.Write, v, why)
		}
	default:
		return m.performText(r, recv, args, a)
	}
	return value{}
}

// sentIn is text that is not known; some of it comes from somebody else.
func sentIn(name string) value {
	v := literal(mark.Any)
	if strings.Contains(name, "input") || strings.Contains(name, "read") {
		v.of = []string{mark.Any}
	}
	return v
}

// weakUnlessList reports what is added to something that is not followed.
func (m *machine) weakUnlessList(recv value, args []arg, why string) {
	if recv.name == "sys.path" || strings.HasPrefix(recv.name, "$LOAD_PATH") || recv.name == "@INC" {
		for _, v := range values(args) {
			if v.shape == text && !v.num {
				m.access(commands.Read, v, recv.name)
			}
		}
		return
	}
	m.absorb(&recv, args)
}

// putenv sets a variable: ("A", "b"), ("A=b").
func (m *machine) putenv(a, b value) {
	if s, ok := a.known(); ok && b.shape == unknown {
		if k, v, found := strings.Cut(s, "="); found {
			m.setenv(literal(k), literal(v))
			return
		}
	}
	if a.shape == dict {
		for i, k := range a.keys {
			m.setenv(k, a.items[i])
		}
		return
	}
	m.setenv(a, b)
}

func (m *machine) dictOf(args []arg) value {
	d := value{shape: dict}
	for _, a := range args {
		if a.name == "" {
			if a.v.shape == dict {
				d.keys, d.items = append(d.keys, a.v.keys...), append(d.items, a.v.items...)
			} else {
				d = hinted(d, a.v)
			}
			continue
		}
		d.keys, d.items = append(d.keys, literal(a.name)), append(d.items, a.v)
	}
	return d
}
