package inline

import (
	"strconv"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/inline/lex"
	"cordon/internal/mark"
)

// nameOperand evaluates an operand that begins with a word.
func (m *machine) nameOperand() value {
	t := m.tok()
	if beginsFunction(m.lang, t.Text) {
		return m.readAnonymous()
	}
	switch t.Text {
	case "lambda":
		return m.readLambda()
	case "getline":
		if m.lang == commands.Awk {
			return m.awkGetline()
		}
	case "do":
		m.i++
		return value{}
	}
	if inSet("before-value", t.Text) {
		m.i++
		return m.expr(levelUnary)
	}
	if m.at(m.i+1).Text == "=>" && m.at(m.i+1).Kind == lex.Op && m.lang == commands.JavaScript {
		return m.readArrow()
	}
	m.i++
	return m.lookupName(t.Text)
}

// lookupName is the value of a variable, a constant or a name.
func (m *machine) lookupName(s string) value {
	if m.lang == commands.Perl && strings.HasPrefix(s, "$") && !m.tok().Spaced && m.tok().Kind == lex.Op {
		if v, ok := m.vars["@"+s[1:]]; ok && m.tok().Text == "[" {
			v.from = "@" + s[1:]
			return v
		}
		if v, ok := m.vars["%"+s[1:]]; ok && m.tok().Text == "{" {
			v.from = "%" + s[1:]
			return v
		}
	}
	if v, ok := m.vars[s]; ok {
		v.from = s
		return v
	}
	if v, ok := m.constant(s); ok {
		return v
	}
	return nameOf(s)
}

// constant is the value of a name that every program of a language finds.
func (m *machine) constant(s string) (value, bool) {
	switch s {
	case "os.sep", "path.sep", "File.SEPARATOR", "File::SEPARATOR":
		return literal("/"), true
	case "os.pardir":
		return literal(".."), true
	case "os.devnull", "File::NULL":
		return literal("/dev/null"), true
	case "__dirname", "import.meta.dirname", "__dir__":
		return literal(joinPath(".", m.ownDirectory())), true
	case "__file__", "__filename", "__FILE__", "$0", "$PROGRAM_NAME", "import.meta.filename", "import.meta.url":
		if m.ownDirectory() != "" {
			return literal(m.params[0]), true
		}
		return literal("./-"), true
	case "sys.executable":
		return literal("python3"), true
	case "process.execPath", "process.argv0":
		return literal("node"), true
	case "sys.argv":
		return listOf(literals(m.params)), true
	case "process.argv":
		if len(m.params) > 0 && m.params[0] == "node" {
			return listOf(literals(m.params)), true
		}
		return listOf(append([]value{literal("node")}, literals(m.params)...)), true
	case "ARGV", "@ARGV", "$ARGV", "$*", "Deno.args", "Bun.argv":
		return listOf(literals(m.arguments())), true
	}
	return value{}, false
}

// arguments are the parameters; awk's begin with its name.
func (m *machine) arguments() []string {
	if m.lang == commands.Awk || len(m.params) == 0 {
		return m.params
	}
	return m.params[1:]
}

// selector reports whether a token takes a member of what is before it.
func (m *machine) selector(t lex.Token) bool {
	if t.Kind != lex.Op {
		return false
	}
	switch t.Text {
	case ".":
		return m.lang != commands.Perl && m.lang != commands.Awk
	case "?.", "::":
		return true
	case "->":
		return m.lang == commands.Perl
	}
	return false
}

// postfix evaluates members, subscripts and calls behind an operand.
func (m *machine) postfix(v value) value {
	for m.step() {
		t := m.tok()
		switch {
		case m.selector(t):
			m.i++
			v = m.member(v)
		case m.isPush(v):
			v = m.perlPush()
		case t.Kind == lex.Op && (t.Text == "++" || t.Text == "--") && !t.Spaced && m.lang != commands.Python && v.shape != fn:
			m.i++
			v = m.countVariable(v)
		case t.Kind == lex.Op && t.Text == "(" && !(m.lang == commands.Awk && (t.Spaced || v.shape != named)):
			v = m.call(v, m.addBlock(m.args(t.N)))
		case m.subscripts(v, t):
			v = m.subscript(v, t.N)
		case m.blockHere(v):
			v = m.call(v, m.addBlock(nil))
		case m.bareArgsFollow(v, t):
			v = m.call(v, m.addBlock(m.bareArgs()))
		default:
			return m.callWithoutParens(v)
		}
	}
	return v
}

