package inline

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/inline/lex"
	"cordon/internal/mark"
)

// The levels of operators. A level is what an expression may hold at least.
const (
	levelAssign = iota
	levelChoice
	levelCompare
	levelAdd
	levelMultiply
	levelUnary
)

// expr evaluates an expression whose operators bind at least that tightly.
func (m *machine) expr(level int) value {
	if m.depth >= maxDepth {
		m.giveUp("the code is nested too deeply to follow")
	}
	if !m.step() {
		m.i++
		return value{}
	}
	m.depth++
	defer func() { m.depth-- }()
	if level == levelAssign {
		if v, ok := m.assignment(); ok {
			return v
		}
	}
	v := m.postfix(m.primary())
	for m.step() {
		t := m.tok()
		l := m.binaryLevel(t)
		if l < 0 || l < level {
			return v
		}
		at := m.i
		v = m.applyBinary(v, t, l)
		if m.i <= at {
			m.i = at + 1
		}
	}
	return v
}

// binaryLevel is the level of a token as an operator between operands, or -1.
func (m *machine) binaryLevel(t lex.Token) int {
	switch t.Kind {
	case lex.Op:
		return m.binaryOp(t.Text)
	case lex.Word:
		return m.binaryWord(t)
	case lex.Text, lex.Number, lex.Command:
		if m.lang == commands.Awk {
			return levelAdd
		}
	}
	return -1
}

func (m *machine) binaryOp(s string) int {
	switch s {
	case "?", "||", "??":
		return levelChoice
	case "//":
		if m.lang == commands.Perl {
			return levelChoice
		}
		return levelMultiply
	case ">", "|", ">>", "|&":
		if m.noCmp > 0 {
			return -1
		}
		return levelCompare
	case "==", "!=", "<", "<=", ">=", "===", "!==", "&&", "=~", "!~", "<=>", "<<", "~", "^", "&", "**=":
		return levelCompare
	case "+", "-", "..", "...":
		return levelAdd
	case ".":
		if m.lang == commands.Perl {
			return levelAdd
		}
	case "*", "/", "%", "**":
		return levelMultiply
	case "$", "(":
		if m.lang == commands.Awk {
			return levelAdd
		}
	}
	return -1
}

func (m *machine) binaryWord(t lex.Token) int {
	if (t.Text == "or" || t.Text == "and") && m.loose > 0 {
		return -1
	}
	switch t.Text {
	case "or", "if", "unless":
		if t.Text != "or" && m.lang != commands.Python {
			return -1
		}
		return levelChoice
	case "and", "in", "not", "is", "eq", "ne", "lt", "gt", "le", "ge", "cmp", "instanceof":
		if t.Text == "in" && m.lang == commands.Awk {
			return -1
		}
		return levelCompare
	case "as":
		if m.lang == commands.Python {
			return levelChoice
		}
	case "x":
		if m.lang == commands.Perl {
			return levelMultiply
		}
	default:
		if m.lang == commands.Awk && t.Text != "getline" && t.Spaced {
			return levelAdd
		}
		if m.lang == commands.Awk && t.Text == "getline" {
			return levelCompare
		}
	}
	return -1
}

// applyBinary evaluates the right operand and puts the two together.
func (m *machine) applyBinary(v value, t lex.Token, level int) value {
	if m.lang == commands.Awk && level == levelAdd && !(t.Kind == lex.Op && (t.Text == "+" || t.Text == "-")) {
		return concat(asText(v), asText(m.expr(levelMultiply)))
	}
	m.i++
	switch level {
	case levelChoice:
		return m.choose(v, t)
	case levelCompare:
		return m.compare(v, t)
	case levelAdd:
		return m.plus(v, t, m.expr(levelMultiply))
	}
	return m.times(v, t, m.expr(levelUnary))
}

// asText makes an unknown value an unknown text.
func asText(v value) value {
	if v.shape != text {
		w := literal(mark.Any)
		w.hints = v.hints
		return w
	}
	v.num = false
	return v
}

func (m *machine) choose(v value, t lex.Token) value {
	switch t.Text {
	case "?":
		a := m.expr(levelChoice)
		if m.skip(":") {
			return either(a, m.expr(levelChoice))
		}
		return either(v, a)
	case "if": // v if condition else w
		m.expr(levelCompare)
		if m.word("else") {
			m.i++
			return either(v, m.expr(levelChoice))
		}
		return v
	case "as":
		if m.tok().Kind == lex.Word {
			m.set(m.tok().Text, v)
			m.i++
		}
		return v
	}
	w := m.expr(levelCompare)
	if v.shape == unknown || v.shape == named {
		// An unknown value or a default: the default is worth knowing.
		return w
	}
	return either(v, w)
}

func (m *machine) compare(v value, t lex.Token) value {
	switch {
	case t.Text == "|" && m.word("getline") || t.Text == "|&" && m.word("getline"):
		m.i++
		m.runShell(v, "getline")
		if m.tok().Kind == lex.Word && m.lang == commands.Awk {
			m.set(m.tok().Text, literal(mark.Any))
			m.i++
		}
		return value{}
	case t.Text == "<<":
		w := m.expr(levelAdd)
		m.addToList(v, w)
		return v
	}
	if next := m.tok(); t.Text == "=~" && next.Kind == lex.Regex && len(next.Parts) == 1 && v.from != "" {
		m.vars[v.from] = substituted(v, next.Parts[0])
	}
	w := m.expr(levelAdd)
	if t.Text == "&&" || t.Text == "and" || t.Text == "|" {
		if v.shape == named && w.shape == named && len(v.name) < 128 {
			return nameOf(v.name + "|" + w.name)
		}
		return w
	}
	return value{}
}

