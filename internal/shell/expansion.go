package shell

import (
	"slices"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

// values are what a parameter is before and after its operators.
type values struct {
	list  []string
	many  bool // @ or *: each is a word
	star  bool // *: quoted, they are one word
	set   bool
	given bool  // it comes from an environment that nobody knows
	at    place // where := puts a value
}

// parameterValues is the parameter that an expansion is about.
func (m *Machine) parameterValues(p *syntax.ParamExp) values {
	name := p.Param.Value
	if p.Excl {
		return m.indirectValues(p)
	}
	if name == "@" || name == "*" {
		list := m.params
		if p.Slice != nil { // it counts from $0
			list = append([]string{m.zero}, list...)
		}
		return values{list: list, many: true, star: name == "*", set: len(m.params) > 0}
	}
	at := place{name: name}
	v := m.resolved(name)
	if p.Index != nil {
		at.key, at.subscripted = m.key(v, p.Index), true
	}
	return m.valuesAt(at, v)
}

// valuesAt are the values at a place.
func (m *Machine) valuesAt(at place, v expand.Variable) values {
	_, special := m.special(at.name)
	out := values{at: at, set: v.IsSet(), given: !m.setByScript(at.name) && !special && !strings.HasSuffix(at.name, "]")}
	switch {
	case at.subscripted && at.key.All:
		out.many, out.star = true, at.key.Star
		out.list, _ = partial.Elements(v)
		out.set = len(out.list) > 0
	case at.subscripted:
		s, set := partial.Element(v, at.key)
		out.list, out.set = []string{s}, set
	case v.Kind == expand.Indexed || v.Kind == expand.Associative:
		s, set := partial.Element(v, partial.Key{Known: true, Word: "0"})
		out.list, out.set = []string{s}, set
	default:
		out.list = []string{v.String()}
	}
	return out
}

// indirectValues is ${!name} and ${!name[@]}.
func (m *Machine) indirectValues(p *syntax.ParamExp) values {
	name := p.Param.Value
	raw := m.get(name)
	if p.Index != nil {
		v := m.resolved(name)
		if k := m.key(v, p.Index); k.All {
			return values{list: partial.Keys(v), many: true, star: k.Star, set: true}
		} else {
			s, _ := partial.Element(v, k)
			return m.referredValues(p, s)
		}
	}
	if raw.Kind == expand.NameRef {
		return values{list: []string{raw.Str}, set: true}
	}
	return m.referredValues(p, m.resolved(name).String())
}

// referredValues is what a name in a variable refers to: with an unknown name,
// anything.
func (m *Machine) referredValues(p *syntax.ParamExp, ref string) values {
	unknown := values{list: []string{mark.Any}, set: true}
	if mark.In(ref) {
		m.runSubstitutions(p)
		return unknown
	}
	if ref == "@" || ref == "*" {
		return values{list: m.params, many: true, star: ref == "*", set: true}
	}
	if _, ok := m.special(ref); ok {
		return m.valuesAt(place{name: ref}, m.resolved(ref))
	}
	at := m.placeNamed(ref)
	if !syntax.ValidName(at.name) {
		return unknown
	}
	return m.valuesAt(at, m.resolved(at.name))
}

// chooseDefault is an operator that chooses between a value and a word: :- := :+
// and their kin. What is not set by the script is most likely not set at all.
func (m *Machine) chooseDefault(p *syntax.ParamExp, v *values, c preparing) ([]syntax.WordPart, bool) {
	op := p.Exp.Op
	empty := !v.set || nullToo(op) && !v.many && v.list[0] == "" || nullToo(op) && v.many && strings.Join(v.list, "") == ""
	unsure := !empty && (nullToo(op) || v.given) && strings.Join(v.list, "") == mark.Any
	switch op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if v.given {
			m.countAsUnset(p.Param.Value, c)
			empty = true
		} else if unsure && m.tempting(p, c) {
			empty = !m.run.decide(p.Pos())
		}
		if !empty {
			return nil, false
		}
		if op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull {
			return m.assignDefault(p, v, c), true
		}
		return m.words(p.Exp.Word, c), true
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if unsure && m.tempting(p, c) {
			empty = !m.run.decide(p.Pos())
		}
		if empty {
			return m.partsOf(values{many: v.many}, c), true
		}
		return m.words(p.Exp.Word, c), true
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if p.Exp.Word != nil {
			m.runSubstitutions(p.Exp.Word)
		}
		if empty {
			return unknownParts(), true
		}
	}
	return nil, false
}

