package shell

import (
	"maps"
	"reflect"
	"slices"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
)

// runTurn runs the body of a loop once, and says whether the loop is left.
func (m *Machine) runTurn(body []*syntax.Stmt) (flow, bool) {
	m.loops++
	f := m.runList(body)
	m.loops--
	switch f.kind {
	case breaks, continues:
		if f.loops > 1 {
			return flow{f.kind, f.loops - 1}, true
		}
		return flow{}, f.kind == breaks
	case onward:
		return f, false
	}
	return f, true
}

// unsureTurns is how often a loop is followed whose condition is not known: deep
// enough to climb out of a tree.
const unsureTurns = 10

// runWhile runs a loop. A condition that is not known holds once; one that holds
// for ever is followed until the loop's variables repeat, and where they never
// do, they are taken for unknown.
func (m *Machine) runWhile(c *syntax.WhileClause) flow {
	doubted := false
	for n := 0; ; n++ {
		before := m.snapshot()
		m.loops++
		m.looks++
		f := m.runList(c.Cond)
		m.looks--
		m.loops--
		if f.kind == breaks {
			break
		}
		if f.kind != onward {
			return f
		}
		unsure := m.last == Unsure
		if unsure && n > unsureTurns {
			break
		}
		if m.holds(c.WhilePos) == c.Until {
			break
		}
		f, left := m.runTurn(c.Do)
		if left {
			return f
		}
		m.last = Unsure // of the whole loop, unless its body's is the last
		if same := before.equal(m); same || doubted {
			break
		}
		if n == maxTurns {
			m.forgetChanges(before)
			doubted = true
		}
	}
	m.last = Unsure
	return flow{}
}

// snapshot is what a loop's next turn depends on.
type snapshot struct {
	vars   map[string]expand.Variable
	dir    string
	params []string
	stack  []string
	read   int
}

func (m *Machine) snapshot() snapshot {
	vars := maps.Clone(m.vars)
	m.run.grow(perVar * len(vars))
	return snapshot{vars, m.dir, m.params, m.stack, m.position()}
}

// position is how far input was read, of all descriptors.
func (m *Machine) position() int {
	sum := 0
	for _, s := range m.fds {
		sum += s.at + s.again
	}
	return sum
}

func (s snapshot) equal(m *Machine) bool {
	return s.dir == m.dir && s.read == m.position() && slices.Equal(s.params, m.params) && slices.Equal(s.stack, m.stack) && reflect.DeepEqual(s.vars, m.vars)
}

// forgetChanges makes unknown what a loop changes.
func (m *Machine) forgetChanges(before snapshot) {
	for name, v := range m.vars {
		if !reflect.DeepEqual(v, before.vars[name]) {
			m.setPlain(name, mark.Any)
		}
	}
}

func (m *Machine) forLoop(c *syntax.ForClause) flow {
	switch loop := c.Loop.(type) {
	case *syntax.WordIter:
		return m.forEach(loop, c)
	case *syntax.CStyleLoop:
		return m.forCount(loop, c)
	}
	return flow{}
}

// forEach runs a loop over words.
func (m *Machine) forEach(loop *syntax.WordIter, c *syntax.ForClause) flow {
	words := m.params
	if loop.InPos.IsValid() || len(loop.Items) > 0 {
		words = m.fields(loop.Items...)
	}
	m.last = Succeeds
	for _, w := range severalWords(words) {
		if c.Select {
			m.setPlain("REPLY", mark.Any)
		}
		m.setPlain(loop.Name.Value, w)
		if f, left := m.runTurn(c.Do); left && (!c.Select || f.kind != onward) {
			return f // a person chooses: any word may be the first
		}
	}
	return flow{}
}

// severalWords repeats a word that stands for any number of them.
func severalWords(words []string) []string {
	if !slices.Contains(words, mark.Any) {
		return words
	}
	var list []string
	for _, w := range words {
		list = append(list, w)
		if w == mark.Any {
			list = append(list, w, w)
		}
	}
	return list
}

// forCount runs for ((…)).
func (m *Machine) forCount(loop *syntax.CStyleLoop, c *syntax.ForClause) flow {
	m.arithm(loop.Init)
	for n := 0; ; n++ {
		if loop.Cond != nil {
			v, known := m.arithm(loop.Cond)
			if !known && n > 0 || known && v == 0 {
				break
			}
		}
		before := m.snapshot()
		if f, left := m.runTurn(c.Do); left {
			return f
		}
		m.arithm(loop.Post)
		if n == maxTurns {
			m.forgetChanges(before)
			return m.runList(c.Do)
		}
	}
	m.last = Succeeds
	return flow{}
}

// runCase runs case … esac. A pattern matches, does not, or may.
func (m *Machine) runCase(c *syntax.CaseClause) flow {
	word := m.literal(c.Word)
	m.last = Succeeds
	through := false // ;& enters the next body
	for _, item := range c.Items {
		if !through && !m.anyMatches(word, item) {
			continue
		}
		if f := m.runList(item.Stmts); f.kind != onward {
			return f
		}
		switch item.Op {
		case syntax.Fallthrough:
			through = true
		case syntax.Resume, syntax.ResumeKorn:
			through = false
		default:
			return flow{}
		}
	}
	return flow{}
}

func (m *Machine) anyMatches(word string, item *syntax.CaseItem) bool {
	for _, p := range item.Patterns {
		m.last = matches(m.pattern(p), word)
		if m.holds(p.Pos()) {
			return true
		}
	}
	m.last = Succeeds
	return false
}
