package shell

import (
	"fmt"

	"maps"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

// attributes are what declare and its kin give to variables.
type attributes struct {
	export, local, global, ref, functions, prints, remove, readonly, inherit bool
	kind                                                                     expand.ValueKind
	set, clear                                                               nature
}

func attributesOf(command string) attributes {
	return attributes{
		export: command == "export", ref: command == "nameref", readonly: command == "readonly",
		local: command != "export" && command != "readonly",
	}
}

// declare runs export, declare, local, readonly, typeset and nameref. Its status
// is its own, not that of the values.
func (m *Machine) declare(c *syntax.DeclClause) {
	at := attributesOf(c.Variant.Value)
	last := ""
	status := Succeeds
	for _, a := range c.Args {
		if a.Name != nil {
			last = a.Name.Value
			status = m.declareAssign(a, at, status)
			continue
		}
		for _, w := range m.fields(a.Value) {
			last = w
			status = m.declareWord(w, &at, status)
		}
	}
	if m.last = status; at.prints {
		m.last = Unsure
		m.Print(mark.Any)
	}
	if last != "" {
		m.tail = last
	}
}

// declareAssign is an argument that is an assignment, or a name. Braces in it
// make several.
func (m *Machine) declareAssign(a *syntax.Assign, at attributes, status Status) Status {
	if a.Naked {
		m.setAttributes(a.Name.Value, at)
		return status
	}
	m.prepareVariable(a.Name.Value, at)
	list := []*syntax.Assign{a}
	if a.Value != nil && !substitutes(a.Value) {
		list = m.bracedAssigns(a)
	}
	for _, a := range list {
		kind := at.kind
		if kind == expand.Unknown {
			kind = m.kindOf(a.Name.Value)
		}
		status = m.setDeclared(a.Name.Value, m.value(a, kind), at, status)
	}
	return status
}

// bracedAssigns is one assignment for each word that braces in the value make.
func (m *Machine) bracedAssigns(a *syntax.Assign) []*syntax.Assign {
	m.boundBraces(a.Value)
	w := *a.Value
	if !syntax.SplitBraces(&w) {
		return []*syntax.Assign{a}
	}
	var list []*syntax.Assign
	for value, err := range expand.BracesSeq(nil, &w) {
		if err != nil {
			panic(giveUp{fmt.Errorf("%w: %v", ErrBudget, err)})
		}
		c := *a
		c.Value = value
		list = append(list, &c)
	}
	return list
}

// declareWord is an argument that is not an assignment for the parser: an option,
// a name, or an assignment that came from an expansion.
func (m *Machine) declareWord(w string, at *attributes, status Status) Status {
	if len(w) > 1 && (w[0] == '-' || w[0] == '+') {
		at.read(w)
		return status
	}
	if w == "-" { // local - keeps the options
		return status
	}
	ref, value, ok := strings.Cut(w, "=")
	add := ok && strings.HasSuffix(ref, "+")
	ref = strings.TrimSuffix(ref, "+")
	if !ok {
		m.setAttributes(m.placeNamed(ref).name, *at)
		return status
	}
	name, _, _ := strings.Cut(ref, "[")
	m.prepareVariable(name, *at)
	if strings.HasPrefix(value, "(") && (at.kind != expand.Unknown || m.setByScript(name) && m.resolved(name).Kind == expand.Indexed) {
		m.runText(w) // an array in a text
		return status
	}
	p := m.placeNamed(ref)
	old := expand.Variable{}
	if m.setByScript(p.name) {
		old = m.resolved(p.name)
	}
	if !p.subscripted {
		return m.setDeclared(p.name, m.scalar(p.name, old, value, add), *at, status)
	}
	if add {
		had, _ := partial.Element(old, p.key)
		value = m.sum(p.name, had, value)
	}
	return m.setDeclared(p.name, partial.With(old, p.key, value), *at, status)
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
		case 'i', 'l', 'u':
			to := &at.set
			if !on {
				to = &at.clear
			}
			to.integer, to.lower, to.upper = to.integer || c == 'i', to.lower || c == 'l', to.upper || c == 'u'
		case 'g':
			at.local, at.global = false, true
		case 'f', 'F':
			at.functions = on
			at.prints = at.prints || c == 'F'
		case 'p':
			at.prints = true
		case 'r':
			at.readonly = on
		case 'I':
			at.inherit = true
		case 'a':
			at.kind = expand.Indexed
		case 'A':
			at.kind = expand.Associative
		}
	}
}

// prepareVariable makes a variable what it is before it gets its value.
func (m *Machine) prepareVariable(name string, at attributes) {
	if at.local {
		m.ownLocal(name, at)
	}
	if at.set == (nature{}) && at.clear == (nature{}) {
		return
	}
	all := maps.Clone(m.nature)
	if all == nil {
		all = map[string]nature{}
	}
	n := all[name]
	n.integer = (n.integer || at.set.integer) && !at.clear.integer
	n.lower = (n.lower || at.set.lower) && !at.clear.lower && !at.set.upper
	n.upper = (n.upper || at.set.upper) && !at.clear.upper && !at.set.lower
	all[name] = n
	m.nature = all
}

// ownLocal makes a variable the function's own, unset unless it was already.
func (m *Machine) ownLocal(name string, at attributes) {
	if len(m.locals) == 0 || !m.local(name) || at.inherit {
		return
	}
	m.vars[name] = expand.Variable{Local: true}
	if m.nature[name] != (nature{}) {
		all := maps.Clone(m.nature)
		delete(all, name)
		m.nature = all
	}
}

func (m *Machine) setDeclared(name string, v expand.Variable, at attributes, status Status) Status {
	if m.vars[name].ReadOnly {
		return Fails
	}
	if at.ref && v.Kind == expand.String && !at.remove {
		v.Kind = expand.NameRef
	}
	v.Exported = at.export
	if at.global {
		if m.setGlobal(name, v) {
			return status
		}
	}
	m.set(name, v)
	if at.readonly {
		v = m.vars[name]
		v.ReadOnly = true
		m.vars[name] = v
	}
	return status
}

// setGlobal sets a variable that functions hide.
func (m *Machine) setGlobal(name string, v expand.Variable) bool {
	for _, hidden := range m.locals {
		if _, ok := hidden[name]; ok {
			hidden[name] = m.withNature(name, v)
			return true
		}
	}
	return false
}

// setAttributes changes what a name is, not its value.
func (m *Machine) setAttributes(name string, at attributes) {
	if at.functions && at.export {
		m.sent[name] = true
	}
	if at.functions && at.readonly && !at.prints {
		m.world.Doubt(m, "a function that cannot be redefined")
	}
	if at.functions || at.prints || name == "" {
		return
	}
	m.prepareVariable(name, at)
	v, set := m.vars[name]
	if !set && at.export {
		return
	}
	v = at.shaped(v)
	if at.ref && !at.remove {
		v.Kind = expand.NameRef
	}
	v.Exported = (v.Exported || at.export) && !at.remove
	v.ReadOnly = v.ReadOnly || at.readonly
	if set || v.Kind != expand.Unknown || !at.readonly {
		m.vars[name] = v
	}
}

// shaped makes a variable the kind of array that was asked for.
func (at attributes) shaped(v expand.Variable) expand.Variable {
	switch {
	case at.kind == expand.Unknown, v.Kind == at.kind, at.kind == expand.Indexed && v.Kind == expand.Associative:
	case !v.IsSet():
		v.Kind = at.kind
	case at.kind == expand.Indexed:
		v = partial.Arrayed(v)
	}
	return v
}
