package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
)

// flow is how a statement ended: normally, or by leaving something.
type flow struct {
	kind  leaving
	loops int // how many loops break and continue are about
}

type leaving int

const (
	onward leaving = iota
	breaks
	continues
	returns
	exits
)

// runList runs statements one after the other.
func (m *Machine) runList(list []*syntax.Stmt) flow {
	for _, s := range list {
		if f := m.runStmt(s); f.kind != onward {
			return f
		}
	}
	return flow{}
}

// runStmt runs one statement with its redirections.
func (m *Machine) runStmt(s *syntax.Stmt) flow {
	m.run.step()
	outer := m.line
	m.line = s
	defer func() { m.line = outer }()
	n := m
	if s.Background || s.Coprocess || s.Disown {
		n = m.fork()
		n.out = &sink{}
	}
	if s.Negated {
		n.falls++
		defer func() { n.falls-- }()
	}
	undo := n.redirect(s.Redirs, len(s.Redirs) > 0 && n.persistent(s))
	f := n.runCommand(s.Cmd, s)
	undo()
	if n != m {
		n.runExitTraps()
	}
	if m.last == Succeeds && opens(s.Redirs) {
		m.last = Unsure
	}
	if s.Background || s.Coprocess {
		m.last = Succeeds
		return flow{}
	}
	if s.Negated {
		m.last = m.last.not()
	}
	return f
}

// opens reports whether redirections open a file to read it, which may not be
// there.
func opens(list []*syntax.Redirect) bool {
	return slices.ContainsFunc(list, func(r *syntax.Redirect) bool { return r.Op == syntax.RdrIn })
}

// persistent recognises exec with nothing but redirections, which stay.
func (m *Machine) persistent(s *syntax.Stmt) bool {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) > 4 {
		return false
	}
	execs := false
	for _, w := range c.Args {
		if substitutes(w) {
			return false // it would run twice, and is hardly an exec
		}
		switch word := m.literal(w); {
		case word == "exec":
			execs = true
		case word == "command" || word == "builtin" || strings.HasPrefix(word, "-"):
		default:
			return false
		}
	}
	return execs
}

// substitutes reports whether a word runs something.
func substitutes(w *syntax.Word) bool {
	found := false
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			found = true
		}
		return !found
	})
	return found
}

// runCommand runs a command of any kind.
func (m *Machine) runCommand(c syntax.Command, s *syntax.Stmt) flow {
	switch c := c.(type) {
	case nil: // redirections only
		m.last = Succeeds
	case *syntax.CallExpr:
		return m.runCall(c)
	case *syntax.Block:
		return m.runList(c.Stmts)
	case *syntax.Subshell:
		m.inSubshell(func(n *Machine) { n.runList(c.Stmts) })
	case *syntax.BinaryCmd:
		return m.runBinary(c)
	case *syntax.IfClause:
		return m.runIf(c)
	case *syntax.CaseClause:
		return m.runCase(c)
	case *syntax.WhileClause:
		return m.runWhile(c)
	case *syntax.ForClause:
		return m.forLoop(c)
	case *syntax.FuncDecl:
		if c.Name == nil || c.Name.Value == "" {
			m.world.Doubt(m, "a function without a name, which bash cannot parse")
			return flow{}
		}
		return m.defineFunction(c, c.Body)
	case *syntax.DeclClause:
		m.declare(c)
	case *syntax.TestClause:
		m.last = m.test(c.X)
	case *syntax.ArithmCmd:
		n, known := m.arithm(c.X)
		m.last = arithmStatus(n, known)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			n, known := m.arithm(x)
			m.last = arithmStatus(n, known)
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return m.runStmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		m.coproc(c)
	default:
		m.runSubstitutions(c)
		m.world.Doubt(m, "shell syntax that cordon does not know")
	}
	return flow{}
}

func arithmStatus(n int, known bool) Status {
	if !known {
		return Unsure
	}
	return statusOf(n != 0)
}

// inSubshell runs f in a subshell.
func (m *Machine) inSubshell(f func(*Machine)) {
	n := m.fork()
	f(n)
	n.runExitTraps()
	m.last = n.last
}

