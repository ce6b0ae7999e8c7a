package inline

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// fold evaluates a function or a method of text, a list or a dictionary whose
// result is known without running anything. It follows what becomes of whole
// texts; a text that is cut, reversed or replaced is unknown and keeps its hints.
func (m *machine) fold(callee value, args []arg) (value, bool) {
	last := lastName(callee.name)
	if callee.recv == nil {
		return m.foldFunction(last, args)
	}
	recv := *callee.recv
	switch recv.shape {
	case text:
		v, ok := m.foldText(recv, last, args)
		return withHintsOf(v, &recv, insertedArgs(last, args)), ok
	case list, dict:
		v, ok := m.foldList(recv, last, args)
		return withHintsOf(v, &value{hints: recv.hints}, nil), ok
	}
	return value{}, false
}

// insertedArgs are the arguments of a method of text that become part of its result.
func insertedArgs(name string, args []arg) []value {
	if !inSet("inserts", name) {
		return nil
	}
	var out []value
	for _, a := range args {
		out = append(out, a.v)
	}
	return out
}

func (m *machine) foldFunction(name string, args []arg) (value, bool) {
	vs := values(args)
	switch {
	case inSet("converts", name):
		if len(vs) > 0 {
			return vs[0], true
		}
		return listOf(nil), name == "list" || name == "set"
	case len(vs) == 0:
	case name == "enumerate" || name == "zip":
		return zipped(name, vs), true
	case name == "max" || name == "min" || name == "choice":
		if len(vs) == 1 {
			return vs[0].elements(), vs[0].shape == list || vs[0].shape == text
		}
		return union(vs...), true
	case (name == "map" || name == "filter") && m.lang == commands.Python && len(vs) == 2:
		return m.mapPython(name, vs[0], vs[1]), true
	case name == "format" || name == "sprintf":
		return format(vs[0], args[1:]), true
	case name == "next" && m.lang == commands.Python:
		return union(append(vs[1:len(vs):len(vs)], vs[0].elements())...), true
	}
	return value{}, false
}

// mapPython is map(f, list) and filter(f, list).
func (m *machine) mapPython(name string, f, over value) value {
	if m.depth >= maxDepth || f.shape != fn && f.shape != named || f.name == "None" {
		return over
	}
	m.depth++
	defer func() { m.depth-- }()
	parts := []value{over.elements()}
	if over.shape == list && len(over.items) <= maxAlts {
		parts = over.items
	}
	out := make([]value, len(parts))
	for i, x := range parts {
		out[i] = m.call(f, []arg{{v: x}})
	}
	if name == "filter" {
		return over
	}
	return listOf(out)
}

// zipped is a list with one tuple that is every tuple.
func zipped(name string, vs []value) value {
	var tuple []value
	if name == "enumerate" {
		tuple = append(tuple, number("0"))
		vs = vs[:1]
	}
	for _, v := range vs {
		tuple = append(tuple, v.elements())
	}
	return listOf([]value{listOf(tuple)})
}

func (m *machine) foldText(v value, name string, args []arg) (value, bool) {
	vs := values(args)
	switch {
	case inSet("unchanged", name):
		m.runCallbacks(methodOf(v), args)
		if _, ok := v.known(); ok {
			v = v.each(strings.TrimSpace)
		}
		return v, true
	case name == "format":
		return format(v, args), true
	case name == "repeat" && len(vs) > 0:
		return repeatText(v, vs[0]), true
	case name == "split":
		return splitText(v, vs), true
	case name == "join" && len(vs) > 0 && m.lang == commands.Python:
		return joinText(v, vs[0]), true
	case name == "join" || name == "joinpath":
		return joined(append([]value{v}, vs...)...), true
	case name == "with_name" && len(vs) > 0:
		return joined(v.each(parent), vs[0]), true
	case inSet("cuts", name):
		if v.path {
			return v, true
		}
		return literal(mark.Any), true
	case inSet("maps", name):
		return m.mapText(v, name, args), true
	case name == "strftime" || name == "isoformat":
		dated := len(vs) == 0 || !strings.ContainsAny(firstText(vs[0]), "/~"+mark.Any)
		return literal(mark.Atom), dated && strings.Trim(firstText(v), mark.Atom) == ""
	}
	return value{}, false
}

// methodOf is a method of a value whose name does not matter.
func methodOf(v value) value { return value{shape: named, name: "map", recv: &v} }

// mapText is what a function makes of each line of a listing.
func (m *machine) mapText(v value, name string, args []arg) value {
	given := m.runCallbacks(methodOf(v), args)
	switch {
	case given.shape == never:
		return v
	case given.shape == list && strings.HasPrefix(name, "flat"):
		return given
	}
	return listOf([]value{given})
}

// foldList evaluates a method of a list or a dictionary.
func (m *machine) foldList(v value, name string, args []arg) (value, bool) {
	vs := values(args)
	switch {
	case inSet("pairs", name):
		if v.shape == dict {
			return listOf([]value{listOf([]value{union(v.keys...), union(v.items...)})}), true
		}
		return zipped("enumerate", []value{v}), true
	case name == "keys":
		return listOf(v.keys), true
	case name == "values":
		return listOf(v.items), true
	case inSet("picks", name):
		if len(vs) > 0 {
			return m.elementAt(v, vs[0]), true
		}
		return union(v.items...), true
	case name == "join":
		sep := literal(",")
		if len(vs) > 0 {
			sep = vs[0]
		} else if m.lang == commands.Ruby {
			sep = literal("")
		}
		return joinText(sep, v), true
	case inSet("goes-through", name):
		return m.mapList(v, name, args), true
	case name == "update" || name == "merge!":
		return m.updated(v, args), v.shape == dict
	case inSet("adds", name):
		for _, x := range vs {
			m.addToList(v, x)
		}
		return v, true
	}
	return value{}, false
}

