package inline

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// listedCall is a call of a function that functions.txt lists; the comment there
// explains the acts.
type listedCall struct {
	row
	callee value
	recv   value // what a method was called on
	args   []arg
	a, b   value // the arguments that the line names …
	okA    bool  // … if they are there
	okB    bool
	why    string
}

// perform does what a line of functions.txt says.
func (m *machine) perform(r row, callee value, args []arg) value {
	if v, ok := m.vars["$_"]; ok && m.lang == commands.Perl && len(args) == 0 {
		args = []arg{{v: v}} // functions of Perl work on $_ if they get nothing
	}
	c := &listedCall{row: r, callee: callee, args: args, why: strings.TrimLeft(r.name, ".=")}
	c.a, c.okA = nthArg(args, r.a, strings.Fields(wordSets()["path-arguments"])...)
	c.b, c.okB = nthArg(args, r.b)
	if callee.recv != nil {
		c.recv = *callee.recv
	}
	switch r.act {
	case "text":
		m.runCallbacks(callee, args)
		return value{}
	case "read", "write", "writes", "reads", "enter", "open", "copy", "link":
		v := m.performFile(c)
		m.runBlock(c)
		return v
	case "shell", "argv", "spawn", "vector", "execv", "execl", "eval", "script", "module", "getattr":
		return m.performRun(c)
	case "writeon", "readon", "moveon", "linkon", "liston", "globon":
		return m.performOn(c)
	case "join", "joinall", "path", "same", "parent", "base":
		return c.givePath()
	case "cwd", "home", "temp", "glob", "list", "walk":
		return m.giveFiles(c)
	}
	return m.giveOther(c)
}

func (m *machine) performFile(c *listedCall) value {
	switch c.act {
	case "read":
		if c.okA {
			m.reportAccess(commands.Read, eachOf(c.a), c.why)
		}
		for _, a := range c.args[min(1, len(c.args)):] { // these could be paths as well
			m.reportWeak(a.v, a.name)
		}
		return value{of: c.a.alts}
	case "write":
		if c.okA {
			m.reportAccess(commands.Write, eachOf(c.a), c.why)
		}
		if c.okB && c.row.b != c.row.a {
			m.reportAccess(commands.Write, eachOf(c.b), c.why)
		}
		return eachOf(c.a)
	case "writes", "reads":
		role := commands.Write
		if c.act == "reads" {
			role = commands.Read
		}
		vs := values(c.args)
		for _, v := range vs[min(c.row.a, len(vs)):] {
			if v.shape != dict && v.shape != fn {
				m.reportAccess(role, eachOf(v), c.why)
			}
		}
	case "enter":
		if c.okA && c.a.shape != fn {
			m.enterDir(c.a, c.why)
		}
	case "open":
		return m.performOpen(c)
	case "copy":
		m.reportAccess(commands.Read, eachOf(c.a), c.why)
		if c.okB {
			m.reportAccess(commands.Write, c.b, c.why)
		}
		return c.b
	case "link":
		m.reportLink(c.a, c.b, c.why)
	}
	return value{}
}

// runBlock runs the block of a call. After a block of Dir.chdir the code may be
// where it was before.
func (m *machine) runBlock(c *listedCall) {
	dirs, ran := m.dirs, false
	for _, a := range c.args {
		ran = ran || a.v.shape == fn
	}
	m.runCallbacks(c.callee, c.args)
	if c.act == "enter" && ran {
		m.dirs = []string{""}
		if len(dirs) > 0 && dirs[0] != "" {
			m.dirs = []string{"", dirs[0]}
		}
	}
}

// eachOf is a path that is any element of a list, or the value itself.
func eachOf(v value) value {
	if v.shape == list {
		return v.elements()
	}
	return v
}

func (m *machine) reportLink(target, at value, why string) {
	for _, t := range target.texts() {
		for _, l := range at.texts() {
			for _, d := range m.dirs {
				m.rep.add(Access{Access: commands.Access{Role: commands.Write, Path: l, Dir: d, Why: why}})
				m.rep.add(Access{Access: commands.Access{Role: commands.Target, Path: t, Dir: joinPath(d, parent(l)), Why: why}})
			}
		}
	}
}

