// Package shell runs a bash script without running anything: it walks the
// script's syntax tree with the shell's own state (variables, functions, the
// directory, descriptors) and tells a World what the script would do.
//
// Parsing and the expansion of words are mvdan.cc/sh's. Its interpreter is not
// used: that one opens real pipes, makes real FIFOs and starts goroutines, runs
// one branch of each condition only, and has neither coprocesses nor descriptors
// above two. What is not known of a value is a mark (package mark) in it. What is
// not known of an exit status is explored: the script is run again until each
// side of each condition has been taken once (Explore).
//
// The package knows bash and nothing else. It refuses to know what a command
// does with its arguments, where a path leads and whether that is allowed: the
// World answers. It never touches the machine, and it is bounded: a Budget ends
// a script that loops, recurses or grows.
package shell

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
)

// World is what a script acts on. Paths are as the script gives them, relative
// to Machine.Dir.
type World interface {
	// Exec is told of an external command, and says what is known of its status.
	// What it prints goes to Machine.Print.
	Exec(m *Machine, args []string) Status
	// Enter is told of a change to a directory, named absolutely and with its
	// links unresolved, and what the script called it.
	Enter(m *Machine, dir, typed string)
	// Open is told of a path that the shell itself reads or writes.
	Open(m *Machine, path string, write bool)
	// Text is what is known of a file's text.
	Text(m *Machine, path string) (string, bool)
	// Wrote is told of text that the shell itself put into a file.
	Wrote(m *Machine, path, text string, add bool)
	// Doubt is told of something that cannot be judged.
	Doubt(m *Machine, what string)
	// Present says what is at a path, and whether that is known: it is not after
	// a command that may have changed it. dir asks for a directory only.
	Present(m *Machine, path string, dir bool) (kind Kind, known bool)
	// List reads a directory, for globs.
	List(dir string) ([]fs.DirEntry, error)
	// Real resolves the links of an absolute path.
	Real(path string) string
}

// Kind is what is at a path.
type Kind int

// The kinds.
const (
	Nothing Kind = iota
	File
	Directory
)

// Status is what is known of an exit status.
type Status int

// The states of an exit status.
const (
	Unsure Status = iota
	Succeeds
	Fails
)

func statusOf(ok bool) Status {
	if ok {
		return Succeeds
	}
	return Fails
}

func (s Status) not() Status {
	switch s {
	case Succeeds:
		return Fails
	case Fails:
		return Succeeds
	}
	return Unsure
}

// Machine is a shell.
type Machine struct {
	world   World
	run     *run // what all shells of one run share
	dir     string
	stack   []string // of pushd
	vars    map[string]expand.Variable
	locals  []map[string]expand.Variable // what functions hide, to be put back
	params  []string                     // $1 …
	zero    string
	funcs   map[string]*syntax.Stmt
	sent    map[string]bool // functions that are exported
	aliases map[string]string
	traps   []string // for EXIT
	options options
	fds     map[int]*Stream
	out     *sink
	depth   int // of functions, evals and nested shells
	loops   int // that break leaves
	looks   int // conditions of loops, which the disk may answer
	falls   int // left sides of ||, whose failure the script foresees
	outs    map[int]*sink
	calls   int // that return leaves
	last    Status
	tail    string       // $_: the last word of the command before
	line    *syntax.Stmt // the statement at work, for explanations

	scripted bool // what it reads is the rest of its own script
	sums     int  // how deep arithmetic nests
	option   int  // where in a word getopts is
	// These are shared by forks, and replaced as a whole when they change.
	nature map[string]nature // declare -i, -l and -u
	shaky  map[string]bool   // variables that a trap may set at any time
	off    map[string]bool   // builtins that are disabled
	alarms map[string]string // code of traps that is not for EXIT, by signal
}

// options are the settings of a shell that matter here.
type options struct {
	physical bool // set -P
	export   bool // set -a
	extglob  bool
	globstar bool
	nullglob bool
	vars     bool // cd to a variable's value
	lastpipe bool
	dotglob  bool
	noglob   bool
}

// Start is what a script finds.
type Start struct {
	Dir  string // its directory, absolute
	Home string
	User string
}

// newMachine is a fresh shell.
func newMachine(w World, r *run, s Start) *Machine {
	m := &Machine{
		world: w, run: r, dir: s.Dir, zero: "bash",
		vars: map[string]expand.Variable{}, funcs: map[string]*syntax.Stmt{}, sent: map[string]bool{}, aliases: map[string]string{},
		fds: map[int]*Stream{}, outs: map[int]*sink{}, out: &sink{},
	}
	m.options.extglob = true // a pattern is better understood than refused
	m.vars["HOME"] = text(s.Home)
	return m
}

// Dir is the directory the shell is in, as the shell knows it: absolute, with
// links unresolved. It may hold marks.
func (m *Machine) Dir() string { return m.dir }

// Scripted reports whether what the shell's commands read is the rest of its own
// script, which is judged as that.
func (m *Machine) Scripted() bool { return m.scripted }

