package inline

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/inline/lex"
	"cordon/internal/mark"
)

// assignment evaluates an assignment, if one begins here.
func (m *machine) assignment() (value, bool) {
	start := m.i
	for m.word("my") || m.word("our") || m.word("local") || m.word("const") || m.word("let") || m.word("var") {
		m.i++
	}
	t := m.tok()
	if t.Kind == lex.Op && (t.Text == "{" || t.Text == "[" || t.Text == "(") && isAssignment(m.at(t.N+1)) {
		return m.destructure(t.N), true
	}
	if t.Kind != lex.Word {
		m.i = start
		return value{}, false
	}
	if names := m.tupleNames(); names != nil {
		v := m.rightSide()
		m.bindNames(names, v)
		return v, true
	}
	return m.assignSingle(start)
}

// isAssignment reports whether a token is an operator that assigns.
func isAssignment(t lex.Token) bool {
	if t.Kind != lex.Op {
		return false
	}
	switch t.Text {
	case "=", "+=", ".=", "||=", "&&=", "??=", ":=", "<-", "<<-", "//=", "-=", "*=", "/=", "%=", "|=", "&=", "**=":
		return true
	}
	return false
}

// assignSingle reads name = v, name.attr = v and name[key] = v.
func (m *machine) assignSingle(start int) (value, bool) {
	name := m.tok().Text
	i := m.i + 1
	for m.selector(m.at(i)) && m.at(i+1).Kind == lex.Word && len(name) < 256 {
		name += "." + m.at(i+1).Text
		i += 2
	}
	key := -1
	for t := m.at(i); t.Kind == lex.Op && (t.Text == "[" || t.Text == "{" && m.lang == commands.Perl) && t.N > i; t = m.at(i) {
		key, i = i, t.N+1
	}
	op := m.at(i)
	if op.Kind == lex.Op && op.Text == ":" && m.lang == commands.Python && key < 0 && m.at(i+1).Kind == lex.Word { // a type
		for j := i; j < i+8 && m.at(j).Kind != lex.Line; j++ {
			if m.at(j).Kind == lex.Op && m.at(j).Text == "=" {
				i, op = j, m.at(j)
			}
		}
	}
	if !isAssignment(op) || op.Text == "<-" || op.Text == "%=" && m.lang == commands.Ruby {
		m.i = start
		return value{}, false
	}
	if key >= 0 {
		return m.assignEntry(name, key, i), true
	}
	m.i = i + 1
	v := m.rightSide()
	m.assignWith(name, op.Text, v)
	return v, true
}

// assignWith assigns, or adds to what is there.
func (m *machine) assignWith(name, op string, v value) {
	name = m.canonical(name)
	if i := strings.LastIndexByte(name, '.'); i > 0 && inSet("environ", name[:i]) {
		m.setenv(literal(name[i+1:]), v)
	}
	switch op {
	case "+=", ".=":
		old, ok := m.vars[name]
		if !ok {
			old = literal(mark.Any)
		}
		grown := concat(old, v)
		if m.nest > 0 && grown.shape == text {
			// It may grow again before it is used.
			grown = either(grown, concat(grown, literal(mark.Any)))
		}
		m.vars[name] = grown
	case "=", ":=":
		m.set(name, v)
	case "/=": // of a path in Python
		m.set(name, joined(m.vars[name], v))
	default:
		m.set(name, either(m.vars[name], v))
	}
}

// canonical is a dotted name with its first part resolved.
func (m *machine) canonical(name string) string {
	head, tail, dotted := strings.Cut(name, ".")
	if v, ok := m.vars[head]; ok && dotted && v.shape == named {
		return v.name + "." + tail
	}
	return name
}

// assignEntry assigns to one entry of a list, a dictionary or the environment.
func (m *machine) assignEntry(name string, key, op int) value {
	m.i = key + 1
	k := m.expr(levelAssign)
	if t := m.at(key + 1); t.Kind == lex.Word && m.at(key+2).Text == "}" {
		k = literal(t.Text)
	}
	m.i = op + 1
	v := m.rightSide()
	if inSet("environ", strings.TrimPrefix(m.canonical(name), "$")) {
		m.setenv(k, v)
		return v
	}
	if m.lang == commands.Awk && name == "ARGV" { // a file that is read
		m.reportAccess(commands.Read, asText(v), "ARGV")
	}
	d, ok := m.vars[name]
	if !ok {
		d = value{shape: dict}
	}
	m.spend(16 * len(d.items))
	switch d.shape {
	case dict:
		d.keys, d.items = append(d.keys[:len(d.keys):len(d.keys)], k), append(d.items[:len(d.items):len(d.items)], v)
	case list:
		d.items = append(d.items[:len(d.items):len(d.items)], v)
	}
	if len(d.items) < 8*maxAlts {
		m.vars[name] = d
	}
	return v
}

func (m *machine) setenv(k, v value) {
	name, ok := k.known()
	if !ok || len(m.env) > maxAlts {
		m.rep.opaque("the code sets an environment variable whose name is not known")
		return
	}
	for _, s := range v.texts() {
		m.env = append(m.env, name+"="+s)
	}
}

// rightSide evaluates what is assigned: a value, or several.
func (m *machine) rightSide() value {
	v := m.expr(levelAssign)
	if !m.op(",") || m.lang != commands.Python && m.lang != commands.Ruby {
		return v
	}
	items := []value{v}
	for m.skip(",") {
		items = append(items, m.expr(levelChoice))
	}
	return listOf(items)
}

// tupleNames reads a, b = where several names are assigned; nil if that is not here.
func (m *machine) tupleNames() []string {
	if m.lang != commands.Python && m.lang != commands.Ruby {
		return nil
	}
	var names []string
	for i := m.i; m.at(i).Kind == lex.Word; i++ {
		names = append(names, m.at(i).Text)
		next := m.at(i + 1)
		switch {
		case next.Kind == lex.Op && next.Text == "," && len(names) < 32:
			i++
		case next.Kind == lex.Op && next.Text == "=" && len(names) > 1:
			m.i = i + 2
			return names
		default:
			return nil
		}
	}
	return nil
}

// destructure reads {a, b: c} = v, [a, b] = v and ($a, $b) = v.
func (m *machine) destructure(end int) value {
	braces := m.op("{")
	var names, keys []string
	for i := m.i + 1; i < end; i++ {
		t := m.at(i)
		if t.Kind != lex.Word || t.Text == "my" {
			continue
		}
		if prev := m.at(i - 1); prev.Text == ":" && prev.Kind == lex.Op && len(names) > 0 {
			names[len(names)-1] = t.Text
			continue
		}
		if prev := m.at(i - 1); prev.Text == "=" && prev.Kind == lex.Op {
			continue
		}
		names, keys = append(names, t.Text), append(keys, t.Text)
	}
	m.i = end + 2
	v := m.rightSide()
	if !braces {
		if len(names) == 1 {
			v = v.elements()
		}
		m.bindNames(names, v)
		return v
	}
	for i, n := range names {
		m.set(n, m.memberNamed(v, keys[i]))
	}
	return v
}

// addToList adds an element to a list that a variable holds.
func (m *machine) addToList(v, item value) {
	if v.from == "" {
		return
	}
	old := m.vars[v.from]
	m.spend(16 * len(old.items))
	if old.shape == text && m.lang == commands.Ruby {
		m.vars[v.from] = concat(old, item)
	} else if old.shape == list && len(old.items) < 8*maxAlts {
		old.items = append(old.items[:len(old.items):len(old.items)], item)
		m.vars[v.from] = old
	}
}