// substituted is what s/// leaves of a value. A name of a file below stays one
// if nothing is put in that could lead elsewhere.
func substituted(v value, by lex.Part) value {
	for _, s := range v.texts() {
		if !staysBelow(s) || s == "." || by.Code || strings.ContainsAny(by.Text, "/~$") || strings.Contains(by.Text, "..") {
			return literal(mark.Any)
		}
	}
	return literal(mark.Inside)
}

func (m *machine) plus(v value, t lex.Token, w value) value {
	if m.lang == commands.Awk || t.Text == "-" {
		return m.numeric(v, w)
	}
	switch t.Text {
	case "+", ".", "&":
		if v.path && m.lang == commands.Ruby {
			return joined(v, w)
		}
		m.spendText(v)
		return concat(v, w)
	}
	return value{}
}

func (m *machine) times(v value, t lex.Token, w value) value {
	switch {
	case t.Text == "/" && (v.path || m.lang == commands.Python && w.shape == text && !w.num):
		return joined(v, w)
	case (t.Text == "*" && (m.lang == commands.Python || m.lang == commands.Ruby) || t.Text == "x") && v.shape == text && !v.num:
		return repeatText(v, w)
	case t.Text == "%" && v.shape == text && !v.num:
		return format(v, positional(items(w)))
	}
	return m.numeric(v, w)
}

// items are the values of a list, or the value alone.
func items(v value) []value {
	if v.shape == list {
		return v.items
	}
	return []value{v}
}

// textOf is the value of a string.
func (m *machine) textOf(t lex.Token) value {
	if t.Parts == nil {
		return literal(t.Text)
	}
	v := literal("")
	for _, p := range t.Parts {
		w := literal(p.Text)
		if p.Code {
			w = asText(m.evalEmbedded(p.Text))
		}
		v = concat(v, w)
	}
	return v
}

func (m *machine) primary() value {
	t := m.tok()
	switch t.Kind {
	case lex.Text:
		return m.adjacentStrings()
	case lex.Command:
		m.i++
		v := m.textOf(t)
		m.runShell(v, "backticks")
		return m.outputOf(nil, v)
	case lex.Regex:
		m.i++
		for _, p := range t.Parts {
			if p.Code {
				m.evalEmbedded(p.Text)
			}
		}
		return value{}
	case lex.Number:
		m.i++
		return number(t.Text)
	case lex.Word:
		return m.nameOperand()
	case lex.Op:
		return m.signOperand(t)
	}
	return value{}
}

// adjacentStrings reads strings side by side, which are one in most languages.
func (m *machine) adjacentStrings() value {
	v := m.textOf(m.tok())
	m.i++
	for m.tok().Kind == lex.Text && (m.lang == commands.Python || m.lang == commands.Ruby) && m.step() {
		v = concat(v, m.textOf(m.tok()))
		m.i++
	}
	return v
}

// signOperand evaluates an operand that begins with a bracket or an operator.
func (m *machine) signOperand(t lex.Token) value {
	switch t.Text {
	case "(":
		if m.at(t.N+1).Text == "=>" && m.lang == commands.JavaScript {
			return m.readArrow()
		}
		return m.group(t.N)
	case "[":
		return m.group(t.N)
	case "{":
		return m.braces(t.N)
	case "<":
		if m.lang == commands.Perl {
			return m.perlAngle()
		}
	case "$":
		m.i++
		if m.lang == commands.Awk {
			m.skipAwkField()
			return literal(mark.Any)
		}
		return m.expr(levelUnary)
	case "-":
		return m.minus()
	case "->":
		if m.lang == commands.Ruby {
			return m.readAnonymous()
		}
	case ")", "]", "}", ";", ",":
		return value{}
	case "+", "!", "~", "*", "**", "&", "...", "\\", "@", "%", "++", "--", "::":
		m.i++
		return m.expr(levelUnary)
	}
	m.i++
	return value{}
}

// minus is a negative number, or one of Perl's questions about a file.
func (m *machine) minus() value {
	m.i++
	if m.lang == commands.Perl && m.tok().Kind == lex.Word && len(m.tok().Text) == 1 && !m.tok().Spaced && m.at(m.i+1).Kind != lex.Op {
		m.i++
		m.reportAccess(commands.Read, m.expr(levelUnary), "-"+m.at(m.i-1).Text)
		return value{}
	}
	if v := m.expr(levelUnary); v.num {
		return v.each(func(s string) string { return "-" + s }).asNumber()
	}
	return value{}
}

func (v value) asNumber() value { v.num = true; return v }

// skipAwkField moves over the operand of awk's $.
func (m *machine) skipAwkField() {
	if m.op("(") {
		m.group(m.tok().N)
		return
	}
	m.i++
}

// perlAngle reads <FH>, <$fh> and <*.c> of Perl.
func (m *machine) perlAngle() value {
	var b strings.Builder
	for m.i++; !m.op(">") && m.tok().Kind != lex.Line && m.tok().Kind != lex.End; m.i++ {
		b.WriteString(m.tok().Text)
	}
	m.skip(">")
	if strings.ContainsAny(b.String(), "*?/") {
		return m.readGlob(literal(b.String()), "<>")
	}
	if b.String() == "STDIN" || b.String() == "" {
		return value{of: []string{mark.Any}}
	}
	return value{}
}
