package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

// maxSums bounds how deep arithmetic nests: a variable's text is arithmetic
// again.
const maxSums = 96

// arithmPart is $((…)): a number, known or not.
func (m *Machine) arithmPart(a *syntax.ArithmExp) syntax.WordPart {
	n, known := m.arithm(a.X)
	if !known {
		return &syntax.Lit{Value: mark.Atom}
	}
	return &syntax.Lit{Value: itoa(n)}
}

// arithm evaluates an arithmetic expression once: its substitutions run, and its
// assignments are made. What is assigned and not known is some number.
func (m *Machine) arithm(x syntax.ArithmExpr) (int, bool) {
	if m.sums++; m.sums > maxSums {
		m.run.stop("its arithmetic nests too deeply")
	}
	defer func() { m.sums-- }()
	switch x := x.(type) {
	case nil:
		return 0, true
	case *syntax.Word:
		return m.operandNumber(x)
	case *syntax.ParenArithm:
		return m.arithm(x.X)
	case *syntax.UnaryArithm:
		return m.unaryArithm(x)
	case *syntax.BinaryArithm:
		return m.binaryArithm(x)
	}
	m.runSubstitutions(x)
	return 0, false
}

// operandNumber is a word of arithmetic: a number, a variable, or text that is
// arithmetic itself. What an expansion gives is put into the text before bash
// reads it, so that it may bind differently when it is more than one operand.
func (m *Machine) operandNumber(w *syntax.Word) (int, bool) {
	if name := w.Lit(); syntax.ValidName(name) {
		return m.variableNumber(name)
	}
	if p := m.place(w); p.name != "" && p.subscripted {
		s, _ := partial.Element(m.resolved(p.name), p.key)
		return m.numberOf(s)
	}
	s := m.literal(w)
	n, known := m.numberOf(s)
	if m.sums > 1 && !partial.IsOperand(s) {
		return 0, false
	}
	return n, known
}

// variableNumber is a variable's value as a number. One that nobody set is nothing,
// which is zero.
func (m *Machine) variableNumber(name string) (int, bool) {
	if _, set := m.vars[name]; set {
		return m.numberOf(m.resolved(name).String())
	}
	if v, ok := m.special(name); ok {
		return m.numberOf(v.String())
	}
	return 0, partial.Given(name) != mark.Atom
}

// numberOf is a text as a number. Bash takes it for an expression, whose
// substitutions run: a[$(…)].
func (m *Machine) numberOf(s string) (int, bool) {
	s = strings.TrimSpace(s)
	if n, ok := partial.Number(s); ok {
		return n, true
	}
	if syntax.ValidName(s) {
		if m.sums++; m.sums > maxSums {
			m.run.stop("its arithmetic nests too deeply")
		}
		defer func() { m.sums-- }()
		return m.variableNumber(s)
	}
	m.run.step()
	if mark.In(s) || partial.Deepest(s) > maxOpen || len(s) > 1<<12 {
		m.runArithmText(s)
		return 0, false
	}
	m.run.grow(perParsed * len(s))
	x, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Arithmetic(strings.NewReader(s))
	if err != nil {
		m.runArithmText(s)
		return 0, false
	}
	return m.arithm(x)
}

// runArithmText runs what bash runs when it takes a text for arithmetic that cannot
// be read here.
func (m *Machine) runArithmText(s string) {
	if strings.Contains(s, "$(") || strings.Contains(s, "`") {
		m.runLater(": \"" + strings.ReplaceAll(s, `"`, `\"`) + "\"")
	}
}

func (m *Machine) unaryArithm(x *syntax.UnaryArithm) (int, bool) {
	if x.Op == syntax.Inc || x.Op == syntax.Dec {
		return m.stepPlace(x)
	}
	n, known := m.arithm(x.X)
	switch x.Op {
	case syntax.Not:
		return partial.OneIf(n == 0), known
	case syntax.BitNegation:
		return ^n, known
	case syntax.Plus:
		return n, known
	case syntax.Minus:
		return -n, known
	}
	return 0, false
}

// stepPlace is ++ and --.
func (m *Machine) stepPlace(x *syntax.UnaryArithm) (int, bool) {
	p := m.place(x.X)
	if p.name == "" {
		return m.arithm(x.X) // ++3 is +(+3)
	}
	old, known := m.readPlace(p)
	n := old + 1
	if x.Op == syntax.Dec {
		n = old - 1
	}
	m.writePlace(p, n, known)
	if x.Post {
		return old, known
	}
	return n, known
}

func (m *Machine) binaryArithm(x *syntax.BinaryArithm) (int, bool) {
	switch x.Op {
	case syntax.TernQuest, syntax.AndArit, syntax.OrArit:
		return m.arithmCondition(x)
	}
	if op, ok := assigning[x.Op]; ok {
		return m.assignArithm(x, op)
	}
	a, ok1 := m.arithm(x.X)
	b, ok2 := m.arithm(x.Y)
	if x.Op == syntax.Comma {
		return b, ok2
	}
	n, ok := partial.Compute(x.Op, a, b)
	return n, ok && ok1 && ok2
}

func (m *Machine) assignArithm(x *syntax.BinaryArithm, op syntax.BinAritOperator) (int, bool) {
	p := m.place(x.X)
	old, known := 0, true
	if x.Op != syntax.Assgn {
		old, known = m.readPlace(p)
	}
	n, ok := m.arithm(x.Y)
	if x.Op != syntax.Assgn {
		var fine bool
		n, fine = partial.Compute(op, old, n)
		ok = ok && known && fine
	}
	m.writePlace(p, n, ok)
	return n, ok
}

// arithmCondition is a ? b : c, a && b and a || b. Its value is not worked out.
func (m *Machine) arithmCondition(x *syntax.BinaryArithm) (int, bool) {
	m.arithm(x.X)
	m.arithmPerhaps(x.Y)
	return 0, false
}

// arithmPerhaps evaluates one side of a condition: its substitutions run, and what it
// assigns is not known any more.
func (m *Machine) arithmPerhaps(x syntax.ArithmExpr) {
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				m.writePlace(m.place(n.X), 0, false)
			}
		case *syntax.BinaryArithm:
			if _, ok := assigning[n.Op]; ok {
				m.writePlace(m.place(n.X), 0, false)
			}
		case *syntax.CmdSubst, *syntax.ProcSubst:
			return false
		}
		return true
	})
	m.runSubstitutions(x)
}

// readPlace and put read and write a place of arithmetic.
func (m *Machine) readPlace(p place) (int, bool) {
	if p.name == "" {
		return 0, false
	}
	if !p.subscripted {
		return m.variableNumber(p.name)
	}
	s, _ := partial.Element(m.resolved(p.name), p.key)
	return m.numberOf(s)
}

func (m *Machine) writePlace(p place, n int, known bool) {
	if p.name == "" {
		return
	}
	value := mark.Atom
	if known {
		value = itoa(n)
	}
	m.store(p, value)
}

// assigning are the operators that assign, with what they compute before.
var assigning = map[syntax.BinAritOperator]syntax.BinAritOperator{
	syntax.Assgn: syntax.Assgn, syntax.AddAssgn: syntax.Add, syntax.SubAssgn: syntax.Sub, syntax.MulAssgn: syntax.Mul,
	syntax.QuoAssgn: syntax.Quo, syntax.RemAssgn: syntax.Rem, syntax.AndAssgn: syntax.And, syntax.OrAssgn: syntax.Or,
	syntax.XorAssgn: syntax.Xor, syntax.ShlAssgn: syntax.Shl, syntax.ShrAssgn: syntax.Shr,
}
