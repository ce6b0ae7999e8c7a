package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
)

func itoa(n int) string { return strconv.Itoa(n) }

// prepare makes a word safe for the library: an operator on a value that is not
// known would take the mark for a character, and a replacement can grow a value
// beyond all bounds. Such parameters are replaced by what is known of their
// value. It also says which names count as unset.
func (m *Machine) prepare(w *syntax.Word) (*syntax.Word, map[string]bool) {
	if plain(w) {
		return w, nil
	}
	var absent map[string]bool
	parts := m.parts(w.Parts, &absent, 0)
	return &syntax.Word{Parts: parts}, absent
}

// plain reports whether a word has nothing to replace.
func plain(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ExtGlob:
		case *syntax.ParamExp:
			if !simple(p) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func simple(p *syntax.ParamExp) bool {
	return p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Length && !p.Excl && !p.Width && !p.IsSet && p.Index == nil && p.Param != nil
}

func (m *Machine) parts(list []syntax.WordPart, absent *map[string]bool, depth int) []syntax.WordPart {
	if depth > maxDepth {
		m.run.stop("it nests quotes too deeply")
	}
	out := make([]syntax.WordPart, 0, len(list))
	for _, p := range list {
		switch p := p.(type) {
		case *syntax.DblQuoted:
			q := *p
			q.Parts = m.parts(p.Parts, absent, depth+1)
			out = append(out, &q)
		case *syntax.ParamExp:
			out = append(out, m.param(p, absent, depth > 0))
		case *syntax.ArithmExp:
			out = append(out, m.arithmPart(p))
		default:
			out = append(out, p)
		}
	}
	return out
}

// param is a parameter expansion, or what is known of its value.
func (m *Machine) param(p *syntax.ParamExp, absent *map[string]bool, quoted bool) syntax.WordPart {
	if simple(p) {
		return p
	}
	if p.Param == nil || p.Width || p.IsSet {
		m.inner(p)
		return &syntax.Lit{Value: mark.Any}
	}
	if p.Index != nil {
		m.subscript(p.Index)
	}
	name := p.Param.Value
	if p.Exp != nil && defaults(p.Exp.Op) {
		if *absent == nil {
			*absent = map[string]bool{}
		}
		(*absent)[name] = true
		return withDefault(p, quoted)
	}
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && p.Exp.Word.Lit() == "P" {
		m.prompt(name)
		return &syntax.Lit{Value: mark.Any}
	}
	value := m.whole(name)
	if p.Excl && p.Names == 0 {
		return m.indirect(p, value)
	}
	if mark.In(value) && (p.Exp != nil || p.Repl != nil || p.Slice != nil || p.Length) {
		return m.derived(p, value)
	}
	if p.Repl != nil {
		m.bound(value, p.Repl)
		if strings.Contains(m.literal(p.Repl.With), "&") { // what matched, to newer shells
			return &syntax.Lit{Value: mark.Any}
		}
	}
	return p
}

// withDefault is an expansion whose default has lost its backslashes, where they
// are not within quotes.
func withDefault(p *syntax.ParamExp, quoted bool) syntax.WordPart {
	if quoted || p.Exp.Word == nil {
		return p
	}
	c, e := *p, *p.Exp
	e.Word = unescaped(e.Word)
	c.Exp = &e
	return &c
}

// defaults reports whether an operator gives a value to what is unset.
func defaults(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return true
	}
	return false
}

// whole is all of a variable's text, for looking at.
func (m *Machine) whole(name string) string {
	v := m.get(name)
	if _, r := v.Resolve(environ{m: m}); r.Declared() {
		v = r
	}
	switch v.Kind {
	case expand.Indexed:
		return strings.Join(v.List, " ")
	case expand.Associative:
		var b strings.Builder
		for _, s := range v.Map {
			b.WriteString(s)
		}
		return b.String()
	}
	return v.String()
}

// indirect is ${!name}: with an unknown name, anything.
func (m *Machine) indirect(p *syntax.ParamExp, name string) syntax.WordPart {
	if p.Index != nil {
		return p
	}
	if mark.In(name) || name == "" || !mark.In(m.whole(name)) || p.Exp == nil && p.Repl == nil && p.Slice == nil {
		if mark.In(name) || name == "" {
			m.inner(p)
			return &syntax.Lit{Value: mark.Any}
		}
		return p
	}
	m.inner(p)
	return &syntax.Lit{Value: mark.Any}
}

// derived is what an operator makes of a value that is not known. A listing
// whose names lose a part is still a listing; a length is a number.
func (m *Machine) derived(p *syntax.ParamExp, value string) syntax.WordPart {
	m.inner(p)
	switch {
	case p.Length:
		return &syntax.Lit{Value: mark.Atom}
	case p.Exp != nil && alternative(p.Exp.Op):
		return &syntax.SglQuoted{Value: m.literal(p.Exp.Word)}
	case p.Exp != nil && kept(p.Exp.Op):
		return &syntax.Lit{Value: value}
	case p.Exp != nil && removes(p.Exp.Op), p.Repl != nil && !strings.Contains(m.literal(p.Repl.With), ".."):
		if !mark.Has(value, mark.Any+mark.Outside) && !strings.Contains(value, "..") && !strings.HasPrefix(value, "/") {
			return &syntax.Lit{Value: value}
		}
	}
	if mark.Has(value, mark.Outside) {
		return &syntax.Lit{Value: mark.Outside}
	}
	return &syntax.Lit{Value: mark.Any}
}

// kept are operators that leave a value that is set as it is, or replace it by
// what is judged on its own.
func kept(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.UpperAll, syntax.UpperFirst, syntax.LowerAll, syntax.LowerFirst:
		return true
	}
	return false
}

// alternative reports whether an operator replaces a value that is set.
func alternative(op syntax.ParExpOperator) bool {
	return op == syntax.AlternateUnset || op == syntax.AlternateUnsetOrNull
}

func removes(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		return true
	}
	return false
}

// bound refuses a replacement that could grow a value beyond all bounds.
func (m *Machine) bound(value string, r *syntax.Replace) {
	if len(value)*max(1, len(m.literal(r.With))) > 1<<20 {
		m.run.stop("its values grow without end")
	}
}

// prompt runs what ${name@P} would run.
func (m *Machine) prompt(name string) {
	if v := m.whole(name); strings.ContainsAny(v, "$`") {
		m.later(": \"" + strings.ReplaceAll(v, `"`, `\"`) + "\"")
	} else if mark.In(v) {
		m.world.Doubt(m, "a prompt that is not known, expanded as code")
	}
}
