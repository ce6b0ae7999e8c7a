package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// attributes are what declare and its kin give to variables.
type attributes struct {
	export, local, ref, integer, functions, prints, remove bool
}

// declare runs export, declare, local, readonly, typeset and nameref.
func (m *Machine) declare(c *syntax.DeclClause) {
	m.last = Succeeds
	at := attributes{export: c.Variant.Value == "export", ref: c.Variant.Value == "nameref"}
	at.local = c.Variant.Value != "export" && c.Variant.Value != "readonly"
	for _, a := range c.Args {
		if a.Name != nil {
			if !a.Naked {
				m.declared(a.Name.Value, m.appended(a), at)
			} else {
				m.attribute(a.Name.Value, at)
			}
			continue
		}
		for _, w := range m.fields(a.Value) {
			m.declareWord(w, &at)
		}
	}
}

// appended is the value of an assignment in a declaration.
func (m *Machine) appended(a *syntax.Assign) expand.Variable {
	v := m.value(a)
	if a.Append {
		v = m.joined(a.Name.Value, v)
	}
	return v
}

// declareWord is an argument that is not an assignment for the parser: an option,
// a name, or an assignment that came from an expansion.
func (m *Machine) declareWord(w string, at *attributes) {
	if len(w) > 1 && (w[0] == '-' || w[0] == '+') {
		at.read(w)
		return
	}
	name, value, ok := strings.Cut(w, "=")
	if bare, index, indexed := strings.Cut(name, "["); indexed {
		m.evaluated(index)
		name = bare
	}
	if !ok {
		m.attribute(name, *at)
		return
	}
	m.declared(strings.TrimSuffix(name, "+"), text(value), *at)
}

func (at *attributes) read(w string) {
	on := w[0] == '-'
	for _, c := range w[1:] {
		switch c {
		case 'x':
			at.export = on
		case 'n':
			at.ref = on
			at.remove = !at.local && on // export -n
		case 'i':
			at.integer = on
		case 'g':
			at.local = false
		case 'f', 'F':
			at.functions = on
		}
	}
}

func (m *Machine) declared(name string, v expand.Variable, at attributes) {
	if at.local {
		m.local(name)
	}
	if at.integer {
		m.evaluated(v.Str)
	}
	if at.ref && v.Kind == expand.String && !at.remove {
		v.Kind = expand.NameRef
	}
	v.Exported = at.export
	m.set(name, v)
}

// attribute changes what a name is, not its value.
func (m *Machine) attribute(name string, at attributes) {
	if at.functions && at.export {
		m.sent[name] = true
	}
	if at.functions || name == "" {
		return
	}
	if at.local && len(m.locals) > 0 {
		m.local(name)
		delete(m.vars, name)
		m.vars[name] = expand.Variable{Exported: at.export, Local: true}
		return
	}
	v, set := m.vars[name]
	switch {
	case set && at.ref && !at.remove:
		v.Kind = expand.NameRef
		m.vars[name] = v
	case set && at.remove:
		v.Exported = false
		m.vars[name] = v
	case set && at.export:
		v.Exported = true
		m.vars[name] = v
	case !set && !at.export:
		m.vars[name] = expand.Variable{}
	}
}
