package inline

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// folded evaluates a method of text, a list or a dictionary whose result is
// known without running anything.
func (m *machine) folded(callee value, args []arg) (value, bool) {
	last := lastName(callee.name)
	if callee.recv == nil {
		return m.foldedAlone(last, args)
	}
	recv := *callee.recv
	var v value
	ok := false
	switch recv.shape {
	case text:
		v, ok = m.foldedText(recv, last, args)
		v = carried(v, &recv, put(last, args))
	case list, dict:
		v, ok = m.foldedList(recv, last, args)
		v = carried(v, &value{hints: recv.hints}, nil)
	}
	return v, ok
}

// put are the arguments of a method of text that become part of what it gives.
func put(name string, args []arg) []value {
	vs := values(args)
	switch name {
	case "replace", "replaceAll", "sub", "gsub":
		return vs[min(1, len(vs)):]
	case "format", "join", "concat", "joinpath":
		for _, a := range args {
			if a.name != "" {
				vs = append(vs, a.v)
			}
		}
		return vs
	}
	return nil
}

func (m *machine) foldedAlone(name string, args []arg) (value, bool) {
	vs := values(args)
	switch name {
	case "str", "String", "string", "list", "set", "sorted", "tuple", "bytes", "iter", "reversed", "Array", "fspath", "c", "shellQuote", "Symbol",
		"Set", "frozenset", "deque":
		if name == "c" || name == "Array" && len(vs) > 1 {
			return listOf(vs), true
		}
		if len(vs) > 0 {
			return vs[0], true
		}
		if name == "list" || name == "set" {
			return listOf(nil), true
		}
	case "array":
		return m.arrayOf(args), true
	case "enumerate", "zip":
		if len(vs) > 0 {
			return m.zipped(name, vs), true
		}
	case "max", "min", "choice":
		if len(vs) == 1 {
			return vs[0].elements(), vs[0].shape == list || vs[0].shape == text
		}
		return union(vs...), len(vs) > 0
	case "map", "filter":
		if m.lang == commands.Python && len(vs) == 2 {
			return m.pythonMap(name, vs), true
		}
	case "format", "sprintf":
		if len(vs) > 0 {
			return format(vs[0], vs[1:]), true
		}
	case "pairs", "ipairs", "next":
		if len(vs) > 0 && m.lang == commands.Python {
			return union(append(vs[1:len(vs):len(vs)], vs[0].elements())...), true
		}
		if len(vs) > 0 && (vs[0].shape == dict || vs[0].shape == list) {
			return listOf([]value{listOf([]value{union(vs[0].keys...), union(vs[0].items...)})}), true
		}
	}
	return value{}, false
}

