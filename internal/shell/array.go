package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

// place is what can be assigned to.
type place struct {
	name        string // "" is none
	key         partial.Key
	subscripted bool
}

// place is the target of an arithmetic assignment. Its subscript is evaluated.
func (m *Machine) place(x syntax.ArithmExpr) place {
	w, ok := x.(*syntax.Word)
	if !ok || len(w.Parts) == 0 {
		return place{}
	}
	if name := w.Lit(); name != "" {
		return placeOf(name)
	}
	p, ok := w.Parts[0].(*syntax.ParamExp)
	if !ok || len(w.Parts) > 1 || p.Param == nil || p.Dollar.IsValid() {
		return place{}
	}
	at := placeOf(p.Param.Value)
	if p.Index != nil && at.name != "" {
		at.key, at.subscripted = m.key(m.resolved(at.name), p.Index), true
	}
	return at
}

func placeOf(name string) place {
	if !syntax.ValidName(name) {
		return place{}
	}
	return place{name: name}
}

// placeNamed is the place that a text names: x, or a[1], whose subscript is
// evaluated.
func (m *Machine) placeNamed(ref string) place {
	name, index, ok := strings.Cut(ref, "[")
	if !ok || !strings.HasSuffix(index, "]") {
		return place{name: name}
	}
	return place{name: name, key: m.textKey(m.resolved(name), strings.TrimSuffix(index, "]")), subscripted: true}
}

// textKey is a subscript that comes as a text.
func (m *Machine) textKey(v expand.Variable, s string) partial.Key {
	switch {
	case s == "@" || s == "*":
		return partial.Key{All: true, Star: s == "*"}
	case v.Kind == expand.Associative:
		m.runArithmText(s)
		return partial.Key{Word: s, Known: !mark.In(s) && !strings.ContainsAny(s, "$`")}
	}
	n, known := m.numberOf(s)
	return partial.Key{N: n, Known: known}
}

// key evaluates a subscript.
func (m *Machine) key(v expand.Variable, x syntax.ArithmExpr) partial.Key {
	if w, ok := x.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
		return partial.Key{All: true, Star: w.Lit() == "*"}
	}
	if v.Kind == expand.Associative {
		s := m.keyWord(x)
		return partial.Key{Word: s, Known: !mark.In(s)}
	}
	n, known := m.arithm(x)
	return partial.Key{N: n, Known: known}
}

// keyWord is the word that a subscript of an associative array is. The parser
// takes it for arithmetic.
func (m *Machine) keyWord(x syntax.ArithmExpr) string {
	if w, ok := x.(*syntax.Word); ok {
		return m.literal(w)
	}
	plain := true
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			plain = false
		}
		return plain
	})
	var b strings.Builder
	if !plain || syntax.NewPrinter().Print(&b, &syntax.ArithmExp{X: x}) != nil {
		m.runSubstitutions(x)
		return mark.Any
	}
	s := strings.TrimSuffix(strings.TrimPrefix(b.String(), "$(("), "))")
	return strings.ReplaceAll(s, " ", "")
}

// resolved is a variable behind its references, as a word of the script sees it.
func (m *Machine) resolved(name string) expand.Variable {
	v := m.get(name)
	if v.Kind != expand.NameRef {
		return v
	}
	if _, r := v.Resolve(environ{m: m}); r.Kind != expand.NameRef {
		return r
	}
	return expand.Variable{}
}

// store gives a place a value. That of an array's name is its first element.
func (m *Machine) store(p place, value string) {
	if p.name == "" {
		return
	}
	v := m.resolved(p.name)
	if !m.setByScript(p.name) {
		v = expand.Variable{}
	}
	switch {
	case p.subscripted && p.key.All:
		m.setPlain(p.name, mark.Any)
	case p.subscripted:
		m.set(p.name, partial.With(v, p.key, value))
	case v.Kind == expand.Indexed || v.Kind == expand.Associative:
		m.set(p.name, partial.With(v, partial.Key{Known: true, Word: "0"}, value))
	default:
		m.setPlain(p.name, value)
	}
}

// setByScript reports whether the script itself set a variable.
func (m *Machine) setByScript(name string) bool {
	_, ok := m.vars[name]
	return ok
}

// literalArray is (a b [3]=c), added to what there is.
func (m *Machine) literalArray(x *syntax.ArrayExpr, v expand.Variable) expand.Variable {
	v = partial.Arrayed(v)
	var pairs []string
	next := partial.Highest(v) + 1
	for _, e := range x.Elems {
		if e.Index != nil {
			k := m.key(v, e.Index)
			v = partial.With(v, k, m.literal(e.Value))
			if next = partial.Highest(v) + 1; k.Known && k.N >= 0 {
				next = k.N + 1
			}
			continue
		}
		if e.Value == nil {
			continue
		}
		words := m.fields(e.Value)
		if unquoted(e.Value) {
			words = partial.Repeated(words)
		}
		if v.Kind == expand.Associative {
			pairs = append(pairs, words...)
			continue
		}
		m.run.grow(16 * len(words))
		v = partial.Inserted(v, next, words)
		next += len(words)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		v = partial.With(v, partial.Key{Word: pairs[i], Known: !mark.In(pairs[i])}, pairs[i+1])
	}
	return v
}

// unquoted reports whether a word is one expansion that may make several.
func unquoted(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	switch w.Parts[0].(type) {
	case *syntax.CmdSubst, *syntax.ParamExp:
		return true
	}
	return false
}
