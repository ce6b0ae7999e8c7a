package shell

import (
	"errors"
	"io"
	"io/fs"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

// config is how words are expanded. Each expansion has its own: the library
// keeps buffers in it, and substitutions nest.
func (m *Machine) config(absent map[string]bool) *expand.Config {
	cfg := &expand.Config{
		Env:       environ{m, absent},
		CmdSubst:  m.substitute,
		ProcSubst: m.process,
		ExtGlob:   true, GlobStar: m.options.globstar, NullGlob: m.options.nullglob, DotGlob: m.options.dotglob,
	}
	if !m.options.noglob {
		cfg.ReadDir2 = m.entries
	}
	return cfg
}

// entries reads a directory for a glob.
func (m *Machine) entries(dir string) ([]fs.DirEntry, error) {
	m.run.step()
	if mark.In(dir) {
		return nil, fs.ErrNotExist
	}
	entries, err := m.world.List(dir)
	if errors.Is(err, fs.ErrNotExist) && dir == m.dir {
		return nil, nil // a tree that cannot be seen from here: the pattern stays
	}
	m.run.grow(64 * len(entries))
	return entries, err
}

// substitute runs a command substitution.
func (m *Machine) substitute(w io.Writer, cs *syntax.CmdSubst) error {
	n := m.fork()
	m.deeper(n)
	out := n.captureOutput(func() {
		if cs.ReplyVar {
			n.runList(cs.Stmts)
			n.Print(n.get("REPLY").String())
			return
		}
		n.runList(cs.Stmts)
		n.runExitTraps()
	})
	if file, ok := readsFile(cs); ok {
		out = n.fileText(file)
	}
	m.last = n.last
	_, err := io.WriteString(w, out)
	return err
}

// readsFile recognises $(<file).
func readsFile(cs *syntax.CmdSubst) (*syntax.Word, bool) {
	if len(cs.Stmts) != 1 || cs.Stmts[0].Cmd != nil || len(cs.Stmts[0].Redirs) != 1 || cs.Stmts[0].Redirs[0].Op != syntax.RdrIn {
		return nil, false
	}
	return cs.Stmts[0].Redirs[0].Word, true
}

func (m *Machine) fileText(w *syntax.Word) string { return m.textAt(m.literal(w)) }

// textAt is what is known of the text that a name gives.
func (m *Machine) textAt(name string) string {
	if t, ok := m.Descriptor(name); ok && name != "-" {
		return t
	}
	if t, ok := m.world.Text(m, name); ok {
		return t
	}
	return mark.Any
}

// process runs a process substitution and names a descriptor for it.
func (m *Machine) process(ps *syntax.ProcSubst) (string, error) {
	n := m.fork()
	m.deeper(n)
	if ps.Op == syntax.CmdOut { // >(…): what is written to it is not known here
		n.fds[0] = &Stream{text: mark.Any}
		n.captureOutput(func() { n.runList(ps.Stmts) })
		return "/dev/null", nil
	}
	out := n.captureOutput(func() { n.runList(ps.Stmts); n.runExitTraps() })
	m.run.pipes++
	fd := 1000 + m.run.pipes
	m.fds[fd] = &Stream{text: out}
	return "/dev/fd/" + itoa(fd), nil
}

// fields expands words as the arguments of a command are.
func (m *Machine) fields(words ...*syntax.Word) []string {
	var all []string
	for _, w := range words {
		m.boundBraces(w)
		m.globbed(w)
		w, absent := m.prepare(w)
		got, err := expand.Fields(m.config(absent), w)
		if err != nil {
			got = m.unexpanded(w, err)
		}
		for _, s := range got {
			m.run.grow(len(s) + 16)
		}
		if all = append(all, got...); len(all) > maxWords {
			m.run.stop("it expands to too many words")
		}
	}
	return all
}

// literal expands a word as the value of an assignment is.
func (m *Machine) literal(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	return m.expandWord(partial.Unescaped(w), expand.Literal)
}

// document expands a here-document.
func (m *Machine) document(w *syntax.Word) string { return m.expandWord(w, expand.Document) }

// pattern expands a pattern of case or [[.
func (m *Machine) pattern(w *syntax.Word) string { return m.expandWord(w, expand.Pattern) }

func (m *Machine) expandWord(w *syntax.Word, how func(*expand.Config, *syntax.Word) (string, error)) string {
	if w == nil {
		return ""
	}
	w, absent := m.prepare(w)
	s, err := how(m.config(absent), w)
	if err != nil {
		return strings.Join(m.unexpanded(w, err), " ")
	}
	m.run.grow(len(s))
	return s
}

// unexpanded is a word that the library cannot expand: what it runs is run, and
// its value is not known.
func (m *Machine) unexpanded(w *syntax.Word, err error) []string {
	var unset expand.UnsetParameterError
	if !errors.As(err, &unset) && strings.Contains(err.Error(), "brace expansion") {
		m.run.stop("it expands to too many words")
	}
	m.runSubstitutions(w)
	return []string{mark.Any}
}

// runSubstitutions runs the substitutions inside of a node.
func (m *Machine) runSubstitutions(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			_ = m.substitute(io.Discard, n)
			return false
		case *syntax.ProcSubst:
			_, _ = m.process(n)
			return false
		}
		return true
	})
}