// subscripts reports whether a bracket begins a subscript of what is before it.
func (m *machine) subscripts(v value, t lex.Token) bool {
	switch {
	case t.Kind != lex.Op:
		return false
	case t.Text == "[":
		return !(t.Spaced && m.takesBareArgs(v))
	}
	return t.Text == "{" && m.lang == commands.Perl && !t.Spaced && (v.from != "" || m.at(m.i-1).Text == "->" || strings.HasPrefix(v.name, "$"))
}

// callWithoutParens runs a method that is named without parentheses.
func (m *machine) callWithoutParens(v value) value {
	if v.shape == named && (m.lang == commands.Ruby || m.lang == commands.Perl) && v.from == "" && !strings.HasPrefix(v.name, "$") {
		if v.name == "shift" {
			return m.perlShift()
		}
		if _, known := m.findRow(v.name); known || m.findFunction(v.name) != nil || v.recv != nil && m.lang == commands.Ruby {
			return m.call(v, nil)
		}
	}
	return v
}

// perlShift is the next argument of a function or of the program.
func (m *machine) perlShift() value {
	if len(m.ret) == 0 {
		return union(literals(m.arguments())...)
	}
	l := m.vars["@_"]
	if l.shape != list || len(l.items) == 0 {
		return value{}
	}
	m.vars["@_"] = listOf(l.items[1:])
	return l.items[0]
}

// member takes a member by name.
func (m *machine) member(v value) value {
	t := m.tok()
	switch {
	case t.Kind == lex.Word || t.Kind == lex.Text:
		m.i++
		return m.memberNamed(v, t.Text)
	case t.Kind == lex.Op && (t.Text == "[" || t.Text == "{" && m.lang == commands.Perl):
		return m.subscript(v, t.N)
	case t.Kind == lex.Op && (t.Text == "(" || t.Text == "{"):
		return v // f.(x), a?.(x)
	}
	m.i++
	return value{}
}

// memberNamed is a member of a value.
func (m *machine) memberNamed(v value, s string) value {
	switch v.shape {
	case dict:
		if w, ok := entryOf(v, s); ok {
			return w
		}
	case text:
		if w, ok := pathProperty(v, s); ok {
			return w
		}
	case named:
		if len(v.name) > 128 {
			return value{}
		}
		full := strings.TrimPrefix(normalName(v.name+"."+s), "builtins.")
		if w, ok := m.vars[full]; ok {
			w.from = full
			return w
		}
		if inSet("environ", v.name) && s == strings.ToUpper(s) {
			return m.environVariable(literal(s))
		}
		if w, ok := m.constant(full); ok {
			return w
		}
		return value{shape: named, name: full, recv: &v}
	}
	if v.from != "" {
		if w, ok := m.vars[v.from+"."+s]; ok {
			return w
		}
	}
	return value{shape: named, name: "?." + s, recv: &v, hints: v.hints}
}

// normalName drops from a name what only leads to the same thing.
func normalName(s string) string {
	for _, d := range [...]string{"posixpath", "ntpath", "path.posix", "path.win32"} {
		if rest, ok := strings.CutPrefix(s, d); ok && (rest == "" || rest[0] == '.') {
			return strings.Repeat("os.", 1-strings.Count(d, ".")) + "path" + rest
		}
	}
	for _, d := range [...]string{".__dict__", ".promises", ".default", "__builtins__.", "globalThis.", "global.", "window.", "Kernel.", "Base.", "CORE."} {
		if strings.Contains(s, d) {
			if strings.HasPrefix(d, ".") {
				s = strings.Replace(s, d, "", 1)
			} else {
				s = strings.TrimPrefix(s, d)
			}
		}
	}
	return s
}

