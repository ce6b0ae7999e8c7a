package inline

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/inline/lex"
	"cordon/internal/mark"
)

// machine evaluates the tokens of a program once, in order. Branches are all
// taken, loops run once with a variable that is every element, functions run
// where they are called.
type machine struct {
	rep     *Report
	lang    commands.Lang
	params  []string
	toks    []lex.Token
	i       int
	vars    map[string]value
	funcs   []*function
	classes []string // classes of the code
	stars   []string // modules whose names are all in scope
	env     []string // NAME=VALUE that the code set for what it runs
	dirs    []string // where the code may be; "" is where it began
	steps   *int
	depth   int
	nest    int // blocks that are open: what is assigned there may not be
	quiet   int // inside of an error or a message: paths are text
	ret     []value
	loose   int // inside of arguments without parentheses, where or and and end them
	noCmp   int // inside of awk's print, where > is no comparison
}

// function is a function of the code: a stretch of its tokens.
type function struct {
	name     string
	params   []string
	defaults map[string]value
	toks     []lex.Token
	from, to int
	called   bool
	running  int
}

func newMachine(rep *Report, lang commands.Lang, params []string, depth int) *machine {
	return &machine{rep: rep, lang: lang, params: params, vars: map[string]value{}, dirs: []string{""}, steps: new(int), depth: depth}
}

// program evaluates a program, and then what it defines and never calls.
func (m *machine) program(code string) {
	if m.depth > maxDepth {
		m.rep.opaque("code inside code, nested too deeply to follow")
		return
	}
	m.toks, m.i = lex.Tokens(m.lang, code), 0
	if len(m.toks) > lex.MaxTokens {
		m.giveUp("the code is too long to follow")
	}
	if m.lang == commands.Awk {
		m.findCounters()
		m.vars["FILENAME"] = union(literals(m.params)...)
	}
	m.statements(len(m.toks) - 1)
	for i := 0; i < len(m.funcs); i++ {
		if f := m.funcs[i]; !f.called {
			m.invoke(f, nil)
		}
	}
	if *m.steps > maxSteps {
		scanGeneric(m.rep, code) // what it names, if not what it does
	}
}

func literals(list []string) []value {
	out := make([]value, len(list))
	for i, s := range list {
		out[i] = literal(s)
	}
	return out
}

// step counts work; without budget nothing more is evaluated.
func (m *machine) step() bool {
	*m.steps++
	if *m.steps > maxSteps {
		m.rep.opaque("the code is too complex to follow")
		return false
	}
	return true
}

// spend counts the work of looking through n tokens or values.
func (m *machine) spend(n int) { *m.steps += n / 16 }

// spendText counts the work of putting text together.
func (m *machine) spendText(v value) {
	n := 16 * len(v.items)
	for _, s := range v.alts {
		n += len(s)
	}
	m.spend(n)
}

// giveUp gives up: the report is opaque, and nothing more is evaluated.
func (m *machine) giveUp(why string) {
	m.rep.opaque(why)
	*m.steps = maxSteps + 1
}

func (m *machine) tok() lex.Token   { return m.at(m.i) }
func (m *machine) op(s string) bool { t := m.tok(); return t.Kind == lex.Op && t.Text == s }
func (m *machine) word(s string) bool {
	t := m.tok()
	return t.Kind == lex.Word && t.Text == s
}

func (m *machine) at(i int) lex.Token {
	if i >= 0 && i < len(m.toks) {
		return m.toks[i]
	}
	return lex.Token{Kind: lex.End}
}

// skip moves over an operator if it is there.
func (m *machine) skip(s string) bool {
	if m.op(s) {
		m.i++
		return true
	}
	return false
}

// withTokens evaluates other tokens in the same scope.
func (m *machine) withTokens(toks []lex.Token, from int, f func()) {
	if m.depth >= maxDepth {
		m.giveUp("the code is nested too deeply to follow")
		return
	}
	saved, at := m.toks, m.i
	m.toks, m.i = toks, from
	m.depth++
	f()
	m.depth--
	m.toks, m.i = saved, at
}

// evalEmbedded evaluates code inside of a string.
func (m *machine) evalEmbedded(code string) value {
	var v value
	m.spend(4 * len(code))
	m.withTokens(lex.Tokens(m.lang, code), 0, func() {
		if m.tok().Kind == lex.Line {
			m.i++
		}
		v = m.expr(0)
	})
	return v
}

// set assigns. What is assigned inside of a block may not happen, or happen
// again: the old value stays possible, and text that grows may grow on.
func (m *machine) set(name string, v value) {
	if name == "" || name == "_" && m.lang == commands.Python {
		return
	}
	if old, ok := m.vars[name]; ok && m.nest > 0 && old.shape == text && v.shape == text {
		v = either(v, old)
	}
	if len(m.vars) < 4096 {
		m.vars[name] = v
	}
}

// bindNames assigns an element to the targets of a loop or a destructuring.
func (m *machine) bindNames(names []string, v value) {
	m.spend(8 * len(v.items))
	if len(names) == 1 {
		m.set(names[0], v)
		return
	}
	for i, n := range names {
		item := value{}
		switch {
		case v.shape == list && i < len(v.items):
			item = v.items[i]
		case v.shape == dict && len(names) == 2 && i == 0:
			item = union(v.keys...)
		case v.shape == dict && len(names) == 2:
			item = union(v.items...)
		}
		m.set(n, item)
	}
}