// performOpen reads open(path, mode) in all its forms.
func (m *machine) performOpen(c *listedCall) value {
	a, b, okB := c.a, c.b, c.okB
	if c.callee.recv != nil && c.recv.shape != named {
		// A method: its receiver is the path and its first argument the mode.
		if mode, known := a.known(); !c.okA || known && isMode(mode) {
			a, b, okB = c.recv, a, c.okA
		}
	}
	if v, ok := option(c.args, "mode", "flag", "flags"); ok {
		b, okB = v, true
	}
	role := commands.Read
	for _, mode := range b.texts() {
		if okB && !b.num && modeWrites(mode) {
			role = commands.Write
		}
	}
	if m.lang == commands.Perl {
		if a, role = m.perlOpen(values(c.args)); a.shape == unknown {
			return value{}
		}
	}
	if okB && b.shape == named { // flags of open(2)
		role = commands.Write
		if strings.HasSuffix(b.name, "RDONLY") {
			role = commands.Read
		}
	}
	if m.lang == commands.Ruby && strings.HasPrefix(firstText(a), "|") {
		m.runShell(a.each(func(s string) string { return strings.TrimPrefix(s, "|") }), c.why)
		return value{}
	}
	if a.num || a.shape == dict {
		return value{}
	}
	m.reportAccess(role, a, c.why)
	if role == commands.Read {
		return value{of: a.alts}
	}
	return value{}
}

func firstText(v value) string { return v.texts()[0] }

func isMode(s string) bool { return s != "" && len(s) <= 4 && strings.Trim(s, "rwaxbtU+") == "" }

// modeWrites reports whether a mode of open lets write. An unknown one may.
func modeWrites(mode string) bool {
	return (len(mode) <= 8 || mark.In(mode)) && strings.ContainsAny(mode, "wax+>"+mark.Any)
}

// perlOpen reads open FH, ">path" and open FH, ">", path, and pipes. It gives no
// path for a pipe.
func (m *machine) perlOpen(vs []value) (value, commands.Role) {
	if len(vs) < 2 {
		return value{}, commands.Read
	}
	spec := strings.TrimSpace(firstText(vs[1]))
	path := vs[1].each(func(s string) string { return strings.Trim(s, "+<>| ") })
	if len(vs) > 2 {
		path = vs[2]
	}
	switch {
	case len(vs) > 3 && strings.Contains(spec, "|"):
		m.runCommand(vs[2:], value{}, nil, "open")
		return value{}, commands.Read
	case len(vs) > 2 && strings.Contains(spec, "|"), strings.HasPrefix(spec, "|"), strings.HasSuffix(spec, "|"):
		m.runShell(path, "open")
		return value{}, commands.Read
	case len(vs) > 2 && modeWrites(spec), strings.HasPrefix(spec, ">"), strings.HasPrefix(spec, "+<"), strings.HasPrefix(spec, mark.Any):
		return path, commands.Write
	}
	return path, commands.Read
}

// performOn does what a method of a path object does.
func (m *machine) performOn(c *listedCall) value {
	switch c.act {
	case "writeon":
		m.reportAccess(commands.Write, c.recv, c.why)
	case "readon":
		m.reportAccess(commands.Read, c.recv, c.why)
		return value{shape: text, alts: []string{mark.Any}, of: c.recv.alts}
	case "moveon":
		if c.recv.path {
			m.reportAccess(commands.Write, c.recv, c.why)
			m.reportAccess(commands.Write, c.a, c.why)
			return c.a
		}
		// Otherwise it is str.replace, or a column's rename.
		v, _ := m.fold(value{shape: named, name: "?" + c.name, recv: &c.recv}, c.args)
		return v
	case "linkon":
		m.reportLink(c.a, c.recv, c.why)
	case "liston":
		m.reportAccess(commands.Read, c.recv, c.why)
		return pathOf(c.recv.each(listedBelow).alts)
	case "globon":
		if c.recv.shape != text || !c.okA {
			return pathOf([]string{mark.Any})
		}
		v := m.readGlob(joined(c.recv, c.a), c.why)
		v.path = true
		return v
	}
	return c.recv
}

