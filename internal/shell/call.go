package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

// runCall runs a simple command: assignments and words.
func (m *Machine) runCall(c *syntax.CallExpr) flow {
	m.last = Succeeds // of assignments, unless a substitution says otherwise
	if code, ok := negated(c); ok {
		m.inSubshell(func(n *Machine) { n.runText(code) })
		m.last = m.last.not()
		return flow{}
	}
	args := m.fields(c.Args...)
	if len(args) == 0 {
		for _, a := range c.Assigns {
			m.runAssign(a, false)
		}
		return flow{}
	}
	undo := m.temporarily(c.Assigns)
	f := m.dispatch(args)
	if !declares(args[0]) { // x=y export x stays
		undo()
	}
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

// declares reports whether a command gives variables their attributes.
func declares(name string) bool {
	return slices.Contains([]string{"export", "readonly", "declare", "typeset"}, name)
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
		m.runAssign(a, true)
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
		return m.runAlias(name, body, args[1:]) // a shell may expand it, and may not
	}
	if body, ok := m.funcs[name]; ok {
		return m.callFunction(body, args)
	}
	return m.runPlain(args)
}

// runPlain runs a builtin or a program.
func (m *Machine) runPlain(args []string) flow {
	if f, ok := m.runBuiltin(args); ok {
		return f
	}
	m.last = m.runExternal(args)
	if st, ok := m.fileTest(args); ok {
		m.last = st
	}
	if body, ok := m.funcs["command_not_found_handle"]; ok {
		n := m.fork()
		delete(n.funcs, "command_not_found_handle") // it runs programs itself
		n.callFunction(body, append([]string{"command_not_found_handle"}, args...))
	}
	return flow{}
}

// runExternal runs a program.
func (m *Machine) runExternal(args []string) Status {
	m.run.step()
	m.last = m.world.Exec(m, args)
	return m.last
}

// callFunction calls a function.
func (m *Machine) callFunction(body *syntax.Stmt, args []string) flow {
	m.depth++
	if m.depth > maxDepth {
		m.run.stop("its functions call each other too deeply")
	}
	params, loops, nature := m.params, m.loops, m.nature
	m.params, m.loops = args[1:], 0
	m.calls++
	end := m.scope()
	f := m.runStmt(body)
	m.runReturnTrap()
	end()
	m.calls--
	m.params, m.loops, m.nature = params, loops, nature
	m.depth--
	if f.kind == returns {
		f = flow{}
	}
	return f
}

// runAlias runs what an alias stands for, with the words after it. Whether a shell
// expands aliases depends on how it was started; the careful answer is that it
// does. Its own name inside means the command.
func (m *Machine) runAlias(name, body string, rest []string) flow {
	var b strings.Builder
	b.WriteString(body)
	for _, w := range rest {
		b.WriteString(" " + quote(w))
	}
	delete(m.aliases, name)
	defer func() { m.aliases[name] = body }()
	return m.runText(b.String())
}

// runText runs text as code in this shell.
func (m *Machine) runText(code string) flow {
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
	return m.runStmts(f, f.Stmts)
}

// quote makes a word literal. Marks need no quotes.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// runAssign makes one assignment.
func (m *Machine) runAssign(a *syntax.Assign, export bool) {
	if a.Name == nil {
		return
	}
	v := m.value(a, m.kindOf(a.Name.Value))
	v.Exported = export
	m.set(a.Name.Value, v)
}

// kindOf is what kind of array a name was declared to be.
func (m *Machine) kindOf(name string) expand.ValueKind {
	if m.setByScript(name) {
		return m.resolved(name).Kind
	}
	return expand.Unknown
}

// value is what a variable is after an assignment to it. That to an array's name
// is one to its first element.
func (m *Machine) value(a *syntax.Assign, kind expand.ValueKind) expand.Variable {
	name := a.Name.Value
	var old expand.Variable
	if m.setByScript(name) {
		old = m.resolved(name)
	}
	if a.Array != nil {
		if !a.Append {
			old = expand.Variable{}
		}
		if old.Kind == expand.Unknown && kind == expand.Associative {
			old.Kind = kind
		}
		return m.literalArray(a.Array, old)
	}
	if a.Index == nil {
		s := m.literal(m.homes(a.Value))
		return m.scalar(name, old, s, a.Append)
	}
	if old.Kind == expand.Unknown && kind == expand.Associative {
		old.Kind = kind
	}
	k := m.key(old, a.Index)
	s := m.literal(a.Value)
	if k.All {
		return text(mark.Any)
	}
	if a.Append {
		had, _ := partial.Element(old, k)
		s = m.sum(name, had, s)
	}
	return partial.With(old, k, s)
}

// scalar is a variable after x=s or x+=s.
func (m *Machine) scalar(name string, old expand.Variable, s string, add bool) expand.Variable {
	first := partial.Key{Known: true, Word: "0"}
	array := old.Kind == expand.Indexed || old.Kind == expand.Associative
	if add {
		had := old.Str
		if array {
			had, _ = partial.Element(old, first)
		} else if !m.setByScript(name) && partial.Given(name) != mark.Any {
			had = partial.Given(name) // what the environment most likely does not set is empty
		}
		s = m.sum(name, had, s)
	}
	if array {
		return partial.With(old, first, s)
	}
	return text(s)
}

// sum is what += makes of two texts: of integers, their sum.
func (m *Machine) sum(name, a, b string) string {
	if m.nature[name].integer {
		return "(" + a + ")+(" + b + ")"
	}
	return a + b
}

// homes is the value of an assignment, where a tilde after a colon is the home
// as well.
func (m *Machine) homes(w *syntax.Word) *syntax.Word {
	if w == nil {
		return nil
	}
	var parts []syntax.WordPart
	for i, p := range w.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || !strings.Contains(lit.Value, ":~") {
			continue
		}
		if parts == nil {
			parts = slices.Clone(w.Parts)
		}
		c := *lit
		c.Value = strings.ReplaceAll(lit.Value+":", ":~/", ":"+m.wholeText("HOME")+"/")
		c.Value = strings.TrimSuffix(strings.ReplaceAll(c.Value, ":~:", ":"+m.wholeText("HOME")+":"), ":")
		parts[i] = &c
	}
	if parts == nil {
		return w
	}
	return &syntax.Word{Parts: parts}
}