// updated adds entries to a dictionary.
func (m *machine) updated(d value, args []arg) value {
	more := m.dictOf(args)
	m.spend(16 * len(d.items))
	if d.from != "" && len(d.items)+len(more.items) < 8*maxAlts {
		d.keys = append(d.keys[:len(d.keys):len(d.keys)], more.keys...)
		d.items = append(d.items[:len(d.items):len(d.items)], more.items...)
		m.vars[d.from] = d
	}
	return d
}

// mapList applies a function to the elements of a list, one after another where
// they are few, so that its results are a list again.
func (m *machine) mapList(v value, name string, args []arg) value {
	var f *function
	for _, a := range args {
		if a.v.shape == fn {
			f = a.v.fn
		}
	}
	if f == nil || name != "map" && name != "collect" && name != "flatMap" || len(v.items) > maxAlts {
		m.runCallbacks(methodOf(v), args)
		return v
	}
	out := make([]value, 0, len(v.items))
	for _, x := range v.items {
		w := m.invoke(f, []arg{{v: x}})
		if name == "flatMap" {
			out = append(out, items(w)...)
		} else {
			out = append(out, w)
		}
	}
	return listOf(out)
}

// characters is the text with the given numbers of characters.
func characters(args []arg) value {
	v := literal("")
	for _, n := range values(args) {
		for _, x := range items(n) {
			s, ok := x.known()
			r, err := strconv.ParseInt(s, 0, 32)
			if !ok || err != nil || r < 0 || r >= 0x10FF00 {
				return literal(mark.Any)
			}
			v = concat(v, literal(string(rune(r))))
		}
	}
	return v
}

// decoded is text that was hidden in base64 or hexadecimal digits.
func decoded(s string) string {
	s = strings.TrimSpace(s)
	if b, err := hex.DecodeString(s); err == nil && len(b) > 0 && mark.Clean(string(b)) {
		return string(b)
	}
	for _, e := range [...]*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding} {
		if b, err := e.DecodeString(s); err == nil && mark.Clean(string(b)) {
			return string(b)
		}
	}
	return mark.Any
}

// joinText is the elements of a list with a separator between them.
func joinText(sep, v value) value {
	if v.shape != list || len(v.items) > 8*maxAlts {
		return literal(mark.Any)
	}
	out := literal("")
	for i, x := range v.items {
		if i > 0 {
			out = concat(out, asText(sep))
		}
		out = concat(out, asText(x))
	}
	return out
}

func repeatText(v, n value) value {
	s, ok := n.known()
	k, err := strconv.Atoi(s)
	if !ok || err != nil || k < 0 || k > 1024 {
		return literal(mark.Any)
	}
	return v.each(func(s string) string {
		if len(s)*k > Limit {
			return mark.Any
		}
		return strings.Repeat(s, k)
	})
}

// sliceOf is a part of a text or a list. Any part of a list of paths is one of
// them; the part of another text is unknown.
func sliceOf(v value) value {
	if v.shape != text {
		v.from = ""
		return v
	}
	return withHints(v.each(func(s string) string {
		if s == mark.Inside || s == mark.Scratch || s == mark.Atom {
			return s
		}
		return mark.Any
	}), v)
}

func splitText(v value, vs []value) value {
	s, ok := v.known()
	if !ok {
		return v
	}
	words := strings.Fields(s)
	if len(vs) > 0 {
		by, ok := vs[0].known()
		if !ok {
			return literal(mark.Any)
		}
		words = strings.Split(s, by)
	}
	return listOf(literals(words[:min(len(words), 8*maxAlts)]))
}

// placeholder matches %s and its like, {}, {0} and {name}.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`%[-+ #0-9.]*(\([^)]*\))?[a-zA-Z%]|\{[^{}]*\}`)
})

// format puts arguments where a text has placeholders.
func format(v value, args []arg) value {
	if v.shape != text || len(v.alts) != 1 {
		return literal(mark.Any)
	}
	s, at, n := v.alts[0], 0, 0
	out := literal("")
	for _, loc := range placeholder().FindAllStringIndex(s, 8*maxAlts) {
		out = concat(out, literal(s[at:loc[0]]))
		at = loc[1]
		switch spec := s[loc[0]:at]; {
		case spec == "%%":
			out = concat(out, literal("%"))
			continue
		case spec[0] == '%' && strings.IndexByte("diuxXof", s[at-1]) >= 0:
			out = concat(out, literal(mark.Atom))
		default:
			out = concat(out, asText(placedArgument(spec, args, n)))
		}
		n++
	}
	return concat(out, literal(s[at:]))
}

// placedArgument is the argument that a placeholder stands for, if n are before it.
func placedArgument(spec string, args []arg, n int) value {
	key, _, _ := strings.Cut(strings.Trim(spec, "{}"), ":")
	if i, err := strconv.Atoi(key); err == nil {
		n = i
	} else if spec[0] == '{' && key != "" {
		n = len(args)
	}
	v, _ := nthArg(args, n, key)
	return v
}
