package inline

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/inline/lex"
	"cordon/internal/mark"
)

// arg is an argument of a call; one that is passed by name has it.
type arg struct {
	name string
	v    value
}

func values(args []arg) []value {
	var out []value
	for _, a := range args {
		if a.name == "" {
			out = append(out, a.v)
		}
	}
	return out
}

// positional makes values arguments without names.
func positional(vs []value) []arg {
	args := make([]arg, len(vs))
	for i, v := range vs {
		args[i].v = v
	}
	return args
}

// nthArg is a positional argument, or one that goes by one of some names.
func nthArg(args []arg, n int, names ...string) (value, bool) {
	i := 0
	for _, a := range args {
		if a.name != "" {
			if slices.Contains(names, a.name) {
				return a.v, true
			}
			continue
		}
		if i == n {
			return a.v, true
		}
		i++
	}
	return value{}, false
}

// option is what an argument passed by name, or an entry of a dictionary that is
// passed, says.
func option(args []arg, names ...string) (value, bool) {
	for _, a := range args {
		if a.name != "" && slices.Contains(names, a.name) {
			return a.v, true
		}
	}
	for i := len(args) - 1; i >= 0; i-- {
		if args[i].v.shape != dict {
			continue
		}
		for _, n := range names {
			if v, ok := entryOf(args[i].v, n); ok {
				return v, true
			}
		}
	}
	return value{}, false
}

// args evaluates arguments up to a closing parenthesis.
func (m *machine) args(end int) []arg {
	var args []arg
	m.between(end, func() { args = m.argument(args) })
	return args
}

// argument evaluates one argument, with its name if it has one.
func (m *machine) argument(args []arg) []arg {
	t, next := m.tok(), m.at(m.i+1)
	name := ""
	if t.Kind == lex.Word && next.Kind == lex.Op && (next.Text == "=" && m.lang != commands.JavaScript && m.lang != commands.Perl ||
		next.Text == ":" && m.lang == commands.Ruby) {
		name = t.Text
		m.i += 2
	}
	spread := m.op("*") || m.op("...") || m.op("@")
	level := levelAssign
	if m.lang == commands.Python || m.lang == commands.Ruby {
		level = levelChoice // f(a, b=1) assigns to no a and b
	}
	v := m.expr(level)
	if m.skip("=>") { // a dictionary without braces
		k, _ := v.known()
		return append(args, arg{name: k, v: m.expr(levelChoice)})
	}
	if v.shape == list && (spread || m.lang == commands.Perl && m.at(m.i-1).Text != "]") {
		return append(args, positional(v.items)...)
	}
	return append(args, arg{name: name, v: v})
}

// takesBareArgs reports whether a value can be called without parentheses.
func (m *machine) takesBareArgs(v value) bool {
	return (m.lang == commands.Ruby || m.lang == commands.Perl) && v.shape == named && v.from == "" &&
		!strings.HasPrefix(v.name, "$") && !strings.HasPrefix(v.name, "@")
}

// bareArgsFollow reports whether arguments without parentheses follow.
func (m *machine) bareArgsFollow(v value, t lex.Token) bool {
	if !m.takesBareArgs(v) || !t.Spaced && t.Kind != lex.Text {
		return false
	}
	if t.Kind == lex.Op {
		next := m.at(m.i + 1)
		tight := !next.Spaced && (strings.Contains(" * & - :: @ % ", " "+t.Text+" ") || t.Text == "<" && m.lang == commands.Perl)
		return t.Text == "[" || t.Text == "\\" || t.Text == "$" || tight || t.Text == "->" && m.lang == commands.Ruby ||
			t.Text == "{" && m.lang == commands.Perl && inSet("block-takers", v.name)
	}
	return beginsArgument(t)
}

// beginsArgument reports whether a token can begin an argument.
func beginsArgument(t lex.Token) bool {
	switch t.Kind {
	case lex.Text, lex.Command, lex.Number, lex.Regex:
		return true
	case lex.Word:
		return !inSet("not-arguments", t.Text)
	case lex.Op:
		return t.Text == "(" || t.Text == "[" || t.Text == "$"
	}
	return false
}

// bareArgs evaluates arguments without parentheses.
func (m *machine) bareArgs() []arg {
	var args []arg
	if m.op("{") && m.lang == commands.Perl {
		end := m.tok().N
		args = append(args, arg{v: value{shape: fn, fn: &function{toks: m.toks, from: m.i + 1, to: end}}})
		m.i = end + 1
		m.skip(",")
	}
	m.loose++
	defer func() { m.loose-- }()
	for m.step() {
		at := m.i
		args = m.argument(args)
		if m.i <= at || !m.op(",") {
			return args
		}
		m.i++
		for m.tok().Kind == lex.Line {
			m.i++
		}
	}
	return args
}

// blockHere reports whether a block of Ruby or Julia follows a name.
func (m *machine) blockHere(v value) bool {
	return m.lang == commands.Ruby && v.shape == named && (v.from == "" || v.recv != nil) &&
		(m.op("{") || m.word("do")) && (v.recv != nil || m.at(m.i+1).Text == "|")
}