// countAsUnset notes that a name counts as unset for the rest of a word.
func (m *Machine) countAsUnset(name string, c preparing) {
	if *c.absent == nil {
		*c.absent = map[string]bool{}
	}
	(*c.absent)[name] = true
}

// tempting reports whether it matters which of a value and a word is chosen: the
// word leads somewhere, or what stands beside it means something else without it.
func (m *Machine) tempting(p *syntax.ParamExp, c preparing) bool {
	if !c.alone {
		return true
	}
	found := false
	if p.Exp.Word != nil {
		syntax.Walk(p.Exp.Word, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Lit:
				found = found || strings.Contains(n.Value, "/") || strings.Contains(n.Value, "..")
			case *syntax.ParamExp, *syntax.CmdSubst:
				found = true
			}
			return !found
		})
	}
	return found
}

func nullToo(op syntax.ParExpOperator) bool {
	return slices.Contains([]syntax.ParExpOperator{syntax.DefaultUnsetOrNull, syntax.AssignUnsetOrNull, syntax.AlternateUnsetOrNull, syntax.ErrorUnsetOrNull}, op)
}

// assignDefault is ${x:=word}.
func (m *Machine) assignDefault(p *syntax.ParamExp, v *values, c preparing) []syntax.WordPart {
	s := m.literal(p.Exp.Word)
	if v.at.name != "" {
		m.store(v.at, s)
	}
	return m.partsOf(values{list: []string{s}}, c)
}

// words are the parts of a word that takes a parameter's place: its text is
// split as a value is, except where it is quoted.
func (m *Machine) words(w *syntax.Word, c preparing) []syntax.WordPart {
	if w == nil {
		return []syntax.WordPart{valuePart("")}
	}
	c.alone = c.alone && len(w.Parts) == 1
	var list []syntax.WordPart
	for i, p := range m.parts(w.Parts, c) {
		lit, ok := p.(*syntax.Lit)
		if !ok || c.quoted || i == 0 && strings.HasPrefix(lit.Value, "~") {
			list = append(list, p)
			continue
		}
		list = append(list, unquotedText(lit.Value)...)
	}
	if len(list) == 0 && !c.quoted {
		list = append(list, valuePart(""))
	}
	return list
}

// unquotedText is text that is split, but for what a backslash quotes.
func unquotedText(s string) []syntax.WordPart {
	var list []syntax.WordPart
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i == len(s)-1 {
			return append(list, valuePart(s))
		}
		_, size := utf8.DecodeRuneInString(s[i+1:])
		if i > 0 {
			list = append(list, valuePart(s[:i]))
		}
		if c := s[i+1 : i+1+size]; c != "\n" {
			list = append(list, &syntax.SglQuoted{Value: c})
		}
		s = s[i+1+size:]
	}
}

// applyOperator are the values after an operator that changes each of them.
func (m *Machine) applyOperator(p *syntax.ParamExp, v values) values {
	switch {
	case p.Length:
		return values{list: []string{m.length(p, v)}}
	case p.Slice != nil:
		return m.sliceValues(p.Slice, v)
	case p.Repl != nil:
		return m.eachOf(v, m.replacementOf(p.Repl))
	case p.Exp != nil:
		return m.eachOf(v, m.operatorOf(p.Exp))
	}
	return v
}

