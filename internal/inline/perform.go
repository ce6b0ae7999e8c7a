package inline

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// act is what a function does with its arguments; functions.txt explains them.
type act string

const (
	actText     act = "text"
	actRead     act = "read"
	actWrite    act = "write"
	actWrites   act = "writes"
	actReads    act = "reads"
	actEnter    act = "enter"
	actOpen     act = "open"
	actCopy     act = "copy"
	actLink     act = "link"
	actShell    act = "shell"
	actArgv     act = "argv"
	actSpawn    act = "spawn"
	actVector   act = "vector"
	actExecv    act = "execv"
	actExecl    act = "execl"
	actEval     act = "eval"
	actScript   act = "script"
	actModule   act = "module"
	actGetattr  act = "getattr"
	actJoin     act = "join"
	actJoinAll  act = "joinall"
	actPath     act = "path"
	actSame     act = "same"
	actParent   act = "parent"
	actBase     act = "base"
	actCwd      act = "cwd"
	actHome     act = "home"
	actTemp     act = "temp"
	actGlob     act = "glob"
	actList     act = "list"
	actWalk     act = "walk"
	actEnv      act = "env"
	actPutenv   act = "putenv"
	actInput    act = "input"
	actChars    act = "chars"
	actDecode   act = "decode"
	actGrow     act = "grow"
	actOpaque   act = "opaque"
	actWriteOn  act = "writeon"
	actReadOn   act = "readon"
	actMoveOn   act = "moveon"
	actLinkOn   act = "linkon"
	actListOn   act = "liston"
	actGlobOn   act = "globon"
	actDict     act = "dict"
	actJoinText act = "jointext"
	actFormat   act = "format"
	actOutput   act = "output"
)

// perform does what a row says.
func (m *machine) perform(r row, callee value, args []arg) value {
	why := strings.TrimLeft(r.name, ".=")
	if v, ok := m.vars["$_"]; ok && m.lang == commands.Perl && len(args) == 0 {
		args = []arg{{v: v}} // what a function of Perl works on that gets nothing
	}
	a, okA := nthArg(args, r.a, pathNames[:]...)
	b, okB := nthArg(args, r.b)
	recv := value{}
	if callee.recv != nil {
		recv = *callee.recv
	}
	switch r.act {
	case actText:
		m.callbacks(callee, args)
		return value{}
	case actRead, actWrite, actWrites, actReads, actEnter, actOpen, actCopy, actLink:
		return m.performFile(r, callee, args, a, b, okA, okB, why)
	case actShell, actArgv, actSpawn, actVector, actExecv, actExecl, actEval, actScript, actModule, actGetattr:
		return m.performRun(r, args, a, b, okB, why)
	case actJoin, actJoinAll, actPath, actSame, actParent, actBase:
		return m.performPath(r, recv, args, a, okA)
	case actWriteOn, actReadOn, actMoveOn, actLinkOn, actListOn, actGlobOn:
		return m.performOn(r, recv, args, a, okA, why)
	}
	return m.performGive(r, recv, args, a, b, okA, why)
}

// pathNames are the names that a path is passed by.
var pathNames = [...]string{"file", "path", "filename", "src", "dir", "directory", "name", "args", "cmd", "command", "top", "fname", "target", "root_dir"}

func (m *machine) performFile(r row, callee value, args []arg, a, b value, okA, okB bool, why string) value {
	defer m.leave(callee, args, r.act == actEnter)
	switch r.act {
	case actRead:
		if okA {
			m.access(commands.Read, fromEach(a), why)
		}
		m.handed(args)
		return value{of: a.alts}
	case actWrite:
		if okA {
			m.access(commands.Write, fromEach(a), why)
		}
		if okB && r.b != r.a {
			m.access(commands.Write, fromEach(b), why)
		}
		return fromEach(a)
	case actWrites, actReads:
		role := commands.Write
		if r.act == actReads {
			role = commands.Read
		}
		m.all(role, args, r.a, why)
	case actEnter:
		if okA && a.shape != fn {
			m.enter(a, why)
		}
	case actOpen:
		return m.opened(r, callee, args, a, b, okA, okB, why)
	case actCopy:
		m.access(commands.Read, fromEach(a), why)
		if okB {
			m.access(commands.Write, b, why)
		}
		return b
	case actLink:
		m.link(a, b, why)
	}
	return value{}
}

// leave runs the block of a call, and after a block of Dir.chdir the code is
// where it was.
func (m *machine) leave(callee value, args []arg, entered bool) {
	dirs := m.dirs
	ran := false
	for _, a := range args {
		ran = ran || a.v.shape == fn
	}
	m.callbacks(callee, args)
	if entered && ran {
		m.dirs = []string{""}
		if len(dirs) > 0 && dirs[0] != "" {
			m.dirs = []string{"", dirs[0]}
		}
	}
}

// handed reports what a reading function is handed besides its path, which could
// be a path as well.
func (m *machine) handed(args []arg) {
	for _, a := range args[min(1, len(args)):] {
		m.weak(a.v, a.name)
	}
}

func (m *machine) all(role commands.Role, args []arg, from int, why string) {
	vs := values(args)
	for _, v := range vs[min(from, len(vs)):] {
		if v.shape == dict || v.shape == fn {
			continue
		}
		m.access(role, fromEach(v), why)
	}
}

// fromEach is a list of paths as one value.
func fromEach(v value) value {
	if v.shape == list {
		return union(v.items...)
	}
	return v
}

