package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
)

// key is a subscript as it was understood, once.
type key struct {
	all, star bool   // @ or *
	word      string // of an associative array
	n         int    // of any other
	known     bool
}

// place is what can be assigned to.
type place struct {
	name        string // "" is none
	key         key
	subscripted bool
}

// place is the target of an arithmetic assignment. Its subscript is evaluated.
func (m *Machine) place(x syntax.ArithmExpr) place {
	w, ok := x.(*syntax.Word)
	if !ok || len(w.Parts) == 0 {
		return place{}
	}
	if name := w.Lit(); name != "" {
		return placeOf(name)
	}
	p, ok := w.Parts[0].(*syntax.ParamExp)
	if !ok || len(w.Parts) > 1 || p.Param == nil || p.Dollar.IsValid() {
		return place{}
	}
	at := placeOf(p.Param.Value)
	if p.Index != nil && at.name != "" {
		at.key, at.subscripted = m.key(m.resolved(at.name), p.Index), true
	}
	return at
}

func placeOf(name string) place {
	if !syntax.ValidName(name) {
		return place{}
	}
	return place{name: name}
}

// spot is the place that a text names: x, or a[1], whose subscript is
// evaluated.
func (m *Machine) spot(ref string) place {
	name, index, ok := strings.Cut(ref, "[")
	if !ok || !strings.HasSuffix(index, "]") {
		return place{name: name}
	}
	return place{name: name, key: m.textKey(m.resolved(name), strings.TrimSuffix(index, "]")), subscripted: true}
}

// textKey is a subscript that comes as a text.
func (m *Machine) textKey(v expand.Variable, s string) key {
	switch {
	case s == "@" || s == "*":
		return key{all: true, star: s == "*"}
	case v.Kind == expand.Associative:
		m.evaluated(s)
		return key{word: s, known: !mark.In(s) && !strings.ContainsAny(s, "$`")}
	}
	n, known := m.numberOf(s)
	return key{n: n, known: known}
}

// key evaluates a subscript.
func (m *Machine) key(v expand.Variable, x syntax.ArithmExpr) key {
	if w, ok := x.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
		return key{all: true, star: w.Lit() == "*"}
	}
	if v.Kind == expand.Associative {
		s := m.keyWord(x)
		return key{word: s, known: !mark.In(s)}
	}
	n, known := m.arithm(x)
	return key{n: n, known: known}
}

// keyWord is the word that a subscript of an associative array is. The parser
// takes it for arithmetic.
func (m *Machine) keyWord(x syntax.ArithmExpr) string {
	if w, ok := x.(*syntax.Word); ok {
		return m.literal(w)
	}
	plain := true
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			plain = false
		}
		return plain
	})
	var b strings.Builder
	if !plain || syntax.NewPrinter().Print(&b, &syntax.ArithmExp{X: x}) != nil {
		m.inner(x)
		return mark.Any
	}
	s := strings.TrimSuffix(strings.TrimPrefix(b.String(), "$(("), "))")
	return strings.ReplaceAll(s, " ", "")
}

// resolved is a variable behind its references, as a word of the script sees it.
func (m *Machine) resolved(name string) expand.Variable {
	v := m.get(name)
	if v.Kind != expand.NameRef {
		return v
	}
	if _, r := v.Resolve(environ{m: m}); r.Kind != expand.NameRef {
		return r
	}
	return expand.Variable{}
}

// element is one element of a variable, and whether it is set.
func (m *Machine) element(v expand.Variable, k key) (string, bool) {
	switch v.Kind {
	case expand.Indexed:
		n := k.n
		if n < 0 {
			n += highest(v) + 1
		}
		if !k.known {
			return oneOf(v.List), len(v.List) > 0
		}
		if at, ok := position(v, n); ok {
			return v.List[at], true
		}
		return "", false
	case expand.Associative:
		return mapped(v.Map, k)
	}
	if v.IsSet() && (k.known && (k.n == 0 || k.n == -1) || !k.known || mark.Has(v.Str, mark.Any)) {
		return v.Str, true
	}
	return "", false
}

// mapped is an element of an associative array. An element whose key is not
// known may be any of them.
func mapped(all map[string]string, k key) (string, bool) {
	if s, ok := all[k.word]; ok && k.known {
		return s, true
	}
	list := make([]string, 0, len(all))
	unknown := !k.known
	for name, s := range all {
		list = append(list, s)
		unknown = unknown || mark.In(name)
	}
	if !unknown {
		return "", false
	}
	slices.Sort(list)
	return oneOf(list), len(list) > 0
}

// oneOf is what is known of one of several texts.
func oneOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	same, words := true, true
	for _, s := range list {
		same = same && s == list[0]
		words = words && s != "" && s != "." && s != ".." && s[0] != '-' && s[0] != '~' && !strings.ContainsAny(s, "/ \t\n") && (!mark.In(s) || s == mark.Atom)
	}
	switch {
	case same:
		return list[0]
	case words:
		return mark.Atom
	}
	return mark.Any
}

func highest(v expand.Variable) int {
	if len(v.Indexes) > 0 {
		return v.Indexes[len(v.Indexes)-1]
	}
	return len(v.List) - 1
}

// position is where in the list the element with an index is.
func position(v expand.Variable, n int) (int, bool) {
	if v.Indexes != nil {
		return slices.BinarySearch(v.Indexes, n)
	}
	return n, n >= 0 && n < len(v.List)
}

