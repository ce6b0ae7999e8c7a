package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/shell/partial"
)

// read parses a script. Length and nesting are bounded first: the parser's time
// grows with the square of open brackets, and its stack with their number.
func (r *run) read(script string) (*syntax.File, error) {
	if f, ok := r.parsed[script]; ok {
		return f, nil
	}
	r.grow(perParsed * len(script))
	if len(script) > maxText {
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrBudget, maxText)
	}
	if partial.Deepest(script) > maxOpen {
		return nil, fmt.Errorf("%w: it opens more than %d brackets", ErrBudget, maxOpen)
	}
	if strings.Contains(script, "\r") { // a part of the word to bash, and nothing to the parser
		return nil, fmt.Errorf("%w: it holds a carriage return", ErrSyntax)
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrSyntax, strings.TrimPrefix(err.Error(), "1:1: "))
	}
	r.parsed[script] = f
	return f, nil
}

// perParsed is what a byte of a script takes as a tree, about.
const perParsed = 128

// parse reads code that a script makes: eval, sh -c. What cannot be parsed is
// doubtful, and nothing is run.
func (m *Machine) parse(code string) *syntax.File {
	f, err := m.run.read(code)
	if err != nil {
		m.world.Doubt(m, "code that "+unparsed(err))
		return nil
	}
	return f
}

func unparsed(err error) string { return "cannot be judged (" + err.Error() + ")" }

// program runs a whole script, with its traps.
func (m *Machine) program(f *syntax.File) {
	m.runStmts(f, f.Stmts)
	for range 3 { // a trap may set another
		traps := m.traps
		m.traps = nil
		for _, code := range traps {
			if t := m.parse(code); t != nil {
				m.runStmts(t, t.Stmts)
			}
		}
	}
}

// runStmts runs statements of a file.
func (m *Machine) runStmts(f *syntax.File, list []*syntax.Stmt) flow {
	outer := m.run.code
	m.run.code = f
	defer func() { m.run.code = outer }()
	return m.runList(list)
}