func (m *machine) link(target, at value, why string) {
	for _, t := range target.texts() {
		for _, l := range at.texts() {
			for _, d := range m.dirs {
				m.rep.add(Access{Access: commands.Access{Role: commands.Write, Path: l, Dir: d, Why: why}})
				m.rep.add(Access{Access: commands.Access{Role: commands.Target, Path: t, Dir: joinPath(d, parent(l)), Why: why}})
			}
		}
	}
}

// opened reads open(path, mode) in all its forms.
func (m *machine) opened(r row, callee value, args []arg, a, b value, okA, okB bool, why string) value {
	if callee.recv != nil && callee.recv.shape != named {
		// A method: its receiver is the path and its first argument the mode.
		if mode, known := a.known(); !okA || known && isMode(mode) {
			a, b, okB = *callee.recv, a, okA
		}
	}
	if v, ok := option(args, "mode", "flag", "flags"); ok {
		b, okB = v, true
	}
	role := commands.Read
	for _, mode := range b.texts() {
		if okB && !b.num && writes(mode) {
			role = commands.Write
		}
	}
	if m.lang == commands.Perl {
		a, role = perlOpen(m, args, a, b, okB)
		if a.shape == unknown {
			return value{}
		}
	}
	if okB && b.shape == named {
		role = commands.Write // flags of open(2), unless they only read
		if strings.HasSuffix(b.name, "RDONLY") || strings.HasSuffix(b.name, "FileMode.Open") {
			role = commands.Read
		}
	}
	if m.lang == commands.Ruby && strings.HasPrefix(firstText(a), "|") {
		m.shell(a.each(func(s string) string { return strings.TrimPrefix(s, "|") }), why)
		return value{}
	}
	if a.num || a.shape == dict {
		return value{}
	}
	m.access(role, a, why)
	if role == commands.Read {
		return value{of: a.alts}
	}
	return value{}
}

func firstText(v value) string { return v.texts()[0] }

func isMode(s string) bool {
	return s != "" && len(s) <= 4 && strings.Trim(s, "rwaxbtU+") == ""
}

// writes reports whether a mode of open lets write. An unknown one may.
func writes(mode string) bool {
	if len(mode) > 8 && !mark.In(mode) {
		return false
	}
	return strings.ContainsAny(mode, "wax+>"+mark.Any)
}

// perlOpen reads open FH, ">path" and open FH, ">", path, and pipes.
func perlOpen(m *machine, args []arg, a, b value, okB bool) (value, commands.Role) {
	vs := values(args)
	if len(vs) >= 3 {
		mode := firstText(vs[1])
		if strings.Contains(mode, "|") {
			if len(vs) > 3 {
				m.command(vs[2:], value{}, nil, "open")
			} else {
				m.shell(vs[2], "open")
			}
			return value{}, commands.Read
		}
		if writes(mode) {
			return vs[2], commands.Write
		}
		return vs[2], commands.Read
	}
	if !okB || len(vs) < 2 {
		return value{}, commands.Read
	}
	spec := strings.TrimSpace(firstText(b))
	switch {
	case strings.HasPrefix(spec, "|") || strings.HasSuffix(spec, "|"):
		m.shell(b.each(func(s string) string { return strings.Trim(s, "| ") }), "open")
		return value{}, commands.Read
	case strings.HasPrefix(spec, ">") || strings.HasPrefix(spec, "+<"):
		return b.each(func(s string) string { return strings.TrimLeft(s, "+<> ") }), commands.Write
	case strings.HasPrefix(spec, mark.Any):
		return b, commands.Write
	}
	return b.each(func(s string) string { return strings.TrimLeft(s, "< ") }), commands.Read
}

func (m *machine) performOn(r row, recv value, args []arg, a value, okA bool, why string) value {
	switch r.act {
	case actWriteOn:
		m.access(commands.Write, recv, why)
	case actReadOn:
		m.access(commands.Read, recv, why)
		return value{shape: text, alts: []string{mark.Any}, of: recv.alts}
	case actMoveOn:
		if recv.path {
			m.access(commands.Write, recv, why)
			m.access(commands.Write, a, why)
			return a
		}
		// Otherwise it is str.replace, or a column's rename.
		v, _ := m.folded(value{shape: named, name: "?" + r.name, recv: &recv}, args)
		return v
	case actLinkOn:
		m.link(a, recv, why)
	case actListOn:
		m.access(commands.Read, recv, why)
		return pathOf(recv.each(listedBelow).alts)
	case actGlobOn:
		if recv.shape != text || !okA {
			return pathOf([]string{mark.Any})
		}
		return m.globBelow(recv, a, why)
	}
	return recv
}

// listedBelow is a path of what a directory holds.
func listedBelow(s string) string {
	if below(s) {
		return mark.Inside
	}
	return joinPath(s, mark.Atom)
}

func (m *machine) globBelow(recv, a value, why string) value {
	v := m.glob(joined(recv, a), why)
	v.path = true
	return v
}

func (m *machine) performPath(r row, recv value, args []arg, a value, okA bool) value {
	switch r.act {
	case actJoin:
		return joined(values(args)...)
	case actPath:
		if !okA {
			return pathOf([]string{"."})
		}
		return joined(values(args)...)
	case actJoinAll:
		vs := values(args)
		for i := range vs {
			if i > 0 && vs[i].shape == text {
				vs[i] = vs[i].each(func(s string) string { return strings.TrimLeft(s, "/") })
			}
		}
		return joined(vs...)
	case actSame:
		if okA && !(recv.shape == text && recv.path) {
			return a
		}
		return recv
	case actParent:
		if okA {
			return a.each(parent)
		}
		return recv.each(parent)
	case actBase:
		if okA {
			return a.each(base)
		}
		return recv.each(base)
	}
	return value{}
}