// givePath is what a function gives that works on the text of paths.
func (c *listedCall) givePath() value {
	from := c.recv
	if c.okA {
		from = c.a
	}
	vs := values(c.args)
	switch c.act {
	case "joinall":
		for i := 1; i < len(vs); i++ {
			if vs[i].shape == text {
				vs[i] = vs[i].each(func(s string) string { return strings.TrimLeft(s, "/") })
			}
		}
	case "same":
		if c.recv.shape == text && c.recv.path {
			return c.recv
		}
		return from
	case "parent":
		return from.each(parent)
	case "base":
		return from.each(lastPart)
	}
	return joined(vs...)
}

// giveFiles is what a function gives that says where files are.
func (m *machine) giveFiles(c *listedCall) value {
	switch c.act {
	case "cwd":
		return pathOf([]string{"."})
	case "home":
		return joined(append([]value{literal("~")}, values(c.args)...)...)
	case "temp":
		if d, ok := option(c.args, "dir"); ok {
			m.reportAccess(commands.Write, d, c.why)
		}
		return pathOf([]string{mark.Scratch})
	case "glob":
		return m.readGlob(eachOf(c.a), c.why)
	}
	dir := c.a
	if !c.okA {
		dir = literal(".")
	}
	m.reportAccess(commands.Read, dir, c.why)
	if c.act == "list" {
		return dir.each(listedName)
	}
	return listOf([]value{listOf([]value{dir.each(listedBelow), dir.each(listedName), dir.each(listedName)})})
}

// giveOther does what is left: text, variables and collections.
func (m *machine) giveOther(c *listedCall) value {
	switch c.act {
	case "env":
		v := m.environVariable(c.a)
		if s, ok := v.known(); c.okA && (!ok || s == "") && c.b.shape == text {
			return either(c.b, v)
		}
		return v
	case "putenv":
		m.putenv(c.a, c.b)
	case "input":
		v := literal(mark.Any)
		if strings.Contains(c.name, "input") || strings.Contains(c.name, "read") {
			v.of = []string{mark.Any} // somebody else sends it
		}
		return v
	case "grow":
		for _, v := range values(c.args) {
			m.addToList(c.recv, v)
			if isLoadPath(c.recv.name) && v.shape == text && !v.num {
				m.reportAccess(commands.Read, v, c.recv.name)
			}
		}
		m.addHintsTo(&c.recv, c.args)
	case "opaque":
		m.rep.opaque("the code calls " + c.why + ", which cannot be followed")
	case "dict":
		return m.dictOf(c.args)
	case "output":
		if v, ok := option(c.args, "file", "filename", "con"); ok && v.shape != named {
			m.reportAccess(commands.Write, v, c.why)
		}
	case "chars":
		return characters(c.args)
	case "decode":
		if v, _ := nthArg(c.args, 1); c.name == "Buffer.from" && !strings.HasPrefix(firstText(v), "base64") && firstText(v) != "hex" {
			return c.a
		}
		return asText(c.a).each(decoded)
	case "format":
		if len(c.args) > 0 {
			return format(c.args[0].v, c.args[1:])
		}
	case "jointext":
		if vs := values(c.args); len(vs) > 1 {
			return joinText(vs[0], listOf(flattened(vs[1:])))
		}
	}
	return value{}
}

func isLoadPath(name string) bool {
	return name == "sys.path" || strings.HasPrefix(name, "$LOAD_PATH") || name == "@INC"
}

// flattened are values, with the elements of the lists among them.
func flattened(vs []value) []value {
	var out []value
	for _, v := range vs {
		out = append(out, items(v)...)
	}
	return out
}

// putenv sets a variable: ("A", "b"), ("A=b"), or several from a dictionary.
func (m *machine) putenv(a, b value) {
	if s, ok := a.known(); ok && b.shape == unknown {
		if k, v, found := strings.Cut(s, "="); found {
			a, b = literal(k), literal(v)
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

// dictOf is a dictionary of the arguments that have names.
func (m *machine) dictOf(args []arg) value {
	d := value{shape: dict}
	for _, a := range args {
		switch {
		case a.name != "":
			d.keys, d.items = append(d.keys, literal(a.name)), append(d.items, a.v)
		case a.v.shape == dict:
			d.keys, d.items = append(d.keys, a.v.keys...), append(d.items, a.v.items...)
		default:
			d = withHints(d, a.v)
		}
	}
	return d
}