// entryOf is the entry of a dictionary that a key names, or all if it may be any.
func entryOf(d value, key string) (value, bool) {
	for i := len(d.keys) - 1; i >= 0; i-- {
		if k, ok := d.keys[i].known(); ok && k == key {
			return d.items[i], true
		}
	}
	return value{}, false
}

// pathProperty is a member of a path object or of text that is known without a call.
func pathProperty(v value, s string) (value, bool) {
	switch s {
	case "parent":
		return v.each(parent), true
	case "parents":
		ups := make([]value, 6)
		for i := range ups {
			v = v.each(parent)
			ups[i] = v
		}
		return listOf(ups), true
	case "name", "stem", "suffix":
		if v.path || isListing(v.alts) {
			return v.each(lastPart), true
		}
	case "hex", "parentPath", "year", "month", "day":
		if isListing(v.alts) {
			return v, true
		}
	case "length", "size":
		return number("1"), true
	case "stdout", "path", "absolute", "realpath", "cleanpath", "expand_path":
		v.path = true
		return v, true
	}
	return value{}, false
}

// isListing reports whether texts are what a listing of a directory gives.
func isListing(alts []string) bool {
	for _, s := range alts {
		if strings.Trim(s, mark.Inside+mark.Atom+"/") != "" || s == "" {
			return false
		}
	}
	return len(alts) > 0
}

func lastPart(s string) string {
	s = strings.TrimRight(s, "/")
	if s == mark.Inside {
		return mark.Atom
	}
	return s[strings.LastIndexByte(s, '/')+1:]
}

// environVariable is a variable of the environment.
func (m *machine) environVariable(k value) value {
	name, ok := k.known()
	if !ok {
		return value{}
	}
	for i := len(m.env) - 1; i >= 0; i-- {
		if v, set := strings.CutPrefix(m.env[i], name+"="); set {
			return literal(v)
		}
	}
	switch name {
	case "HOME", "USERPROFILE", "HOMEPATH":
		return literal("~")
	case "PWD", "INIT_CWD":
		return literal(".")
	case "TMPDIR", "TMP", "TEMP":
		return literal(mark.Scratch)
	case "USER", "LOGNAME":
		return literal(mark.Atom)
	}
	return literal(mark.Any)
}

// subscript evaluates v[…].
func (m *machine) subscript(v value, end int) value {
	bare := m.at(m.i + 1)
	start := m.i
	k := value{}
	m.i++
	colon := false
	for m.i < end && m.tok().Kind != lex.End && m.step() {
		at := m.i
		if m.skip(":") || m.skip("::") || m.skip(",") || m.skip("..") || m.skip("...") {
			colon = true
			continue
		}
		k = m.expr(levelAssign)
		if m.i <= at {
			m.i++
		}
	}
	m.i = max(m.i, end+1)
	if bare.Kind == lex.Word && end == start+2 && m.at(start).Text == "{" {
		k = literal(bare.Text)
	}
	if colon {
		return sliceOf(v)
	}
	return m.elementAt(v, k)
}

// elementAt is the element of a value that a key names.
func (m *machine) elementAt(v, k value) value {
	s, known := k.known()
	switch v.shape {
	case list:
		return nthItem(v, s, known)
	case dict:
		if w, ok := entryOf(v, s); known && ok {
			return w
		}
		return withHints(union(v.items...), value{hints: v.hints})
	case named:
		switch name := strings.TrimPrefix(v.name, "$"); {
		case inSet("environ", name):
			return m.environVariable(k)
		case v.name == "Dir" || v.name == "FileList":
			return m.readGlob(k, v.name)
		case k.shape == text && !k.num && known && !strings.HasPrefix(v.name, "$"):
			return m.memberNamed(v, s)
		case k.shape != text && inSet("file-modules", v.name):
			m.rep.opaque("the code looks up a function by an unknown name")
		}
	case text:
		return sliceOf(v)
	}
	return value{hints: v.hints}
}

func nthItem(v value, s string, known bool) value {
	i, err := strconv.Atoi(s)
	if err != nil || !known {
		return union(v.items...)
	}
	if i < 0 {
		i += len(v.items)
	}
	if i >= 0 && i < len(v.items) {
		return v.items[i]
	}
	return value{}
}
