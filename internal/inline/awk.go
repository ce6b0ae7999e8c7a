package inline

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/inline/lex"
	"cordon/internal/mark"
)

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
		m.reportAccess(commands.Write, asText(m.expr(levelAdd)), "print "+t.Text)
	case m.skip("|") || m.skip("|&"):
		m.runShell(asText(m.expr(levelAdd)), "print |")
	}
	return true
}

// awkGetline reads getline var < file of awk.
func (m *machine) awkGetline() value {
	m.i++
	if t := m.tok(); t.Kind == lex.Word {
		m.set(t.Text, literal(mark.Any))
		m.i++
	}
	if m.skip("<") {
		m.reportAccess(commands.Read, asText(m.expr(levelMultiply)), "getline <")
	}
	return value{}
}

// countVariable is a variable that ++ or -- makes a number.
func (m *machine) countVariable(v value) value {
	n := number(mark.Atom)
	name := v.from
	if name == "" && v.shape == named && v.recv == nil {
		name = v.name
	}
	if name != "" && (m.vars[name].shape == unknown || m.vars[name].num) && len(m.vars) < 4096 {
		m.vars[name] = n
		n.from = name
	}
	return n
}

// findCounters makes the variables of awk that are counted numbers from the start:
// each record finds them as the one before left them.
func (m *machine) findCounters() {
	for _, s := range [...]string{"NR", "NF", "FNR", "RSTART", "RLENGTH", "ARGC"} {
		m.vars[s] = number(mark.Atom)
	}
	texts := map[string]bool{} // these get other values as well
	for i, t := range m.toks {
		if t.Kind == lex.Word && (m.at(i+1).Text == "=" && m.at(i+2).Kind != lex.Number || m.at(i-1).Text == "getline") {
			texts[t.Text] = true
		}
	}
	for i, t := range m.toks {
		next, before := m.at(i+1).Text, m.at(i-1).Text
		counts := next == "++" || next == "--" || next == "+=" || before == "++" || before == "--"
		if t.Kind == lex.Word && counts && !texts[t.Text] && len(m.vars) < 4096 {
			m.vars[t.Text] = number(mark.Atom)
		}
	}
}

// numeric is the result of arithmetic.
func (m *machine) numeric(v, w value) value {
	if m.lang == commands.Awk || v.num && w.num {
		return number(mark.Atom)
	}
	return value{}
}

// isPush reports whether push @list, … of Perl is here.
func (m *machine) isPush(v value) bool {
	if m.lang != commands.Perl || v.shape != named || v.from != "" || v.name != "push" && v.name != "unshift" {
		return false
	}
	i := m.i
	for m.at(i).Kind == lex.Op && m.at(i).Text == "(" || m.at(i).Kind == lex.Word && m.at(i).Text == "my" {
		i++
	}
	return m.at(i).Kind == lex.Word && strings.HasPrefix(m.at(i).Text, "@") && m.at(i+1).Text == ","
}

// perlPush adds to a list of Perl.
func (m *machine) perlPush() value {
	end := -1
	if m.op("(") {
		end = m.tok().N
		m.i++
	}
	if m.word("my") {
		m.i++
	}
	name := m.tok().Text
	m.i += 2
	args := m.bareArgs()
	m.i = max(m.i, end+1)
	if _, ok := m.vars[name]; !ok && len(m.vars) < 4096 {
		m.vars[name] = listOf(nil)
	}
	for _, a := range args {
		m.addToList(value{from: name}, a.v)
	}
	return value{}
}
