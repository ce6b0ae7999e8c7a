package inline

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// counted is a variable that ++ or -- makes a number.
func (m *machine) counted(v value) value {
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

// counters finds the variables of awk that only count: each record finds them as
// the one before left them, so that the order of a program says nothing.
func (m *machine) counters() {
	for _, s := range [...]string{"NR", "NF", "FNR", "RSTART", "RLENGTH", "ARGC"} {
		m.vars[s] = number(mark.Atom)
	}
	other := map[string]bool{}
	for i, t := range m.toks {
		if t.kind == kWord && len(other) < 4096 && m.assigned(i) {
			other[t.s] = true
		}
	}
	for i, t := range m.toks {
		if t.kind == kWord && !other[t.s] && m.counts(i) && len(m.vars) < 4096 {
			m.vars[t.s] = number(mark.Atom)
		}
	}
}

// counts reports whether the word at i is counted up or down.
func (m *machine) counts(i int) bool {
	for _, t := range [...]token{m.at(i - 1), m.at(i + 1)} {
		if t.kind == kOp && (t.s == "++" || t.s == "--") {
			return true
		}
	}
	t := m.at(i + 1)
	return t.kind == kOp && (t.s == "+=" || t.s == "-=")
}

// assigned reports whether the word at i gets a value that may be no number.
func (m *machine) assigned(i int) bool {
	before, after := m.at(i-1), m.at(i+1)
	switch {
	case after.kind == kOp && after.s == "=":
		end := m.at(i + 3)
		return m.at(i+2).kind != kNum || end.kind != kEnd && end.kind != kLine && !(end.kind == kOp && strings.Contains(";)}", end.s))
	case after.kind == kOp && after.s == "[":
		return true
	case after.kind == kWord && after.s == "in", before.kind == kWord && before.s == "getline":
		return true
	case before.kind == kOp && before.s == "," && after.kind == kOp && (after.s == ")" || after.s == ","):
		return true // it may be what sub, gsub or split work on
	}
	return false
}

// numeric is the result of arithmetic.
func (m *machine) numeric(v, w value) value {
	if m.lang == commands.Awk || v.num && w.num {
		return number(mark.Atom)
	}
	return value{}
}

// pushes reports whether push @list, … of Perl is here.
func (m *machine) pushes(v value) bool {
	if m.lang != commands.Perl || v.shape != named || v.from != "" || v.name != "push" && v.name != "unshift" {
		return false
	}
	i := m.i
	for m.at(i).kind == kOp && m.at(i).s == "(" || m.at(i).kind == kWord && m.at(i).s == "my" {
		i++
	}
	return m.at(i).kind == kWord && strings.HasPrefix(m.at(i).s, "@") && m.at(i+1).s == ","
}

// push adds to a list of Perl.
func (m *machine) push() value {
	end := -1
	if m.op("(") {
		end = m.tok().n
		m.i++
	}
	if m.word("my") {
		m.i++
	}
	name := m.tok().s
	m.i++
	var args []arg
	if end >= 0 {
		args = m.args(end)
		m.i = max(m.i, end+1)
	} else {
		m.i++
		args = m.bare()
	}
	if _, ok := m.vars[name]; !ok && len(m.vars) < 4096 {
		m.vars[name] = listOf(nil)
	}
	for _, a := range args {
		m.grow(value{from: name}, a.v)
	}
	return value{}
}