// sliceValues is ${x:offset:length}.
func (m *Machine) sliceValues(s *syntax.Slice, v values) values {
	from, ok1 := m.arithm(s.Offset)
	count, ok2 := -1, true
	if s.Length != nil {
		count, ok2 = m.arithm(s.Length)
	}
	known := ok1 && ok2
	if v.many {
		if !known || mark.Has(strings.Join(v.list, ""), mark.Any) {
			v.list = []string{partial.OneOf(v.list)}
			return v
		}
		v.list = partial.Slice(v.list, from, count, s.Length != nil)
		return v
	}
	return m.eachOf(v, func(text string) string {
		switch {
		case text == mark.Atom:
			return text
		case !known || mark.In(text):
			return partial.Lost(text)
		}
		return string(partial.Slice([]rune(text), from, count, s.Length != nil))
	})
}

// eachOf changes each value.
func (m *Machine) eachOf(v values, f func(string) string) values {
	list := make([]string, len(v.list))
	for i, s := range v.list {
		list[i] = f(s)
		m.run.grow(len(list[i]) + 16)
	}
	v.list = list
	return v
}

func (m *Machine) length(p *syntax.ParamExp, v values) string {
	all := strings.Join(v.list, "")
	switch {
	case mark.Has(all, mark.Any+mark.Inside+mark.Scratch+mark.System+mark.Outside), !v.many && mark.In(all):
		return mark.Atom
	case v.many:
		return itoa(len(v.list))
	}
	return itoa(utf8.RuneCountInString(all))
}

// replacementOf is ${x/pattern/with}.
func (m *Machine) replacementOf(r *syntax.Replace) func(string) string {
	pat, with := m.pattern(r.Orig), m.literal(r.With)
	anchor := byte(0)
	if !r.All && pat != "" && !beginsQuoted(r.Orig) && (pat[0] == '#' || pat[0] == '%') {
		anchor, pat = pat[0], pat[1:]
	}
	rx := partial.Compiled(pat, anchor)
	return func(s string) string {
		if len(s)*max(1, len(with)) > 1<<20 {
			m.run.stop("its values grow without end")
		}
		switch {
		case mark.In(s):
			return partial.ReplacedUnknown(s, pat, with)
		case pat == "" && anchor == 0:
			return s
		case rx == nil || strings.Contains(with, "&"): // which is what matched, to newer shells
			return mark.Any
		}
		return partial.Replaced(rx, s, with, r.All)
	}
}

// beginsQuoted reports whether a word begins with what means itself.
func beginsQuoted(w *syntax.Word) bool {
	if w == nil || len(w.Parts) == 0 {
		return false
	}
	switch w.Parts[0].(type) {
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return true
	}
	return false
}

// operatorOf is an operator with a word: # % ^ , @.
func (m *Machine) operatorOf(e *syntax.Expansion) func(string) string {
	pat := ""
	if e.Word != nil && e.Op != syntax.ErrorUnset && e.Op != syntax.ErrorUnsetOrNull {
		pat = m.pattern(e.Word)
	}
	return func(s string) string {
		switch {
		case kept(e.Op):
			return s
		case mark.In(s):
			return partial.Derived(e.Op, s, pat)
		case mark.In(pat), partial.Extended(pat):
			return mark.Any
		case e.Op == syntax.OtherParamOps && pat == "E" && !strings.Contains(s, `\`):
			return s
		case e.Op == syntax.OtherParamOps && !strings.Contains("UuLQ", pat):
			return mark.Any
		}
		return m.byLibrary(s, e.Op, pat)
	}
}

// byLibrary lets the library do what it does right.
func (m *Machine) byLibrary(s string, op syntax.ParExpOperator, pat string) string {
	p := &syntax.ParamExp{Param: &syntax.Lit{Value: valueName + s}}
	p.Exp = &syntax.Expansion{Op: op, Word: &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: pat}}}}
	got, err := expand.Literal(m.config(nil), &syntax.Word{Parts: []syntax.WordPart{p}})
	if err != nil {
		return mark.Any
	}
	return got
}

// kept are operators that leave a value that is set as it is.
func kept(op syntax.ParExpOperator) bool {
	return slices.Contains([]syntax.ParExpOperator{syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.AssignUnset, syntax.AssignUnsetOrNull}, op)
}
