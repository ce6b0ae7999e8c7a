package shell

import (
	"regexp"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

// matches says whether a word matches a pattern.
func matches(pat, word string) Status {
	if pat == "*" {
		return Succeeds
	}
	if mark.In(pat) || mark.In(word) || partial.Extended(pat) || matchesAll(word) && pat != word {
		return Unsure
	}
	expr, err := pattern.Regexp(pat, pattern.EntireString|pattern.ExtendedOperators)
	if err != nil {
		return Unsure
	}
	rx, err := regexp.Compile(expr)
	if err != nil {
		return Unsure
	}
	return statusOf(rx.MatchString(word))
}

// matchesAll reports whether how many characters a text has depends on the locale.
func matchesAll(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return true
		}
	}
	return false
}

// test evaluates [[ … ]].
func (m *Machine) test(x syntax.TestExpr) Status {
	switch x := x.(type) {
	case *syntax.Word:
		return known(m.literal(x), func(s string) bool { return s != "" })
	case *syntax.ParenTest:
		return m.test(x.X)
	case *syntax.UnaryTest:
		return m.unary(x)
	case *syntax.BinaryTest:
		return m.compare(x)
	}
	m.runSubstitutions(x)
	return Unsure
}

func known(s string, f func(string) bool) Status {
	if mark.In(s) {
		return Unsure
	}
	return statusOf(f(s))
}

func (m *Machine) unary(x *syntax.UnaryTest) Status {
	switch x.Op {
	case syntax.TsNot:
		return m.test(x.X).not()
	case syntax.TsEmpStr, syntax.TsNempStr:
		s := m.test(x.X) // whether it is not empty
		if x.Op == syntax.TsEmpStr {
			return s.not()
		}
		return s
	case syntax.TsOptSet, syntax.TsVarSet, syntax.TsRefVar, syntax.TsFdTerm:
		if w, ok := x.X.(*syntax.Word); ok {
			m.placeNamed(m.literal(w))
		}
		return Unsure
	}
	if w, ok := x.X.(*syntax.Word); ok {
		path := m.literal(w)
		m.world.Open(m, path, false)
		return m.present(x.Op.String(), path)
	}
	return Unsure
}

// fileTest answers [ -f FILE ] and [ ! -f FILE ] in the conditions of loops: how
// far one climbs depends on it. Elsewhere both answers are followed, since it may
// be another one when the script runs.
func (m *Machine) fileTest(args []string) (Status, bool) {
	if m.looks == 0 || len(args) < 3 || args[0] != "[" && args[0] != "test" {
		return Unsure, false
	}
	words := args[1:]
	if args[0] == "[" {
		words = words[:len(words)-1]
	}
	not := len(words) == 3 && words[0] == "!"
	if not {
		words = words[1:]
	}
	if len(words) != 2 {
		return Unsure, false
	}
	st := m.present(words[0], words[1])
	if not {
		st = st.not()
	}
	return st, true
}

// present answers a test of a file.
func (m *Machine) present(test, path string) Status {
	if m.looks == 0 || mark.In(path) {
		return Unsure
	}
	kind, known := m.world.Present(m, path, test == "-d")
	switch {
	case !known:
	case test == "-e":
		return statusOf(kind != Nothing)
	case test == "-f":
		return statusOf(kind == File)
	case test == "-d":
		return statusOf(kind == Directory)
	}
	return Unsure
}

func (m *Machine) compare(x *syntax.BinaryTest) Status {
	switch x.Op {
	case syntax.AndTest, syntax.OrTest:
		return m.both(x)
	}
	left, lok := x.X.(*syntax.Word)
	right, rok := x.Y.(*syntax.Word)
	if !lok || !rok {
		m.runSubstitutions(x)
		return Unsure
	}
	a := m.literal(left)
	switch x.Op {
	case syntax.TsMatchShort, syntax.TsMatch:
		return matches(m.pattern(right), a)
	case syntax.TsNoMatch:
		return matches(m.pattern(right), a).not()
	case syntax.TsReMatch:
		m.literal(right)
		m.setPlain("BASH_REMATCH", mark.Any)
		return Unsure
	case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
		m.world.Open(m, a, false)
		m.world.Open(m, m.literal(right), false)
		return Unsure
	}
	return m.numbers(x.Op, a, m.literal(right))
}

func (m *Machine) both(x *syntax.BinaryTest) Status {
	a, b := m.test(x.X), m.test(x.Y)
	decides := Fails
	if x.Op == syntax.OrTest {
		decides = Succeeds
	}
	switch {
	case a == decides || b == decides:
		return decides
	case a == Unsure || b == Unsure:
		return Unsure
	}
	return decides.not()
}

func (m *Machine) numbers(op syntax.BinTestOperator, a, b string) Status {
	switch op {
	case syntax.TsBefore, syntax.TsAfter: // of texts
		return Unsure
	}
	x, ok1 := m.numberOf(a)
	y, ok2 := m.numberOf(b)
	if !ok1 || !ok2 {
		return Unsure
	}
	switch op {
	case syntax.TsEql:
		return statusOf(x == y)
	case syntax.TsNeq:
		return statusOf(x != y)
	case syntax.TsLeq:
		return statusOf(x <= y)
	case syntax.TsGeq:
		return statusOf(x >= y)
	case syntax.TsLss:
		return statusOf(x < y)
	case syntax.TsGtr:
		return statusOf(x > y)
	}
	return Unsure
}
