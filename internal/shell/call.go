package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
)

// call runs a simple command: assignments and words.
func (m *Machine) call(c *syntax.CallExpr) flow {
	m.last = Succeeds // of assignments, unless a substitution says otherwise
	if code, ok := negated(c); ok {
		m.sub(func(n *Machine) { n.eval(code) })
		m.last = m.last.not()
		return flow{}
	}
	args := m.fields(c.Args...)
	if len(args) == 0 {
		for _, a := range c.Assigns {
			m.assign(a, false)
		}
		return flow{}
	}
	undo := m.temporarily(c.Assigns)
	f := m.dispatch(args)
	undo()
	m.tail = args[len(args)-1]
	return f
}

// negated recognises !(…) where a command begins, which the parser takes for a
// pattern and bash for a subshell.
func negated(c *syntax.CallExpr) (string, bool) {
	if len(c.Args) == 0 || len(c.Args[0].Parts) == 0 {
		return "", false
	}
	g, ok := c.Args[0].Parts[0].(*syntax.ExtGlob)
	if !ok || g.Op != syntax.GlobExcept {
		return "", false
	}
	return g.Pattern.Value, true
}

// temporarily makes assignments that hold for one command.
func (m *Machine) temporarily(list []*syntax.Assign) func() {
	if len(list) == 0 {
		return func() {}
	}
	old := map[string]expand.Variable{}
	for _, a := range list {
		if a.Name == nil {
			continue
		}
		if _, seen := old[a.Name.Value]; !seen {
			old[a.Name.Value] = m.vars[a.Name.Value]
		}
		m.assign(a, true)
	}
	return func() {
		for name, v := range old {
			if v.Declared() {
				m.vars[name] = v
			} else {
				delete(m.vars, name)
			}
		}
	}
}

// dispatch runs a command by its name: an alias, a function, a builtin, a
// program.
func (m *Machine) dispatch(args []string) flow {
	name := args[0]
	if body, ok := m.aliases[name]; ok && m.line != nil && m.run.decide(m.line.Pos()) {
		return m.alias(name, body, args[1:]) // a shell may expand it, and may not
	}
	if body, ok := m.funcs[name]; ok {
		return m.function(body, args)
	}
	return m.plain(args)
}

// plain runs a builtin or a program.
func (m *Machine) plain(args []string) flow {
	if f, ok := m.builtin(args); ok {
		return f
	}
	m.last = m.external(args)
	if st, ok := m.fileTest(args); ok {
		m.last = st
	}
	return flow{}
}

// external runs a program.
func (m *Machine) external(args []string) Status {
	m.run.step()
	m.last = m.world.Exec(m, args)
	return m.last
}

// function calls a function.
func (m *Machine) function(body *syntax.Stmt, args []string) flow {
	m.depth++
	if m.depth > maxDepth {
		m.run.stop("its functions call each other too deeply")
	}
	params, loops := m.params, m.loops
	m.params, m.loops = args[1:], 0
	m.calls++
	end := m.scope()
	f := m.stmt(body)
	end()
	m.calls--
	m.params, m.loops = params, loops
	m.depth--
	if f.kind == returns {
		f = flow{}
	}
	return f
}

// alias runs what an alias stands for, with the words after it. Whether a shell
// expands aliases depends on how it was started; the careful answer is that it
// does. Its own name inside means the command.
func (m *Machine) alias(name, body string, rest []string) flow {
	var b strings.Builder
	b.WriteString(body)
	for _, w := range rest {
		b.WriteString(" " + quote(w))
	}
	delete(m.aliases, name)
	defer func() { m.aliases[name] = body }()
	return m.eval(b.String())
}

// eval runs text as code in this shell.
func (m *Machine) eval(code string) flow {
	m.depth++
	defer func() { m.depth-- }()
	if m.depth > maxDepth {
		m.run.stop("it evaluates its own text too deeply")
	}
	f := m.parse(code)
	if f == nil {
		m.last = Unsure
		return flow{}
	}
	return m.stmts(f, f.Stmts)
}

// quote makes a word literal. Marks need no quotes.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// assign makes one assignment.
func (m *Machine) assign(a *syntax.Assign, export bool) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	v := m.value(a)
	if a.Append {
		v = m.joined(name, v)
	}
	v.Exported = export
	m.set(name, v)
}

// value is the right side of an assignment.
func (m *Machine) value(a *syntax.Assign) expand.Variable {
	if a.Array != nil {
		return m.array(a.Array)
	}
	s := text(m.literal(a.Value))
	if a.Index == nil {
		return s
	}
	m.subscript(a.Index)
	return m.element(a.Name.Value, a.Index, s.Str)
}

// array is (a b c). An element that is given by an index keeps its place among
// the values; which index it has is not followed.
func (m *Machine) array(x *syntax.ArrayExpr) expand.Variable {
	v := expand.Variable{Set: true, Kind: expand.Indexed}
	keyed := map[string]string{}
	for _, e := range x.Elems {
		if e.Index != nil {
			m.subscript(e.Index)
			if w, ok := e.Index.(*syntax.Word); ok && e.Value != nil {
				keyed[m.literal(w)] = m.literal(e.Value)
			}
		}
		if e.Value != nil {
			v.List = append(v.List, m.fields(e.Value)...)
		}
	}
	if len(keyed) > 0 {
		return expand.Variable{Set: true, Kind: expand.Associative, Map: keyed}
	}
	return v
}

// element sets one element of an array.
func (m *Machine) element(name string, index syntax.ArithmExpr, value string) expand.Variable {
	old := m.vars[name]
	if w, ok := index.(*syntax.Word); ok && (old.Kind == expand.Associative || !numeric(m.literal(w))) {
		all := map[string]string{m.literal(w): value}
		for k, v := range old.Map {
			if _, set := all[k]; !set {
				all[k] = v
			}
		}
		return expand.Variable{Set: true, Kind: expand.Associative, Map: all}
	}
	n, known := m.arithm(index)
	list := append([]string{}, old.List...)
	if old.Kind == expand.String {
		list = []string{old.Str}
	}
	if !known || n < 0 || n > 4096 {
		return expand.Variable{Set: true, Kind: expand.Indexed, List: append(list, value, mark.Any)}
	}
	for len(list) <= n {
		list = append(list, "")
	}
	list[n] = value
	return expand.Variable{Set: true, Kind: expand.Indexed, List: list}
}

func numeric(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// joined is what += makes.
func (m *Machine) joined(name string, v expand.Variable) expand.Variable {
	old := m.get(name)
	if v.Kind == expand.Indexed {
		list := append([]string{}, old.List...)
		if old.Kind == expand.String && m.vars[name].IsSet() {
			list = []string{old.Str}
		}
		v.List = append(list, v.List...)
		return v
	}
	if old.Kind == expand.Indexed && len(old.List) > 0 {
		list := append([]string{}, old.List...)
		list[0] += v.Str
		return expand.Variable{Set: true, Kind: expand.Indexed, List: list}
	}
	if _, ok := m.vars[name]; !ok && given(name) == mark.Any {
		return v // most likely it was not set
	}
	v.Str = old.String() + v.Str
	return v
}
