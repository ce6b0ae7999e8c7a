package shell

import (
	"maps"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
)

func unknownStream() *Stream { return &Stream{text: mark.Any} }

// redirect applies redirections, and returns what undoes them. Those of a bare
// exec stay.
func (m *Machine) redirect(list []*syntax.Redirect, stay bool) func() {
	if len(list) == 0 {
		return func() {}
	}
	out, fds, outs := m.out, m.fds, m.outs
	if !stay {
		m.fds, m.outs = cloneFds(fds), maps.Clone(outs)
	}
	var files []*sink
	for _, r := range list {
		s := m.one(r)
		if s != nil && stay { // what goes there from now on is not followed
			m.world.Wrote(m, s.file, mark.Any, true)
		} else if s != nil {
			files = append(files, s)
		}
	}
	return func() {
		for _, s := range files {
			m.settle(s)
		}
		if !stay {
			m.out, m.fds, m.outs = out, fds, outs
		}
	}
}

func cloneFds(fds map[int]*Stream) map[int]*Stream {
	c := make(map[int]*Stream, len(fds))
	for n, s := range fds {
		c[n] = s
	}
	return c
}

// settle tells what was written to a file.
func (m *Machine) settle(s *sink) {
	if s.text != nil {
		m.world.Wrote(m, s.file, s.text.String(), s.add)
	}
}

// one applies one redirection, and returns the file that standard output goes
// to now, if it does.
func (m *Machine) one(r *syntax.Redirect) *sink {
	fd, input := m.number(r)
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		m.fds[fd] = &Stream{text: m.body(r)}
		return nil
	case syntax.WordHdoc:
		m.fds[fd] = &Stream{text: m.literal(r.Word) + "\n"}
		return nil
	case syntax.DplIn, syntax.DplOut:
		return m.duplicate(r, fd)
	}
	path := m.target(r.Word)
	if input {
		m.world.Open(m, path, false)
		m.fds[fd] = m.opened(path)
		if r.Op == syntax.RdrIn {
			return nil
		}
	}
	m.world.Open(m, path, true)
	if fd != 1 && r.Op != syntax.RdrAll && r.Op != syntax.AppAll {
		m.world.Wrote(m, path, mark.Any, true) // what goes there is not followed
		m.outs[fd] = &sink{}
		return nil
	}
	return m.divert(path, r.Op == syntax.AppOut || r.Op == syntax.AppAll)
}

// divert sends standard output to a file.
func (m *Machine) divert(path string, add bool) *sink {
	if n, ok := descriptorOf(path); ok && n <= 2 {
		return nil
	}
	if path == "/dev/null" {
		m.out = &sink{null: true}
		return nil
	}
	s := &sink{text: &strings.Builder{}, file: m.join(path), add: add}
	m.out = s
	return s
}

// opened is what is read from a path.
func (m *Machine) opened(path string) *Stream {
	if n, ok := descriptorOf(path); ok && path != "-" {
		if s, found := m.fds[n]; found {
			return s
		}
	}
	s := &Stream{text: m.textAt(path)}
	if s.text == mark.Any {
		s.file = path
	}
	return s
}

// body is the text of a here-document; with a quoted delimiter it is literal.
func (m *Machine) body(r *syntax.Redirect) string {
	if r.Hdoc == nil {
		return ""
	}
	text := ""
	if r.Word != nil && quoted(r.Word) && (r.Hdoc.Lit() != "" || len(r.Hdoc.Parts) == 0) {
		text = r.Hdoc.Lit()
	} else {
		text = m.document(r.Hdoc)
	}
	if r.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			lines[i] = strings.TrimLeft(l, "\t")
		}
		text = strings.Join(lines, "\n")
	}
	return text
}

// send makes one descriptor for writing go where another goes.
func (m *Machine) send(fd, to int) {
	s := m.outs[to]
	if to == 1 {
		s = m.out
	}
	if fd != 1 {
		m.outs[fd] = s
		return
	}
	if s == nil {
		s = &sink{}
	}
	m.out = s
}

func quoted(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.Contains(p.Value, `\`) {
				return true
			}
		}
	}
	return false
}

// target is the word of a redirection: a glob that matches one name is that name.
func (m *Machine) target(w *syntax.Word) string {
	if f := m.fields(w); len(f) == 1 {
		return f[0]
	}
	return m.literal(w)
}

// number is the descriptor a redirection is about, and whether it is for reading.
func (m *Machine) number(r *syntax.Redirect) (int, bool) {
	input := r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut || r.Op == syntax.DplIn || r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc
	fd := 1
	if input {
		fd = 0
	}
	if r.N == nil {
		return fd, input
	}
	if n, err := strconv.Atoi(r.N.Value); err == nil {
		return n, input
	}
	name := strings.Trim(r.N.Value, "{}")
	if v, ok := m.vars[name]; ok { // {fd}>&- and another use of the same name
		if n, err := strconv.Atoi(v.String()); err == nil && (r.Op == syntax.DplIn || r.Op == syntax.DplOut) {
			return n, input
		}
	}
	m.run.pipes++
	fd = 500 + m.run.pipes
	m.setPlain(name, itoa(fd))
	return fd, input
}

// duplicate applies >&2, <&3, >&- and >& file.
func (m *Machine) duplicate(r *syntax.Redirect, fd int) *sink {
	word := m.literal(r.Word)
	if word == "-" {
		delete(m.fds, fd)
		return nil
	}
	n, err := strconv.Atoi(strings.TrimSuffix(word, "-"))
	if err != nil {
		if r.Op == syntax.DplOut {
			m.world.Open(m, word, true)
			return m.divert(word, false)
		}
		m.fds[fd] = unknownStream()
		return nil
	}
	if r.Op == syntax.DplIn {
		s, ok := m.fds[n]
		if !ok {
			s = unknownStream()
		}
		m.fds[fd] = s
	}
	if r.Op == syntax.DplOut {
		m.send(fd, n)
	}
	return nil
}
