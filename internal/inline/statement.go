package inline

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/inline/lex"
)

// statements evaluates up to a token and returns what the last one gave, which
// is what a function returns in some languages.
func (m *machine) statements(end int) value {
	var last value
	for m.i < end && m.tok().Kind != lex.End && m.step() {
		at := m.i
		if v, ok := m.statement(end); ok {
			last = v
		}
		if m.i <= at {
			m.i = at + 1
		}
	}
	return last
}

func (m *machine) statement(end int) (value, bool) {
	t := m.tok()
	switch t.Kind {
	case lex.Line:
		m.i++
		if m.lang == commands.Python {
			m.nest = min(t.N, 1)
		}
		return value{}, false
	case lex.Op:
		if m.skipPunctuation(t) {
			return value{}, false
		}
	case lex.Word:
		if m.readKeyword(t, end) {
			return value{}, false
		}
	}
	m.bindModifier()
	v := m.expr(0)
	for m.op(",") { // a list without brackets
		m.i++
		m.expr(0)
	}
	return v, true
}

// bindModifier binds $_ before a statement of Perl that a loop follows: unlink for @x.
func (m *machine) bindModifier() {
	if m.lang != commands.Perl {
		return
	}
	looked := 0
	defer func() { m.spend(looked) }()
	for i := m.i; i < len(m.toks); i++ {
		t := m.toks[i]
		looked++
		switch {
		case t.Kind == lex.Line || t.Kind == lex.End || t.Kind == lex.Op && (t.Text == ";" || t.Text == "}"):
			return
		case t.Kind == lex.Op && t.N > i:
			i = t.N
		case t.Kind == lex.Word && (t.Text == "for" || t.Text == "foreach"):
			start := m.i
			m.i = i + 1
			v := m.expr(levelChoice)
			if v.shape != text {
				v = v.elements()
			}
			m.vars["$_"] = v
			m.i = start
			return
		}
	}
}

// skipPunctuation handles what stands between statements.
func (m *machine) skipPunctuation(t lex.Token) bool {
	switch t.Text {
	case ";", ",", ")", "]", ":", "&", "!":
		m.i++
	case "}":
		m.i++
		m.nest = max(0, m.nest-1)
	case "{":
		if after := m.at(m.tok().N + 1); after.Kind == lex.Op && after.Text == "=" { // a pattern and no block
			return false
		}
		m.i++
		m.nest++
	case "@": // a decorator
		m.i++
	default:
		return false
	}
	return true
}

// readKeyword handles a word that begins a statement.
func (m *machine) readKeyword(t lex.Token, end int) bool {
	if beginsFunction(m.lang, t.Text) {
		return m.readDefinition()
	}
	switch t.Text {
	case "import", "from", "use":
		return m.readImports(t.Text)
	case "for", "foreach":
		m.readLoop()
	case "const", "let", "var", "my", "our", "local", "static", "async", "await", "return", "global", "yield",
		"export", "default":
		m.readDeclared(t.Text)
	case "raise", "throw", "die", "croak", "assert", "abort":
		m.i++
		m.quiet++
		m.expr(0)
		for m.skip(",") {
			m.expr(0)
		}
		m.quiet--
	case "class", "module", "interface", "package":
		m.i++
		if name := m.tok().Text; m.tok().Kind == lex.Word && len(m.classes) < maxItems {
			m.classes = append(m.classes, name)
		}
		for m.tok().Kind == lex.Word || m.op("::") {
			m.i++
		}
	case "print", "printf":
		return m.lang == commands.Awk && m.awkPrint()
	case "include", "load":
		if m.lang != commands.Awk || m.at(m.i-1).Text != "@" || m.at(m.i+1).Kind != lex.Text {
			return m.skipClause(t.Text)
		}
		m.i++
		m.reportAccess(commands.Read, m.expr(levelUnary), "@"+t.Text)
	case "do":
		m.i++
		if m.lang == commands.Perl && m.tok().Kind == lex.Text {
			m.reportAccess(commands.Read, m.expr(levelChoice), "do")
		}
	case "end":
		m.i++
		m.nest = max(0, m.nest-1)
	default:
		return m.skipClause(t.Text)
	}
	return true
}

// skipClause skips the words that only steer.
func (m *machine) skipClause(s string) bool {
	switch s {
	case "if", "unless", "while", "until", "case", "begin":
		m.i++
		if m.lang == commands.Ruby {
			m.nest++
		}
	case "elif", "elsif", "switch", "try", "else", "then", "when", "except", "catch", "finally", "ensure", "rescue", "with", "pass", "break", "continue", "next",
		"last", "redo", "BEGIN", "END", "and", "or", "not", "in", "of", "del", "new":
		m.i++
	default:
		return false
	}
	return true
}

// readDeclared handles a word before a declaration or a returned value.
func (m *machine) readDeclared(s string) {
	m.i++
	if s != "return" && s != "yield" {
		return
	}
	if m.tok().Kind == lex.Line || m.op(";") || m.op("}") {
		return
	}
	v := m.expr(0)
	if m.op(",") {
		items := []value{v}
		for m.skip(",") {
			items = append(items, m.expr(0))
		}
		v = listOf(items)
	}
	if n := len(m.ret); n > 0 {
		if m.ret[n-1].shape == unknown {
			m.ret[n-1] = v
		} else {
			m.ret[n-1] = either(m.ret[n-1], v)
		}
	}
}

