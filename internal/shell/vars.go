package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

// environ is a machine as the expansion of words sees it.
type environ struct {
	m *Machine
	// absent are names that count as unset for this word: what a default is
	// given for is most likely not set.
	absent map[string]bool
}

var _ expand.WriteEnviron = environ{}

// Get never says that a variable is unset unless the script made it so: what the
// script did not set comes from an environment that nobody here knows.
func (e environ) Get(name string) expand.Variable {
	if v, ok := e.m.vars[name]; ok {
		return v
	}
	if v, ok := e.m.special(name); ok {
		return v
	}
	if e.absent[name] {
		return expand.Variable{}
	}
	if strings.HasSuffix(name, "]") { // what a reference to an element names
		return text(mark.Any)
	}
	return text(partial.Given(name))
}

// Each is for ${!prefix@} only.
func (e environ) Each(f func(string, expand.Variable) bool) {
	for name, v := range e.m.vars {
		if !f(name, v) {
			return
		}
	}
}

// Set is for ${x:=y} and for arithmetic.
func (e environ) Set(name string, v expand.Variable) error {
	e.m.set(name, v)
	return nil
}

func text(s string) expand.Variable { return expand.Variable{Set: true, Kind: expand.String, Str: s} }

// special are the shell's own parameters.
func (m *Machine) special(name string) (expand.Variable, bool) {
	if v, ok := standIn(name); ok {
		return v, true
	}
	switch name {
	case "@", "*":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: m.params}, true
	case "#":
		return text(strconv.Itoa(len(m.params))), true
	case "0", "BASH_SOURCE":
		return text(m.zero), true
	case "_":
		return text(m.tail), m.tail != ""
	case "PWD", "HOME +":
		return text(m.dir), true
	case "OLDPWD":
		return text(mark.Any), true
	case "IFS":
		return text(" \t\n"), true
	case "DIRSTACK":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: append([]string{m.dir}, m.stack...)}, true
	case "HOME -":
		return m.get("OLDPWD"), true
	}
	if user, ok := strings.CutPrefix(name, "HOME "); ok {
		return text(partial.HomeOf(user)), true
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n >= 1 && n <= len(m.params) {
			return text(m.params[n-1]), true
		}
		return expand.Variable{}, true
	}
	return expand.Variable{}, false
}

// get is a variable as a word of the script sees it.
func (m *Machine) get(name string) expand.Variable { return environ{m: m}.Get(name) }

// set changes a variable as an assignment does.
func (m *Machine) set(name string, v expand.Variable) {
	old, had := m.vars[name]
	for range 16 { // references to references
		if !had || old.Kind != expand.NameRef || v.Kind == expand.NameRef {
			break
		}
		if old.Str == "" { // the first value of a reference is what it refers to
			v = expand.Variable{Set: true, Kind: expand.NameRef, Str: v.String()}
			break
		}
		if strings.HasSuffix(old.Str, "]") {
			m.store(m.placeNamed(old.Str), v.String())
			return
		}
		name = old.Str
		old, had = m.vars[name]
	}
	if old.ReadOnly {
		return // it keeps its value
	}
	if v.Kind == expand.KeepValue {
		exported, local := v.Exported || old.Exported, v.Local || old.Local
		if !had {
			old = m.get(name)
		}
		v = old
		v.Exported, v.Local = exported, local
	} else {
		v.Exported = v.Exported || old.Exported || m.options.export || partial.Inherited(name)
		v.Local = v.Local || old.Local
	}
	v = m.withNature(name, v)
	m.run.grow(partial.Size(v))
	if len(v.Str) > maxText {
		m.run.stop("its values grow without end")
	}
	m.vars[name] = v
	m.runAnnounced(name, v)
}

// nature is what a variable makes of its values.
type nature struct{ integer, lower, upper bool }

// withNature is what a variable makes of a value.
func (m *Machine) withNature(name string, v expand.Variable) expand.Variable {
	if m.shaky[name] {
		return expand.Variable{Set: true, Kind: expand.String, Str: mark.Any, Exported: v.Exported, Local: v.Local}
	}
	n := m.nature[name]
	if n == (nature{}) {
		return v
	}
	v.Str = m.foldByNature(n, v.Str)
	if len(v.List) > 0 {
		list := make([]string, len(v.List))
		for i, s := range v.List {
			list[i] = m.foldByNature(n, s)
		}
		v.List = list
	}
	return v
}

func (m *Machine) foldByNature(n nature, s string) string {
	switch {
	case n.integer:
		if x, known := m.numberOf(s); known {
			return itoa(x)
		}
		return mark.Any // it may be an error, which keeps the value
	case n.lower:
		return strings.ToLower(s)
	case n.upper:
		return strings.ToUpper(s)
	}
	return s
}

func (m *Machine) setPlain(name, value string) { m.set(name, text(value)) }

// runAnnounced runs what the shell would run because of a variable's value.
func (m *Machine) runAnnounced(name string, v expand.Variable) {
	switch name {
	case "PROMPT_COMMAND":
		m.runLater(v.String())
	case "DIRSTACK":
		m.world.Doubt(m, "a directory stack that is set directly")
	case "BASH_CMDS", "BASH_ALIASES": // what names mean
		list, _ := partial.Elements(v)
		for _, s := range list {
			m.runLater(s)
		}
	case "PS0", "PS1", "PS2", "PS4":
		if strings.ContainsAny(v.String(), "$`") {
			m.runLater(": " + `"` + v.String() + `"`)
			m.trap([]string{": " + `"` + v.String() + `"`, name}) // and as the shell is then
		}
	}
}

// runLater runs code that the shell may run at another time: what it does counts,
// what it does to the shell's state is lost.
func (m *Machine) runLater(code string) {
	n := m.fork()
	m.deeper(n)
	if f := n.parse(code); f != nil {
		n.captureOutput(func() { n.runStmts(f, f.Stmts); n.runExitTraps() })
	}
}

// scope begins the variables of a function; what it returns ends them.
func (m *Machine) scope() func() {
	m.locals = append(m.locals, map[string]expand.Variable{})
	return func() {
		hidden := m.locals[len(m.locals)-1]
		m.locals = m.locals[:len(m.locals)-1]
		for name, v := range hidden {
			if v.Declared() {
				m.vars[name] = v
			} else if len(m.traps) > 0 && strings.ToLower(name) == name {
				m.vars[name] = expand.Variable{} // for a trap that runs when the function is gone
			} else {
				delete(m.vars, name)
			}
		}
	}
}

// local makes a variable the current function's own, and says whether it was
// not before.
func (m *Machine) local(name string) bool {
	if len(m.locals) == 0 {
		return false
	}
	hidden := m.locals[len(m.locals)-1]
	_, own := hidden[name]
	if !own {
		hidden[name] = m.vars[name]
	}
	return !own
}

// unsetVariable unsets a variable: one that a calling function hides shows what it
// hides.
func (m *Machine) unsetVariable(name string) {
	for i := len(m.locals) - 1; i >= 0; i-- {
		v, ok := m.locals[i][name]
		if !ok {
			continue
		}
		if i == len(m.locals)-1 {
			break
		}
		delete(m.locals[i], name)
		if v.Declared() {
			m.vars[name] = v
		} else {
			delete(m.vars, name)
		}
		return
	}
	m.vars[name] = expand.Variable{}
	if name == "HOME" { // ~ is the home even then
		m.vars[name] = text(mark.Outside)
	}
}