// with is a variable with one element set. One whose index is not known may be
// any of the elements.
func with(v expand.Variable, k key, value string) expand.Variable {
	if v.Kind == expand.Associative {
		all := map[string]string{}
		maps.Copy(all, v.Map)
		all[k.word] = value
		v.Map, v.Set = all, true
		return v
	}
	if v.Kind != expand.Indexed {
		v = arrayed(v)
	}
	v.Set = true
	n := k.n
	if n < 0 {
		n += highest(v) + 1
	}
	if !k.known || n < 0 {
		top := highest(v) + 1
		return insert(insert(v, top, value), top+1, mark.Any)
	}
	return insert(v, n, value)
}

// insert sets the element with an index. Lists are never changed in place: other
// shells share them.
func insert(v expand.Variable, n int, value string) expand.Variable {
	at, found := position(v, n)
	if found {
		v.List = slices.Clone(v.List)
		v.List[at] = value
		return v
	}
	if v.Indexes == nil && n == len(v.List) {
		v.List = append(v.List[:len(v.List):len(v.List)], value)
		return v
	}
	if v.Indexes == nil {
		v.Indexes = firstIndexes(len(v.List))
		at = len(v.List)
	}
	v.List = slices.Insert(slices.Clone(v.List), at, value)
	v.Indexes = slices.Insert(slices.Clone(v.Indexes), at, n)
	return v
}

// without is a variable with one element unset. An element that is not known
// stays, and so do those of associative arrays.
func without(v expand.Variable, k key) expand.Variable {
	if k.all {
		return expand.Variable{Kind: v.Kind, Set: true}
	}
	n := k.n
	if n < 0 {
		n += highest(v) + 1
	}
	at, ok := position(v, n)
	if !ok || !k.known || v.Kind != expand.Indexed {
		return v
	}
	if v.Indexes == nil && at < len(v.List)-1 {
		v.Indexes = firstIndexes(len(v.List))
	}
	v.List = slices.Delete(slices.Clone(v.List), at, at+1)
	if v.Indexes != nil {
		v.Indexes = slices.Delete(slices.Clone(v.Indexes), at, at+1)
	}
	return v
}

// firstIndexes are 0, 1, 2 …
func firstIndexes(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// store gives a place a value. That of an array's name is its first element.
func (m *Machine) store(p place, value string) {
	if p.name == "" {
		return
	}
	v := m.resolved(p.name)
	if !m.known(p.name) {
		v = expand.Variable{}
	}
	switch {
	case p.subscripted && p.key.all:
		m.setPlain(p.name, mark.Any)
	case p.subscripted:
		m.set(p.name, with(v, p.key, value))
	case v.Kind == expand.Indexed || v.Kind == expand.Associative:
		m.set(p.name, with(v, key{known: true, word: "0"}, value))
	default:
		m.setPlain(p.name, value)
	}
}

// known reports whether the script itself set a variable.
func (m *Machine) known(name string) bool {
	_, ok := m.vars[name]
	return ok
}

// literalArray is (a b [3]=c), added to what there is.
func (m *Machine) literalArray(x *syntax.ArrayExpr, v expand.Variable) expand.Variable {
	v = arrayed(v)
	var pairs []string
	next := highest(v) + 1
	for _, e := range x.Elems {
		if e.Index != nil {
			k := m.key(v, e.Index)
			v = with(v, k, m.literal(e.Value))
			if next = highest(v) + 1; k.known && k.n >= 0 {
				next = k.n + 1
			}
			continue
		}
		if e.Value == nil {
			continue
		}
		words := m.fields(e.Value)
		if unquoted(e.Value) {
			words = repeated(words)
		}
		if v.Kind == expand.Associative {
			pairs = append(pairs, words...)
			continue
		}
		m.run.grow(16 * len(words))
		v = inserted(v, next, words)
		next += len(words)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		v = with(v, key{word: pairs[i], known: !mark.In(pairs[i])}, pairs[i+1])
	}
	return v
}

// arrayed is a variable as an array of its own.
func arrayed(v expand.Variable) expand.Variable {
	if v.Kind != expand.Associative && v.Kind != expand.Indexed {
		set, s := v.IsSet(), v.Str
		v.Kind, v.Str, v.List = expand.Indexed, "", nil
		if set {
			v.List = []string{s}
		}
	}
	v.List, v.Set = slices.Clone(v.List), true
	return v
}

// inserted sets elements one after the other in a list that nobody shares.
func inserted(v expand.Variable, next int, words []string) expand.Variable {
	for i, s := range words {
		if v.Indexes == nil && next == len(v.List) {
			v.List = append(v.List, words[i:]...)
			return v
		}
		v = insert(v, next, s)
		next++
	}
	return v
}

// unquoted reports whether a word is one expansion that may make several.
func unquoted(w *syntax.Word) bool {
	if len(w.Parts) != 1 {
		return false
	}
	switch w.Parts[0].(type) {
	case *syntax.CmdSubst, *syntax.ParamExp:
		return true
	}
	return false
}

// repeated are words of which those that stand for any number are there more
// than once.
func repeated(words []string) []string {
	var list []string
	for _, w := range words {
		list = append(list, w)
		switch w {
		case mark.Any, mark.Inside, mark.Outside, mark.Scratch, mark.System:
			list = append(list, w, w)
		}
	}
	return list
}
