package shell

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
)

// arithmPart is $((…)): a number, known or not.
func (m *Machine) arithmPart(a *syntax.ArithmExp) syntax.WordPart {
	n, known := m.arithm(a.X)
	if !known {
		return &syntax.Lit{Value: mark.Atom}
	}
	return &syntax.Lit{Value: itoa(n)}
}

// arithm evaluates an arithmetic expression, whose substitutions run.
func (m *Machine) arithm(x syntax.ArithmExpr) (int, bool) {
	if x == nil {
		return 0, true
	}
	known := true
	syntax.Walk(x, func(n syntax.Node) bool {
		if w, ok := n.(*syntax.Word); ok {
			known = m.operand(w) && known
			return false
		}
		return true
	})
	if !known {
		m.run.step()
		return 0, false
	}
	n, err := expand.Arithm(m.config(nil), x)
	return n, err == nil
}

// operand looks at a word of arithmetic. A variable's text is evaluated again,
// and bash runs the substitutions in it: a[$(…)].
func (m *Machine) operand(w *syntax.Word) bool {
	s := m.literal(w)
	if name := w.Lit(); name != "" && syntax.ValidName(name) {
		if _, set := m.vars[name]; !set {
			return true // nothing, which is zero
		}
		s = m.whole(name)
	}
	m.evaluated(s)
	return !mark.In(s)
}

// evaluated runs what bash runs when it takes a text for arithmetic.
func (m *Machine) evaluated(s string) {
	if strings.Contains(s, "$(") || strings.Contains(s, "`") {
		m.later(": \"" + strings.ReplaceAll(s, `"`, `\"`) + "\"")
	}
}

// subscript looks at an index of an array.
func (m *Machine) subscript(x syntax.ArithmExpr) {
	if w, ok := x.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
		return
	}
	m.arithm(x)
}
