package inline

import (
	"slices"
	"strings"

	"cordon/internal/mark"
)

// shape is what kind of thing a value is.
type shape uint8

const (
	unknown shape = iota
	text          // one of several texts, which may hold marks
	list          // items
	dict          // keys and items
	named         // something that is known by its name: os.path.join
	fn            // a function of the code itself
	never         // what a function gives that calls itself: nothing that it does not give anyway
)

// value is what an expression may evaluate to.
type value struct {
	shape shape
	alts  []string
	items []value
	keys  []value
	name  string
	recv  *value // what the name was taken from
	fn    *function
	path  bool     // it is an object that stands for a path
	num   bool     // it is a number
	from  string   // the variable it was read from
	hints []string // paths that it may be, or hold
	of    []string // the files whose text it is
}

func literal(s ...string) value { return value{shape: text, alts: s} }
func pathOf(s []string) value   { return value{shape: text, alts: s, path: true} }
func number(s string) value     { return value{shape: text, alts: []string{s}, num: true} }
func nameOf(s string) value     { return value{shape: named, name: s} }

// listOf is a list. One that is too long is not followed.
func listOf(items []value) value {
	if len(items) > maxItems {
		return value{}
	}
	return value{shape: list, items: items}
}

// texts are what a value can be as text. What is not known is Any.
func (v value) texts() []string {
	if v.shape == text && len(v.alts) > 0 {
		return v.alts
	}
	return []string{mark.Any}
}

// known returns the only text that a value can be.
func (v value) known() (string, bool) {
	if v.shape == text && len(v.alts) == 1 && !mark.In(v.alts[0]) {
		return v.alts[0], true
	}
	return "", false
}

// elements are the values that iterating gives.
func (v value) elements() value {
	switch v.shape {
	case list:
		return union(v.items...)
	case dict:
		return union(v.keys...)
	case text:
		if len(v.alts) > 0 && mark.Has(v.alts[0], mark.Inside+mark.Scratch+mark.Atom+mark.Outside+mark.System) {
			return v
		}
	}
	return value{}
}

// union is a value that is one of several.
func union(vs ...value) value {
	if len(vs) == 0 {
		return value{}
	}
	u := vs[0]
	for _, v := range vs[1:] {
		u = either(u, v)
	}
	return u
}

func either(a, b value) value {
	switch {
	case a.shape == never:
		return b
	case b.shape == never:
		return a
	}
	a.of, b.of = nil, nil
	switch {
	case a.shape == text && b.shape == text:
		a.alts = mergeTexts(a.alts, b.alts)
		a.path = a.path || b.path
		a.num = a.num && b.num
		a.hints = addHints(a.hints, b.hints)
		return a
	case a.shape == list && b.shape == list && len(a.items) == len(b.items):
		items := make([]value, len(a.items))
		for i := range items {
			items[i] = either(a.items[i], b.items[i])
		}
		return listOf(items)
	case a.shape == text || b.shape == text:
		if a.shape != text {
			a, b = b, a
		}
		a.alts, a.num = mergeTexts(a.alts, []string{mark.Any}), false
	case a.shape == unknown || b.shape == fn:
		a, b = b, a
	}
	return withHints(a, b)
}

// mergeTexts adds texts that are not there yet. Too many are anything.
func mergeTexts(a, b []string) []string {
	out := append([]string(nil), a...)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if len(out) > maxAlts {
		return []string{mark.Any}
	}
	return out
}

// combineTexts combines every text of one value with every text of another.
func combineTexts(a, b []string, f func(x, y string) string) []string {
	if len(a)*len(b) > maxAlts {
		return []string{mark.Any}
	}
	var out []string
	for _, x := range a {
		for _, y := range b {
			if s := f(x, y); len(s) > maxText {
				return []string{mark.Any}
			} else if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

func concat(a, b value) value {
	if a.shape == list && b.shape == list {
		return listOf(append(append([]value(nil), a.items...), b.items...))
	}
	switch {
	case a.num && b.num:
		return number(mark.Atom)
	case a.shape != text && b.shape != text:
		return value{hints: addHints(a.hints, b.hints)}
	}
	v := literal(combineTexts(a.texts(), b.texts(), func(x, y string) string { return squeeze(x + y) })...)
	v.hints = addHints(a.hints, b.hints)
	return v
}

// squeeze keeps a run of unknown characters one mark, so that text built from
// many unknown pieces stays short.
func squeeze(s string) string {
	for strings.Contains(s, mark.Any+mark.Any) {
		s = strings.ReplaceAll(s, mark.Any+mark.Any, mark.Any)
	}
	return s
}

// each applies a function to every text of a value.
func (v value) each(f func(string) string) value {
	out := make([]string, 0, len(v.alts))
	for _, s := range v.texts() {
		if s = f(s); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return value{shape: text, alts: out, path: v.path, hints: v.hints}
}

// joined puts paths together: an absolute one begins anew.
func joined(parts ...value) value {
	if len(parts) == 0 {
		return pathOf([]string{"."})
	}
	out := pathOf(parts[0].texts())
	out.hints = parts[0].hints
	for _, p := range parts[1:] {
		out.hints = addHints(out.hints, p.hints)
		out.alts = combineTexts(out.alts, p.texts(), joinPath)
	}
	return out
}

func joinPath(x, y string) string {
	switch {
	case y == "":
		return x
	case x == "" || x == "." && !strings.HasPrefix(y, mark.Any) || strings.HasPrefix(y, "/") || strings.HasPrefix(y, "~"):
		return y
	}
	return squeeze(strings.TrimRight(x, "/") + "/" + y)
}

// parent is the directory of a path. That of the current directory is outside of
// it, which only an absolute path gives, and nobody asks it of a relative one.
func parent(s string) string {
	trimmed := strings.TrimRight(s, "/")
	switch {
	case trimmed == "" && s != "":
		return "/"
	case s == "" || s == ".":
		return ".."
	case s == mark.Inside || s == mark.Atom:
		return "."
	case strings.HasSuffix(trimmed, ".."), trimmed == "~", strings.HasSuffix(trimmed, mark.Any):
		return trimmed + "/.."
	}
	i := strings.LastIndexByte(trimmed, '/')
	switch {
	case i < 0 && mark.In(trimmed):
		return trimmed + "/.."
	case i < 0:
		return "."
	case i == 0:
		return "/"
	}
	return trimmed[:i]
}
