package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// globbed tells of the directory that a glob lists: the names in it reach the
// command, whatever it does with them.
func (m *Machine) globbed(w *syntax.Word) {
	if m.options.noglob {
		return
	}
	before := []syntax.WordPart{}
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			return // they would run twice
		case *syntax.ExtGlob:
			m.lists(before, "")
			return
		case *syntax.Lit:
			if i := strings.IndexAny(p.Value, "*?["); i >= 0 {
				m.lists(before, p.Value[:i])
				return
			}
		}
		before = append(before, p)
	}
}

// lists tells of the directory named by the parts of a word before its glob.
func (m *Machine) lists(before []syntax.WordPart, last string) {
	parts := append(before, &syntax.Lit{Value: last})
	text := m.literal(&syntax.Word{Parts: parts})
	if i := strings.LastIndexByte(text, '/'); i >= 0 && !strings.Contains(text, "{") {
		m.world.Open(m, text[:i+1], false)
	}
}
