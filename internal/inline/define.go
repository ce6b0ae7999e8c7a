package inline

import (
	"cordon/internal/commands"
	"cordon/internal/inline/lex"
)

// readDefinition reads the definition of a named function; its body runs when it is
// called, or at the end if it never is.
func (m *machine) readDefinition() bool {
	start := m.i
	indent := m.lineIndent()
	m.i++
	m.skip("*") // a generator of JavaScript
	name := ""
	for m.tok().Kind == lex.Word || m.op(".") {
		if m.tok().Kind == lex.Word {
			name = m.tok().Text
		}
		m.i++
		if m.tok().Kind == lex.Word && (m.tok().Spaced || m.lang == commands.Ruby) {
			break
		}
	}
	if name == "" {
		m.i = start
		return false // an expression
	}
	f := &function{name: name, toks: m.toks}
	m.readSignature(f)
	m.findBody(f, indent)
	m.spend(f.to - f.from)
	m.closure(f)
	return true
}

// beginsFunction reports whether a word begins a function. Elsewhere it is a name.
func beginsFunction(lang commands.Lang, s string) bool {
	switch s {
	case "def":
		return lang == commands.Python || lang == commands.Ruby
	case "function":
		return lang == commands.JavaScript || lang == commands.Awk
	case "sub":
		return lang == commands.Perl
	}
	return false
}

// lineIndent is the indent of the line that the current token is on.
func (m *machine) lineIndent() int {
	for i := m.i; i >= 0 && i > m.i-16; i-- {
		if t := m.at(i); t.Kind == lex.Line {
			return t.N
		}
	}
	return 0
}

// readSignature reads parameters and their defaults.
func (m *machine) readSignature(f *function) {
	if m.lang == commands.Ruby && m.tok().Kind == lex.Word {
		f.params = m.loopTargets()
		return
	}
	if !m.op("(") {
		return
	}
	end := m.tok().N
	m.i++
	f.params, f.defaults = m.parameters(end)
	m.i = end + 1
}

// parameters reads names, with the stars of those that take the rest, up to a
// closing bracket: the word before a comma, an equals sign, a colon or the end,
// whatever type stands beside it.
func (m *machine) parameters(end int) ([]string, map[string]value) {
	var names []string
	var defaults map[string]value
	for m.i < end && m.step() {
		name, star := m.parameter(end)
		if m.op(":") && m.lang != commands.Ruby { // a type
			for m.i < end && !m.op(",") && !m.op("=") {
				if t := m.tok(); t.Kind == lex.Op && t.N > m.i {
					m.i = t.N
				}
				m.i++
			}
		}
		if name != "" {
			names = append(names, star+name)
		}
		if m.skip("=") || m.lang == commands.Ruby && m.skip(":") && !m.op(",") {
			if defaults == nil {
				defaults = map[string]value{}
			}
			defaults[name] = m.expr(1)
		}
		if !m.skip(",") {
			m.i++
		}
	}
	return names, defaults
}

// parameter reads one name and its star.
func (m *machine) parameter(end int) (name, star string) {
	for ; m.i < end; m.i++ {
		switch t := m.tok(); {
		case t.Kind == lex.Word:
			name = t.Text
		case m.op("*") || m.op("**"):
			star = t.Text
		case m.op("..."):
			star = "*"
		case m.op("&") || m.op("{") || m.op("?") || m.op("|"):
		default:
			return name, star
		}
	}
	return name, star
}

// findBody finds where a function ends and moves behind it.
func (m *machine) findBody(f *function, indent int) {
	for m.op("->") || m.op(":") && m.lang != commands.Python { // a type of what it returns
		m.i++
		for m.tok().Kind == lex.Word || m.op("<") || m.op(">") || m.op("[") || m.op("]") || m.op("|") || m.op("?") || m.op(".") {
			m.i++
		}
	}
	switch {
	case m.lang == commands.Python:
		for m.i < len(m.toks) && !m.op(":") && m.tok().Kind != lex.Line {
			m.i++
		}
		m.skip(":")
		f.from = m.i
		m.i = m.endOfIndent(indent)
		f.to = m.i
	case m.op("{"):
		f.from, f.to = m.i+1, m.tok().N
		m.i = f.to + 1
	case m.lang == commands.Ruby:
		f.from = m.i
		f.to = m.matchEnd(m.i)
		m.i = f.to + 1
	default:
		f.from = m.i
		for m.tok().Kind != lex.Line && m.tok().Kind != lex.End && !m.op(";") {
			m.i++
		}
		f.to = m.i
	}
}

// endOfIndent is the token that ends an indented block.
func (m *machine) endOfIndent(indent int) int {
	if m.tok().Kind != lex.Line {
		i := m.i
		for i < len(m.toks) && m.toks[i].Kind != lex.Line && m.toks[i].Kind != lex.End {
			i++
		}
		return i
	}
	for i := m.i; i < len(m.toks); i++ {
		t := m.toks[i]
		if t.Kind == lex.End || t.Kind == lex.Line && t.N <= indent && m.at(i+1).Kind != lex.Line {
			return i
		}
	}
	return len(m.toks) - 1
}

// matchEnd is the word that ends a block which a word began.
func (m *machine) matchEnd(i int) int {
	deep, loop := 1, false
	start := i
	defer func() { m.spend(i - start) }()
	for ; i < len(m.toks); i++ {
		t := m.toks[i]
		if t.Kind == lex.Line {
			loop = false
		}
		if t.Kind != lex.Word || m.at(i-1).Text == "." && m.at(i-1).Kind == lex.Op {
			continue
		}
		switch t.Text {
		case "def", "class", "module", "begin", "case":
			deep++
		case "if", "unless":
			if m.at(i-1).Kind == lex.Line {
				deep++
			}
		case "while", "until", "for":
			if m.at(i-1).Kind == lex.Line {
				deep++
				loop = true
			}
		case "do":
			if !loop {
				deep++
			}
			loop = false
		case "end":
			if deep--; deep == 0 {
				return i
			}
		}
	}
	return len(m.toks) - 1
}

// readLambda reads lambda a, b: expression of Python.
func (m *machine) readLambda() value {
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
	m.expressionBody(f)
	return value{shape: fn, fn: f}
}

// expressionBody makes the expression that follows the body of a function.
func (m *machine) expressionBody(f *function) {
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

// readArrow reads (a, b) => body and a => body.
func (m *machine) readArrow() value {
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
		m.expressionBody(f)
	}
	return m.closure(f)
}

// closure is a function as a value, which runs at the end if it is never called.
func (m *machine) closure(f *function) value {
	if len(m.funcs) >= maxItems {
		m.giveUp("the code has too many functions to follow")
	}
	m.funcs = append(m.funcs, f)
	return value{shape: fn, fn: f}
}

// readAnonymous reads function (a) {…}, sub {…} and ->(a) {…}.
func (m *machine) readAnonymous() value {
	f := &function{toks: m.toks}
	m.i++
	if m.tok().Kind == lex.Word && m.at(m.i+1).Text == "(" {
		f.name = m.tok().Text
		m.i++
	}
	m.readSignature(f)
	if m.word("do") {
		f.from, f.to = m.i+1, m.matchEnd(m.i+1)
		m.i = f.to + 1
	} else {
		m.findBody(f, 0)
	}
	return m.closure(f)
}
