package inline

import "cordon/internal/commands"

// foldedList evaluates a method of a list or a dictionary.
func (m *machine) foldedList(v value, name string, args []arg) (value, bool) {
	vs := values(args)
	switch name {
	case "items", "entries", "pairs", "iteritems":
		if v.shape == dict {
			return listOf([]value{listOf([]value{union(v.keys...), union(v.items...)})}), true
		}
		return m.zipped("enumerate", []value{v}), true
	case "keys":
		return listOf(v.keys), true
	case "values":
		return listOf(v.items), true
	case "get", "fetch", "pop", "shift", "first", "last", "at", "popleft", "popitem", "sample", "dig", "min", "max":
		if len(vs) > 0 {
			return m.indexed(v, vs[0]), true
		}
		return union(v.items...), true
	case "join":
		sep := literal(",")
		if len(vs) > 0 {
			sep = vs[0]
		} else if m.lang == commands.Ruby {
			sep = literal("")
		}
		return joinText(sep, v), true
	case "reverse":
		out := make([]value, len(v.items))
		for i, x := range v.items {
			out[len(out)-1-i] = x
		}
		return listOf(out), true
	case "concat":
		for _, x := range vs {
			v = listOf(append(v.items[:len(v.items):len(v.items)], items(x)...))
		}
		return v, true
	case "slice", "filter", "sort", "map", "select", "reject", "uniq", "compact", "to_a", "flat", "copy", "each_with_index", "each", "forEach",
		"collect", "flatMap", "find", "some", "every":
		return m.mapped(v, name, args), true
	case "update", "merge!", "setdefault":
		return m.updated(v, name, args), v.shape == dict
	case "append", "push", "add", "extend", "unshift", "insert", "concat!":
		for _, x := range vs {
			m.grow(v, x)
		}
		return v, true
	}
	return value{}, false
}

// updated adds entries to a dictionary.
func (m *machine) updated(d value, name string, args []arg) value {
	more := value{shape: dict}
	vs := values(args)
	if name == "setdefault" && len(vs) > 1 {
		more.keys, more.items = vs[:1], vs[1:2]
	} else {
		more = m.dictOf(args)
	}
	m.spend(16 * len(d.items))
	if d.from != "" && len(d.items)+len(more.items) < 8*maxAlts {
		d.keys = append(d.keys[:len(d.keys):len(d.keys)], more.keys...)
		d.items = append(d.items[:len(d.items):len(d.items)], more.items...)
		m.vars[d.from] = d
	}
	if name == "setdefault" && len(vs) > 1 {
		return either(vs[1], m.indexed(d, vs[0]))
	}
	return d
}

// mapped applies a function to the elements of a list, one after another where
// they are few, so that what it gives is a list again.
func (m *machine) mapped(v value, name string, args []arg) value {
	var f *function
	for _, a := range args {
		if a.v.shape == fn {
			f = a.v.fn
		}
	}
	if f == nil {
		m.callbacks(nameWith(v), args)
		return v
	}
	if name != "map" && name != "collect" && name != "flatMap" || len(v.items) > maxAlts {
		m.callbacks(nameWith(v), args)
		return v
	}
	out := make([]value, 0, len(v.items))
	for _, x := range v.items {
		w := m.invoke(f, []arg{{v: x}}, nil)
		if name == "flatMap" {
			out = append(out, items(w)...)
		} else {
			out = append(out, w)
		}
	}
	return listOf(out)
}