// invoke runs a function of the code with arguments.
func (m *machine) invoke(f *function, args []arg) value {
	f.called = true
	if m.depth >= maxDepth || !m.step() {
		return value{}
	}
	if f.running > 1 {
		return m.callItself(f, args)
	}
	f.running++
	saved := map[string]value{}
	for _, p := range f.params {
		p = strings.TrimLeft(p, "*")
		if old, ok := m.vars[p]; ok {
			saved[p] = old
		}
		delete(m.vars, p)
	}
	m.bindParameters(f, args)
	nest, loose := m.nest, m.loose
	m.nest, m.loose = 0, 0
	m.ret = append(m.ret, value{})
	var last value
	m.withTokens(f.toks, f.from, func() { last = m.statements(f.to) })
	r := m.ret[len(m.ret)-1]
	m.ret = m.ret[:len(m.ret)-1]
	m.nest, m.loose = nest, loose
	for k, v := range saved {
		m.vars[k] = v
	}
	f.running--
	if r.shape == unknown {
		return last
	}
	return r
}

// callItself is what a function gives that calls itself for the second time. Where it
// only went further down, that is nothing new.
func (m *machine) callItself(f *function, args []arg) value {
	for _, a := range args {
		v := a.v
		if v.shape == list && len(v.items) > 0 {
			v = v.elements()
		}
		if v.shape == unknown || v.shape == text && !v.num && slices.ContainsFunc(v.alts, func(s string) bool { return !staysBelow(s) }) {
			m.reportWeak(v, f.name)
			return value{}
		}
	}
	return value{shape: never}
}

// bindParameters binds parameters.
func (m *machine) bindParameters(f *function, args []arg) {
	params := f.params
	if len(params) > 0 && (params[0] == "self" || params[0] == "cls") {
		params = params[1:]
	}
	n := 0
	rest := value{shape: list}
	for _, a := range args {
		switch {
		case a.name != "" && slices.Contains(params, a.name):
			m.vars[a.name] = a.v
		case a.name == "" && n < len(params) && strings.HasPrefix(params[n], "*"), a.name == "" && n >= len(params):
			rest.items = append(rest.items, a.v)
		case a.name == "" && n < len(params):
			m.vars[params[n]] = a.v
			n++
		}
	}
	for _, p := range params {
		if _, ok := m.vars[p]; ok {
			continue
		}
		switch name := strings.TrimLeft(p, "*"); {
		case strings.HasPrefix(p, "**"):
			m.vars[name] = m.dictOf(args)
		case strings.HasPrefix(p, "*") && args != nil:
			m.vars[name] = rest
		default:
			m.vars[name] = f.defaults[name]
		}
	}
	if m.lang == commands.Perl {
		m.vars["@_"] = listOf(values(args))
	}
}

// findFunction looks for a function of the code by its name, or a method by its last.
func (m *machine) findFunction(name string) *function {
	last := name[strings.LastIndexByte(name, '.')+1:]
	m.spend(len(m.funcs))
	for i := len(m.funcs) - 1; i >= 0; i-- {
		if f := m.funcs[i]; f.name == name || f.name == last && last != "" {
			return f
		}
	}
	return nil
}

// reportAccess reports a path for every text that a value can be, wherever the code
// may be then.
func (m *machine) reportAccess(role commands.Role, v value, why string) {
	for _, s := range v.texts() {
		if s == "" {
			continue
		}
		for _, d := range m.dirs {
			m.rep.add(Access{Access: commands.Access{Role: role, Path: s, Dir: d, Why: why}})
		}
	}
	m.reportHints(v, why)
}

// reportWeak reports a path that is used in a way that is not known. What is inside of
// a list or a dictionary is data.
func (m *machine) reportWeak(v value, why string) {
	if m.quiet > 0 || v.shape != text {
		return
	}
	for _, s := range v.alts {
		if p, ok := fileURL(s); ok {
			s = p
		}
		if v.path || pathLike(s) {
			m.rep.add(Access{Access: commands.Access{Role: commands.Read, Path: s, Dir: m.dirs[len(m.dirs)-1], Why: why}, Weak: true})
		}
	}
}

// pathLike reports whether a text looks like a path that could lead out.
func pathLike(s string) bool {
	if s == "" || len(s) > 4096 || strings.ContainsAny(s, " \t\n\r<>|\"'`\\") || strings.Contains(s, "://") {
		return false
	}
	return s[0] == '/' || s[0] == '~' || s == ".." || strings.HasPrefix(s, "../") || strings.Contains(s, "/../") || strings.HasSuffix(s, "/..") ||
		mark.Has(s, mark.Outside)
}

// enterDir makes a path the directory of what follows.
func (m *machine) enterDir(v value, why string) {
	m.reportAccess(commands.Enter, v, why)
	var dirs []string
	for _, s := range v.texts() {
		for _, d := range m.dirs {
			if d = joinPath(d, s); !slices.Contains(dirs, d) {
				dirs = append(dirs, d)
			}
		}
	}
	if m.nest > 0 {
		dirs = mergeTexts(dirs, m.dirs)
	}
	if len(dirs) > 4 {
		dirs = []string{mark.Any}
	}
	m.dirs = dirs
}