// pythonMap is map(f, list) and filter(f, list).
func (m *machine) pythonMap(name string, vs []value) value {
	f, over := vs[0], vs[1]
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

// arrayOf is array(…) of PHP.
func (m *machine) arrayOf(args []arg) value {
	if len(args) > 0 && args[0].name != "" {
		return m.dictOf(args)
	}
	return listOf(values(args))
}

// zipped is a list with one tuple that is every tuple.
func (m *machine) zipped(name string, vs []value) value {
	tuple := make([]value, 0, len(vs)+1)
	if name == "enumerate" {
		tuple = append(tuple, number("0"))
		vs = vs[:1]
	}
	for _, v := range vs {
		tuple = append(tuple, v.elements())
	}
	return listOf([]value{listOf(tuple)})
}

func (m *machine) foldedText(v value, name string, args []arg) (value, bool) {
	vs := values(args)
	switch name {
	case "strip", "trim", "chomp", "rstrip", "lstrip", "trimEnd", "trimStart", "encode", "decode", "toString", "to_s", "to_str", "toLowerCase",
		"lower", "downcase", "dup", "freeze",
		"splitlines", "lines", "read", "readlines", "communicate", "each_line", "splitn", "as_posix", "resolve", "absolute", "expanduser", "expand_path",
		"realpath", "to_path", "valueOf", "normalize", "String", "b", "toAbsolutePath", "clone", "then", "copy", "cleanpath", "chars", "to_a", "to_sym",
		"flat", "sort", "filter", "select", "reject", "slice", "toArray", "shellescape":
		m.callbacks(nameWith(v), args)
		return tidied(v, name), true
	case "upper", "toUpperCase", "upcase":
		return v.each(strings.ToUpper), true
	case "format":
		return formatBraces(v, args), true
	case "reverse":
		return v.each(reversed), true
	case "repeat", "rep":
		if len(vs) > 0 {
			return repeat(v, vs[0]), true
		}
	case "concat":
		return joinText(literal(""), listOf(append([]value{v}, vs...))), true
	case "replace", "replaceAll", "sub", "gsub", "tr":
		return replaced(v, vs), true
	case "split":
		return splitText(v, vs), true
	case "joinpath":
		return joined(append([]value{v}, vs...)...), true
	case "with_suffix", "with_name", "with_stem", "relative_to", "removeprefix", "removesuffix", "substring", "substr", "charAt":
		if name == "with_name" && len(vs) > 0 {
			return joined(v.each(parent), vs[0]), true
		}
		if v.path {
			return v, true
		}
		return literal(mark.Any), true
	case "join":
		if len(vs) > 0 && m.lang == commands.Python {
			return joinText(v, vs[0]), true
		}
		return joined(append([]value{v}, vs...)...), true
	case "map", "flatMap", "collect", "flat_map", "filter_map":
		return m.mappedText(v, name, args), true
	case "forEach", "each", "map!":
		m.callbacks(nameWith(v), args)
		return v, true
	case "strftime", "isoformat":
		if len(vs) == 0 || !strings.ContainsAny(firstText(vs[0]), "/~"+mark.Any) {
			return literal(mark.Atom), strings.Trim(firstText(v), mark.Atom) == ""
		}
	}
	return value{}, false
}

// tidied is a text after a method that hardly changes it.
func tidied(v value, name string) value {
	switch name {
	case "lower", "toLowerCase", "downcase":
		return v.each(strings.ToLower)
	case "strip", "trim", "chomp":
		return v.each(strings.TrimSpace)
	}
	return v
}

// nameWith is a method of a value whose name does not matter.
func nameWith(v value) value { return value{shape: named, name: "map", recv: &v} }

// mappedText is what a function makes of each line of a listing.
func (m *machine) mappedText(v value, name string, args []arg) value {
	given := m.callbacks(nameWith(v), args)
	switch {
	case given.shape == never:
		return v
	case given.shape == list && strings.HasPrefix(name, "flat"):
		return given
	}
	return listOf([]value{given})
}

// performText does what a row says that makes text.
func (m *machine) performText(r row, recv value, args []arg, a value) value {
	switch r.act {
	case actChars:
		v := literal("")
		for _, n := range values(args) {
			for _, x := range items(n) {
				v = concat(v, character(x))
			}
		}
		return v
	case actDecode:
		if a.shape != text {
			return literal(mark.Any)
		}
		if b, ok := nthArg(args, 1); m.lang == commands.JavaScript && (!ok || firstText(b) != "base64" && firstText(b) != "hex" &&
			firstText(b) != "base64url") && r.name == "Buffer.from" {
			return a
		}
		return a.each(decoded)
	case actFormat:
		if vs := values(args); len(vs) > 0 {
			return format(vs[0], vs[1:])
		}
	case actJoinText:
		return joinAny(values(args))
	}
	return value{}
}

// joinAny is implode(sep, list), join(sep, list), table.concat(list, sep) and paste.
func joinAny(vs []value) value {
	sep := literal("")
	var parts []value
	for i, v := range vs {
		switch {
		case v.shape == list:
			parts = append(parts, v.items...)
		case v.shape == text && i == 0 && len(vs) > 1, v.shape == text && i == 1 && vs[0].shape == list:
			sep = v
		default:
			parts = append(parts, v)
		}
	}
	return joinText(sep, listOf(parts))
}

func character(v value) value {
	s, ok := v.known()
	n, err := strconv.ParseInt(s, 0, 32)
	if !ok || err != nil || n < 0 || n >= 0x10FF00 {
		return literal(mark.Any)
	}
	return literal(string(rune(n)))
}

// decoded is text that was hidden in base64 or hexadecimal digits.
func decoded(s string) string {
	if mark.In(s) {
		return mark.Any
	}
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

func repeat(v, n value) value {
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

func reversed(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

// sliced is a part of a text or a list. Only whole and backward slices are
// followed; of a list of paths any part is one of them.
func sliced(v value, toks []token) value {
	var b strings.Builder
	for _, t := range toks {
		b.WriteString(t.s)
	}
	switch {
	case v.shape == list:
		return v
	case v.shape != text:
		return value{}
	case b.String() == "::-1":
		return v.each(reversed)
	case b.String() == ":" || b.String() == "::":
		return v
	}
	return v.each(func(s string) string {
		if s == mark.Inside || s == mark.Scratch || s == mark.Atom {
			return s
		}
		return cut(s, b.String())
	})
}

// cut is text[a:b] for numbers a and b.
func cut(s, spec string) string {
	from, to, _ := strings.Cut(spec, ":")
	i, j := 0, len(s)
	if n, err := strconv.Atoi(from); err == nil {
		i = n
	} else if from != "" {
		return mark.Any
	}
	if n, err := strconv.Atoi(to); err == nil {
		j = n
	} else if to != "" {
		return mark.Any
	}
	if i < 0 {
		i += len(s)
	}
	if j < 0 {
		j += len(s)
	}
	if mark.In(s) || i < 0 || j > len(s) || i > j {
		return mark.Any
	}
	return s[i:j]
}

func replaced(v value, vs []value) value {
	if len(vs) < 2 {
		return literal(mark.Any)
	}
	from, ok := vs[0].known()
	if _, single := v.known(); !ok || !single || from == "" || vs[1].shape != text {
		return literal(mark.Any)
	}
	return literal(product(v.texts(), vs[1].texts(), func(s, to string) string {
		if strings.Count(s, from)*len(to) > Limit {
			return mark.Any
		}
		return strings.ReplaceAll(s, from, to)
	})...)
}

func splitText(v value, vs []value) value {
	s, ok := v.known()
	if !ok {
		return v
	}
	if len(vs) == 0 {
		return listOf(literals(firstN(strings.Fields(s))))
	}
	by, ok := vs[0].known()
	if !ok {
		return literal(mark.Any)
	}
	return listOf(literals(strings.SplitN(s, by, 8*maxAlts)))
}

func firstN(list []string) []string { return list[:min(len(list), 8*maxAlts)] }
