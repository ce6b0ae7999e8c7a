package inline

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/inline/lex"
	"cordon/internal/mark"
)

// performRun does what a line of functions.txt says that runs something.
func (m *machine) performRun(c *listedCall) value {
	switch c.act {
	case "shell":
		m.runCommand(listItems(c.a), c.a, c.args, c.why)
		return m.outputOf(listItems(c.a), c.a)
	case "argv":
		m.runList(c)
		if _, moved := option(c.args, "cwd"); !moved {
			return m.outputOf(listItems(c.a), c.a)
		}
	case "spawn":
		m.spawn(c.a, c.b, c)
	case "vector":
		m.runVector(c)
	case "execv":
		argv := c.b
		if argv.shape == list && len(argv.items) > 0 { // its own name comes first
			argv = listOf(argv.items[1:])
		}
		m.spawn(c.a, argv, c)
	case "execl":
		vs := values(c.args)
		m.runCommand(append([]value{c.a}, vs[min(c.row.b+1, len(vs)):]...), value{}, nil, c.why)
	case "eval":
		return m.eval(c.a, c.why)
	case "script":
		m.runFiles(c.a.texts(), c.why)
	case "module":
		return m.loadModule(c.a)
	case "getattr":
		if s, ok := c.b.known(); ok {
			return m.memberNamed(c.a, s)
		}
		if c.a.shape == named && inSet("file-modules", c.a.name) {
			m.rep.opaque("the code looks up a function by an unknown name")
		}
		return value{}
	}
	return literal(mark.Any)
}

// listItems are the items of a list that is not empty; a shell gets text otherwise.
func listItems(a value) []value {
	if a.shape == list && len(a.items) > 0 {
		return a.items
	}
	return nil
}

// runFiles reports files of the same language that run.
func (m *machine) runFiles(files []string, why string) {
	for _, s := range files {
		m.rep.run(commands.Run{File: s, Lang: m.lang, Dir: m.dirs[len(m.dirs)-1], Why: why})
	}
}

// runList runs a list, or a text in a shell.
func (m *machine) runList(c *listedCall) {
	sh, _ := option(c.args, "shell")
	argv := listItems(c.a)
	switch {
	case argv != nil && sh.name == "True":
		m.runCommand(nil, argv[0], c.args, c.why)
	case c.a.shape != dict:
		m.runCommand(argv, c.a, c.args, c.why)
	}
}

// spawn runs a file with a list of arguments.
func (m *machine) spawn(a, b value, c *listedCall) {
	if v, ok := option(c.args, "args"); ok && b.shape == dict {
		b = v
	}
	argv := []value{a}
	switch {
	case b.shape == list:
		argv = append(argv, b.items...)
	case c.okB && b.shape != dict && b.shape != fn:
		argv = append(argv, literal(mark.Any))
	}
	if sh, ok := option(c.args, "shell"); ok && sh.name != "false" {
		m.runCommand(nil, joinText(literal(" "), listOf(argv)), c.args, c.why)
		return
	}
	m.runCommand(argv, value{}, c.args, c.why)
}

// runVector runs its arguments: one is a line of shell, several are a vector. An
// environment may be before them, options behind.
func (m *machine) runVector(c *listedCall) {
	var argv []value
	opts := c.args
	vs := values(c.args)
	for _, v := range vs[min(c.row.a, len(vs)):] {
		switch {
		case v.shape == dict && len(argv) == 0:
			opts = append(opts[:len(opts):len(opts)], arg{name: "env", v: v})
		case v.shape != dict && v.shape != fn:
			argv = append(argv, items(v)...)
		}
	}
	if len(argv) == 1 {
		m.runCommand(nil, argv[0], opts, c.why)
	} else if len(argv) > 1 {
		m.runCommand(argv, value{}, opts, c.why)
	}
}

// eval evaluates code that is text. What is not known cannot be judged.
func (m *machine) eval(a value, why string) value {
	if a.shape == fn {
		return m.invoke(a.fn, nil)
	}
	if a.shape == named && strings.HasPrefix(a.name, "compile") || a.shape == dict || a.num {
		return value{}
	}
	if len(a.of) > 0 && !mark.Has(strings.Join(a.of, ""), mark.Any) {
		m.runFiles(a.of, why) // as good as running the file
		return value{}
	}
	if len(a.of) == 1 && a.of[0] == mark.Any {
		m.rep.run(commands.Run{Code: mark.Any, Lang: m.lang, Why: why}) // what somebody sends
	}
	for _, s := range a.texts() {
		if mark.In(s) {
			m.rep.opaque("the code evaluates unknown text")
			continue
		}
		var v value
		m.spend(4 * len(s))
		m.withTokens(lex.Tokens(m.lang, s), 0, func() { v = m.statements(len(m.toks) - 1) })
		if len(a.alts) == 1 {
			return v
		}
	}
	return value{}
}

// ownDirectory is the directory of the code's own file, "" for code without one: modules
// are looked for there, wherever the code is run.
func (m *machine) ownDirectory() string {
	if len(m.params) > 0 && strings.Contains(m.params[0], "/") {
		return parent(m.params[0])
	}
	return ""
}

// loadModule is a module that is taken by its name, or a file by its path.
func (m *machine) loadModule(a value) value {
	if a.shape == named && m.lang == commands.Perl && !strings.HasPrefix(a.name, "$") || a.num {
		return a // require Foo::Bar, require 5.006
	}
	s, ok := a.known()
	if !ok {
		if a.shape == text && len(a.alts) > 0 && !strings.HasPrefix(a.alts[0], mark.Any) {
			m.reportAccess(commands.Read, a, "require")
			return value{}
		}
		m.rep.opaque("the code loads a module whose name is not known")
		return value{}
	}
	s = strings.TrimPrefix(s, "node:")
	m.checkModule(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") {
		m.rep.add(Access{Access: commands.Access{Role: commands.Read, Path: s, Dir: m.ownDirectory(), Why: "require"}})
		return value{}
	}
	if strings.HasPrefix(s, "fs/") || s == "fs-extra" || s == "graceful-fs" {
		s = "fs"
	}
	return nameOf(s)
}