// runExitTraps runs what a subshell's traps run when it ends.
func (m *Machine) runExitTraps() {
	traps := m.traps
	m.traps = nil
	for _, code := range traps {
		m.runLater(code)
	}
}

// holds says whether a command succeeded; where that is not known, this run
// chooses.
func (m *Machine) holds(at syntax.Pos) bool {
	switch m.last {
	case Succeeds:
		return true
	case Fails:
		return false
	}
	ok := m.run.decide(at)
	m.last = statusOf(ok)
	return ok
}

func (m *Machine) runBinary(c *syntax.BinaryCmd) flow {
	switch c.Op {
	case syntax.AndStmt, syntax.OrStmt:
		if c.Op == syntax.OrStmt {
			m.falls++
		}
		f := m.runStmt(c.X)
		if c.Op == syntax.OrStmt {
			m.falls--
		}
		if f.kind != onward {
			return f
		}
		if m.holds(c.OpPos) == (c.Op == syntax.AndStmt) {
			return m.runStmt(c.Y)
		}
		return flow{}
	}
	return m.runPipe(c)
}

// runPipe runs a pipeline: each side in a subshell of its own. |& joins the errors,
// whose text is not known anyway.
func (m *Machine) runPipe(c *syntax.BinaryCmd) flow {
	left := m.fork()
	text := left.captureOutput(func() { left.runStmt(c.X); left.runExitTraps() })
	right := m
	if !m.options.lastpipe {
		right = m.fork()
	}
	fds := right.fds
	right.fds = cloneFds(fds)
	right.fds[0] = &Stream{text: text, file: m.catted(c.X, text)}
	right.runStmt(c.Y)
	if right != m {
		right.runExitTraps()
	}
	right.fds = fds
	m.last = right.last
	return flow{}
}

// catted is the one file that a command prints as it is, where its text is not
// known.
func (m *Machine) catted(s *syntax.Stmt, text string) string {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || text != mark.Any || len(c.Args) != 2 {
		return ""
	}
	n := m.fork() // the words are expanded a second time
	words := []string{}
	n.captureOutput(func() { words = n.fields(c.Args...) })
	if len(words) != 2 || words[0] != "cat" {
		return ""
	}
	return words[1]
}

func (m *Machine) runIf(c *syntax.IfClause) flow {
	for ; c != nil; c = c.Else {
		if len(c.Cond) == 0 { // else
			return m.runList(c.Then)
		}
		m.falls++
		f := m.runList(c.Cond)
		m.falls--
		if f.kind != onward {
			return f
		}
		if m.holds(c.Position) {
			return m.runList(c.Then)
		}
	}
	m.last = Succeeds
	return flow{}
}

// coproc runs beside the shell; what it reads is not known.
func (m *Machine) coproc(c *syntax.CoprocClause) {
	name := "COPROC"
	if c.Name != nil {
		name = m.literal(c.Name)
	}
	n := m.fork()
	n.fds[0] = unknownStream()
	n.captureOutput(func() { n.runStmt(c.Stmt) })
	m.setPlain(name, "63")
	m.last = Succeeds
}

// defineFunction remembers a function. The parser takes a list that goes on after the
// body for a part of it; to bash it is a list that begins with the definition.
func (m *Machine) defineFunction(c *syntax.FuncDecl, body *syntax.Stmt) flow {
	if b, ok := body.Cmd.(*syntax.BinaryCmd); ok {
		f := m.defineFunction(c, b.X)
		if f.kind != onward {
			return f
		}
		if b.Op == syntax.AndStmt || b.Op == syntax.OrStmt {
			if m.holds(b.OpPos) == (b.Op == syntax.AndStmt) {
				return m.runStmt(b.Y)
			}
			return flow{}
		}
		right := m.fork()
		right.fds[0] = &Stream{}
		right.runStmt(b.Y)
		return flow{}
	}
	m.last = Succeeds
	for _, name := range append(c.Names, c.Name) {
		if name != nil {
			m.funcs[name.Value] = body
			m.sent[name.Value] = m.sent[name.Value] || m.options.export
		}
	}
	return flow{}
}
