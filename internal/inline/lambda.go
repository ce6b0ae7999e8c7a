package inline

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/inline/lex"
	"cordon/internal/mark"
)

// lambda reads lambda a, b: expression of Python.
func (m *machine) lambda() value {
	m.i++
	f := &function{toks: m.toks}
	for m.tok().Kind == lex.Word || m.op(",") || m.op("*") || m.op("**") {
		if m.tok().Kind == lex.Word {
			f.params = append(f.params, m.tok().Text)
		}
		m.i++
		if m.skip("=") {
			m.expr(levelChoice)
		}
	}
	m.skip(":")
	m.tail(f)
	return value{shape: fn, fn: f}
}

// tail makes the expression that follows the body of a function.
func (m *machine) tail(f *function) {
	f.from = m.i
	i := m.i
	for ; i < len(m.toks); i++ {
		t := m.toks[i]
		if t.Kind == lex.Op && t.N > i {
			i = t.N
		} else if t.Kind == lex.Line || t.Kind == lex.End || t.Kind == lex.Op && oneOf(t.Text, ", ) ] } ;") {
			break
		}
	}
	f.to = i
	m.spend(i - m.i)
	m.i = i
}

// arrow reads (a, b) => body and a => body.
func (m *machine) arrow() value {
	f := &function{toks: m.toks}
	if t := m.tok(); t.Kind == lex.Word {
		f.params = []string{t.Text}
		m.i++
	} else {
		m.i++
		f.params, f.defaults = m.parameters(t.N)
		m.i = t.N + 1
	}
	m.skip("=>")
	if m.op("{") {
		f.from, f.to = m.i+1, m.tok().N
		m.i = f.to + 1
	} else {
		m.tail(f)
	}
	return m.closure(f)
}

// closure is a function as a value, which runs at the end if it is never called.
func (m *machine) closure(f *function) value {
	if len(m.funcs) >= maxItems {
		m.stop("the code has too many functions to be followed")
	}
	m.funcs = append(m.funcs, f)
	return value{shape: fn, fn: f}
}

// anonymous reads function (a) {…}, sub {…} and ->(a) {…}.
func (m *machine) anonymous() value {
	f := &function{toks: m.toks}
	m.i++
	if m.tok().Kind == lex.Word && m.at(m.i+1).Text == "(" {
		f.name = m.tok().Text
		m.i++
	}
	m.signature(f)
	if m.word("do") {
		f.from, f.to = m.i+1, m.matchEnd(m.i+1)
		m.i = f.to + 1
	} else {
		m.body(f, 0)
	}
	return m.closure(f)
}

// awkPrint reads print and printf of awk with where they go.
func (m *machine) awkPrint() bool {
	m.i++
	m.noCmp++
	for m.tok().Kind != lex.Line && m.tok().Kind != lex.End && !m.op(";") && !m.op("}") && !m.op(">") && !m.op(">>") && !m.op("|") && !m.op("|&") && m.step() {
		at := m.i
		m.expr(levelChoice)
		m.skip(",")
		if m.i <= at {
			m.i++
		}
	}
	m.noCmp--
	t := m.tok()
	switch {
	case m.skip(">") || m.skip(">>"):
		m.access(commands.Write, asText(m.expr(levelAdd)), "print "+t.Text)
	case m.skip("|") || m.skip("|&"):
		m.shell(asText(m.expr(levelAdd)), "print |")
	}
	return true
}

// getline reads getline var < file of awk.
func (m *machine) getline() value {
	m.i++
	if t := m.tok(); t.Kind == lex.Word {
		m.set(t.Text, literal(mark.Any))
		m.i++
	}
	if m.skip("<") {
		m.access(commands.Read, asText(m.expr(levelMultiply)), "getline <")
	}
	return value{}
}

// glob is what a pattern matches. One that stays below matches files of the tree.
func (m *machine) glob(v value, why string) value {
	if v.shape != text {
		return value{}
	}
	m.access(commands.Read, v.each(func(s string) string { return spelled(s) }), why)
	return v.each(matched)
}

// spelled replaces the parts of a pattern that match by a word.
func spelled(s string) string {
	parts := strings.Split(s, "/")
	for i, p := range parts {
		if strings.ContainsAny(p, "*?[{") && !mark.In(p) {
			parts[i] = mark.Atom
		}
	}
	return strings.Join(parts, "/")
}

func matched(s string) string {
	if below(s) {
		return mark.Inside
	}
	return spelled(s)
}

// below reports whether a path can only lead downward, symbolic links aside.
func below(s string) bool {
	return !strings.HasPrefix(s, "/") && !strings.HasPrefix(s, "~") && !strings.Contains(s, "..") && !mark.Has(s, mark.Any+mark.Outside+mark.Scratch+mark.System)
}

// listed is what a listing of a directory gives: names.
func listed(s string) string {
	if below(s) {
		return mark.Inside
	}
	return mark.Atom
}