// Lost reports whether this way through the script supposes that a change of
// directory failed though the script does not expect it: where it goes from there
// only counts for what it does there.
func (m *Machine) Lost() bool { return m.run.lost }

// Line is the number of the line at work.
func (m *Machine) Line() int {
	if m.line == nil {
		return 0
	}
	return int(m.line.Pos().Line())
}

// Print adds to what the command at work prints.
func (m *Machine) Print(text string) { m.out.write(m, text) }

// Stdin is what is known of the input of the command at work, and whether the
// script determines it at all.
func (m *Machine) Stdin() (string, bool) {
	s, ok := m.fds[0]
	if !ok {
		return mark.Any, false
	}
	return s.rest(), true
}

// Source is the file that is the input of the command at work, where the input is
// not known otherwise; "" is none.
func (m *Machine) Source() string {
	if s, ok := m.fds[0]; ok && s.at == 0 {
		return s.file
	}
	return ""
}

// Descriptor is what is known of the text behind a name such as /dev/stdin or
// /dev/fd/3.
func (m *Machine) Descriptor(path string) (string, bool) {
	n, ok := descriptorOf(path)
	if !ok {
		return "", false
	}
	s, ok := m.fds[n]
	if !ok {
		return mark.Any, true
	}
	return s.rest(), true
}

// Exported is a variable that the script gives to the commands it runs.
func (m *Machine) Exported(name string) (string, bool) {
	v, ok := m.vars[name]
	if !ok || !v.Exported || !v.IsSet() {
		return "", false
	}
	return v.String(), true
}

// EachExported calls f with every variable that the script itself exports, in
// order.
func (m *Machine) EachExported(f func(name, value string)) {
	for _, name := range slices.Sorted(maps.Keys(m.vars)) {
		if v := m.vars[name]; v.Exported && v.IsSet() {
			f(name, v.String())
		}
	}
}

// perVar is what a variable takes in a table, about.
const perVar = 256

// fork is a subshell: it starts with the state of its parent, and what it does
// to that state is lost.
func (m *Machine) fork() *Machine {
	c := *m
	c.vars, c.funcs, c.aliases = maps.Clone(m.vars), maps.Clone(m.funcs), maps.Clone(m.aliases)
	c.fds, c.outs, c.stack = maps.Clone(m.fds), maps.Clone(m.outs), slices.Clone(m.stack)
	c.locals = nil
	c.traps = nil
	m.run.grow(perVar*len(c.vars) + 512)
	return &c
}

// Child says how a program started by a command begins.
type Child struct {
	Dir    string   // absolute; "" is the same
	Env    []string // NAME=VALUE
	Unset  []string
	Clean  bool
	Stdin  string
	Fed    bool
	Params []string // $0, $1 …
	Script bool     // its input is the script itself
}

// child is a shell started as a program: of its parent's state it gets what is
// exported.
func (m *Machine) child(c Child) *Machine {
	n := m.fork()
	n.funcs, n.aliases = map[string]*syntax.Stmt{}, map[string]string{}
	for name := range m.sent {
		if body, ok := m.funcs[name]; ok && !c.Clean {
			n.funcs[name] = body
		}
	}
	n.loops, n.calls = 0, 0
	n.nature, n.shaky, n.off, n.option = nil, nil, nil, 0
	n.stack, n.options = nil, options{extglob: true}
	home := n.vars["HOME"]
	for name, v := range n.vars {
		if !v.Exported || c.Clean {
			delete(n.vars, name)
		}
	}
	if _, ok := n.vars["HOME"]; !ok {
		n.vars["HOME"] = home
	}
	for _, name := range c.Unset {
		delete(n.vars, name)
	}
	for _, pair := range c.Env {
		name, value, _ := strings.Cut(pair, "=")
		n.vars[name] = expand.Variable{Set: true, Exported: true, Kind: expand.String, Str: value}
	}
	if c.Dir != "" {
		n.dir = c.Dir
	}
	n.scripted = c.Script || n.scripted && !c.Fed
	if c.Fed {
		n.fds[0] = &Stream{text: c.Stdin}
	}
	n.zero, n.params = "bash", nil
	if len(c.Params) > 0 {
		n.zero, n.params = c.Params[0], c.Params[1:]
	}
	return n
}

// Code runs a script as another shell would, started by the command at work.
func (m *Machine) Code(code string, c Child) Status {
	n := m.child(c)
	defer m.deeper(n)()
	f := n.parse(code)
	if f == nil {
		return Unsure
	}
	n.program(f)
	return n.last
}

// Args runs a command as another program would, started by the command at work.
func (m *Machine) Args(args []string, c Child) Status {
	n := m.child(c)
	n.zero, n.params = m.zero, m.params
	defer m.deeper(n)()
	return n.runExternal(args)
}

// deeper counts nested shells, so that a script that starts itself ends.
func (m *Machine) deeper(n *Machine) func() {
	n.depth = m.depth + 1
	if n.depth > maxDepth {
		m.run.stop("it nests commands too deeply to judge")
	}
	return func() {}
}