// readLoop binds the variables of a loop to what it goes over.
func (m *machine) readLoop() {
	m.i++
	if m.lang == commands.Ruby {
		m.nest++
	}
	if m.word("await") {
		m.i++
	}
	start := m.i
	m.skip("(")
	names := m.loopTargets()
	if len(names) == 0 && m.lang == commands.Perl && m.at(start).Text == "(" {
		m.i = start
		names = []string{"$_"}
	}
	switch {
	case m.word("in") || m.word("of"):
		m.i++
		m.bindNames(names, m.expr(1).elements())
	case m.lang == commands.Perl && m.op("("):
		if m.cStyle() {
			m.i++
			return
		}
		m.bindNames(names, m.expr(2).elements())
	default:
		m.i = start
		m.skip("(")
		if m.word("let") || m.word("var") || m.word("my") || m.word("const") {
			m.i++
		}
	}
}

// cStyle reports whether a parenthesis holds three clauses.
func (m *machine) cStyle() bool {
	m.spend(m.tok().N - m.i)
	for i := m.i + 1; i < m.tok().N; i++ {
		if t := m.at(i); t.Kind == lex.Op && t.Text == ";" {
			return true
		}
	}
	return false
}

// loopTargets reads the names that are assigned together: a, (b, c).
func (m *machine) loopTargets() []string {
	var names []string
	for len(names) < 32 {
		t := m.tok()
		switch {
		case t.Kind == lex.Word && (t.Text == "in" || t.Text == "of" || t.Text == "as"):
			return names
		case t.Kind == lex.Word:
			if !oneOf(t.Text, "const let var my our local") {
				names = append(names, t.Text)
			}
		case t.Kind == lex.Op && (oneOf(t.Text, ", ) [ ] * & | { }") || t.Text == "(" && m.lang != commands.Perl):
		default:
			return names
		}
		m.i++
	}
	return names
}

// readImports reads the imports of Python, JavaScript and Perl.
func (m *machine) readImports(s string) bool {
	switch m.lang {
	case commands.Python:
		if s != "import" && s != "from" {
			return false
		}
		m.pythonImport(s == "from")
	case commands.JavaScript:
		if s != "import" || m.at(m.i+1).Text == "(" || m.at(m.i+1).Text == "." {
			return false
		}
		m.javaScriptImport()
	case commands.Perl:
		m.i++
		for m.tok().Kind != lex.Line && m.tok().Kind != lex.End && !m.op(";") {
			if t := m.tok(); t.Kind == lex.Text && t.Text != "" && m.at(m.i-1).Text == "lib" {
				m.reportAccess(commands.Read, literal(t.Text), "use lib")
			}
			m.i++
		}
	default:
		return false
	}
	return true
}

func (m *machine) dottedName() string {
	var b strings.Builder
	for m.tok().Kind == lex.Word || m.op(".") || m.op("..") || m.op("...") {
		if m.tok().Kind == lex.Word && (m.word("import") || m.word("as")) {
			break
		}
		b.WriteString(m.tok().Text)
		m.i++
	}
	return b.String()
}

func (m *machine) pythonImport(from bool) {
	m.i++
	module := ""
	if from {
		module = m.dottedName() + "."
		if !m.word("import") {
			return
		}
		m.i++
		m.skip("(")
	}
	for m.tok().Kind == lex.Word || m.op("*") {
		if m.skip("*") {
			m.stars = append(m.stars, strings.TrimSuffix(normalName(module), "."))
			break
		}
		name := m.dottedName()
		as := name
		if m.word("as") {
			m.i++
			as = m.tok().Text
			m.i++
		} else if !from {
			// import os.path binds os.
			as, _, _ = strings.Cut(name, ".")
			name = as
		}
		m.checkModule(module + name)
		m.vars[as] = nameOf(normalName(module + name))
		if !m.skip(",") {
			break
		}
	}
	m.skip(")")
}

func (m *machine) javaScriptImport() {
	m.i++
	var names, origs []string
	for m.tok().Kind != lex.Text && m.tok().Kind != lex.End && m.tok().Kind != lex.Line {
		if t := m.tok(); t.Kind == lex.Word && t.Text != "from" && t.Text != "type" {
			if m.at(m.i-1).Text == "as" && len(names) > 0 && m.at(m.i-2).Text != "*" {
				names[len(names)-1] = t.Text
			} else if t.Text != "as" {
				names, origs = append(names, t.Text), append(origs, t.Text)
				if m.at(m.i-1).Text != "," && m.at(m.i-1).Text != "{" {
					origs[len(origs)-1] = ""
				}
			}
		}
		m.i++
	}
	module := m.loadModule(literal(m.tok().Text))
	m.i++
	for i, n := range names {
		v := module
		if origs[i] != "" {
			v = m.memberNamed(module, origs[i])
		}
		m.vars[n] = v
	}
}

// checkModule calls code opaque that reaches below its language.
func (m *machine) checkModule(module string) {
	if inSet("unfollowed-modules", module) {
		m.rep.opaque("the code uses " + module + ", which acts at a level that cordon cannot follow")
	}
}