// addBlock adds the block that follows a call to its arguments.
func (m *machine) addBlock(args []arg) []arg {
	if m.lang != commands.Ruby {
		return args
	}
	f := &function{toks: m.toks}
	switch {
	case m.op("{"):
		f.from, f.to = m.i+1, m.tok().N
	case m.word("do"):
		f.from, f.to = m.i+1, m.matchEnd(m.i+1)
	default:
		return args
	}
	m.i = f.from
	if m.skip("|") {
		f.params = m.blockParams()
		f.from = m.i
	} else {
		f.params = []string{"it"}
	}
	m.i = f.to + 1
	return append(args, arg{v: value{shape: fn, fn: f}})
}

func (m *machine) blockParams() []string {
	var names []string
	for m.tok().Kind == lex.Word || m.op(",") || m.op("*") || m.op("(") || m.op(")") || m.op("&") {
		if m.tok().Kind == lex.Word {
			names = append(names, m.tok().Text)
		}
		m.i++
	}
	m.skip("|")
	return names
}

// call evaluates a call.
func (m *machine) call(callee value, args []arg) value {
	switch callee.shape {
	case fn:
		return m.invoke(callee.fn, args)
	case named:
		if f := m.findFunction(callee.name); f != nil {
			return m.invoke(f, args)
		}
		if r, ok := m.findRow(callee.name); ok {
			return m.perform(r, callee, args)
		}
		if v, ok := m.fold(callee, args); ok {
			return v
		}
	}
	return m.callUnlisted(callee, args)
}

// runCallbacks runs functions that are passed, with what they are called with as
// far as that can be told: the elements of what they are applied to. It gives
// what the functions give.
func (m *machine) runCallbacks(callee value, args []arg) value {
	over := appliedTo(callee, args)
	given := value{shape: never}
	for _, a := range args {
		f := a.v.fn
		if a.v.shape == named {
			f = m.findFunction(a.v.name)
		}
		if f == nil {
			m.callHandedOn(a.v, over)
			continue
		}
		if m.lang == commands.Perl {
			m.vars["$_"] = over
		}
		given = either(given, m.invoke(f, []arg{{v: over}}))
	}
	return given
}

// callHandedOn calls a function of the tables that another applies to something.
func (m *machine) callHandedOn(f, over value) {
	if f.shape != named || over.shape != text {
		return
	}
	if r, ok := m.findRow(f.name); ok && r.act != "text" && m.depth < maxDepth && m.step() {
		m.perform(r, f, []arg{{v: over}})
	}
}

// appliedTo is what a function is called with that is handed to another.
func appliedTo(callee value, args []arg) value {
	var over value
	if r := callee.recv; r != nil {
		over = r.elements()
		if over.shape == unknown && r.shape == text {
			over = *r
		}
	}
	for _, a := range args {
		if e := a.v.elements(); over.shape == unknown && e.shape != unknown {
			over = e
		}
	}
	return over
}

// runShell reports a text that a shell runs.
func (m *machine) runShell(v value, why string) { m.runCommand(nil, v, nil, why) }

// runCommand reports what is run: arguments, or code of a shell.
func (m *machine) runCommand(argv []value, code value, opts []arg, why string) {
	r := commands.Run{Why: why, Env: append([]string(nil), m.env...)}
	if e, ok := option(opts, "env"); ok && e.shape == dict {
		r.Env = append(r.Env, environPairs(e)...)
	}
	if in, ok := option(opts, "input", "stdin_data"); ok {
		if s, known := in.known(); known {
			r.Stdin, r.Fed = s, true
		}
	}
	dirs := m.dirs
	if d, ok := option(opts, "cwd", "chdir", "dir"); ok && (d.shape == text || d.shape == unknown) {
		m.reportAccess(commands.Enter, d, why)
		dirs = combineTexts(m.dirs, d.texts(), joinPath)
	}
	for _, dir := range dirs {
		r.Dir = dir
		m.reportRuns(r, argv, code)
	}
}

func (m *machine) reportRuns(r commands.Run, argv []value, code value) {
	if len(argv) > 4*maxAlts {
		m.rep.opaque("the code runs a command with too many arguments")
		return
	}
	if argv != nil {
		for _, args := range argumentVectors(argv) {
			r.Args = args
			if mark.In(args[0]) {
				m.rep.opaque("the code runs an unknown command")
			}
			m.rep.run(r)
		}
		return
	}
	for _, s := range code.texts() {
		if strings.HasPrefix(strings.TrimSpace(s), mark.Any) {
			m.rep.opaque("the code runs an unknown command")
		}
		r.Code = s
		m.rep.run(r)
	}
}

// argumentVectors are the argument vectors that values can be. Where they are too many,
// an argument that varies is anything.
func argumentVectors(argv []value) [][]string {
	out := [][]string{nil}
	for _, v := range argv {
		alts := v.texts()
		if len(out)*len(alts) > maxAlts {
			alts = []string{mark.Any}
		}
		var next [][]string
		for _, args := range out {
			for _, s := range alts {
				next = append(next, append(args[:len(args):len(args)], s))
			}
		}
		out = next
	}
	if len(argv) == 0 {
		return nil
	}
	return out
}

func environPairs(d value) []string {
	var out []string
	for i, k := range d.keys {
		if name, ok := k.known(); ok {
			for _, s := range d.items[i].texts() {
				out = append(out, name+"="+s)
			}
		}
	}
	return out
}
