package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
	"cordon/internal/shell/partial"
)

func itoa(n int) string { return strconv.Itoa(n) }

// The library expands words. What it does with operators on parameters is done
// here instead: it evaluates subscripts twice, knows no anchors, takes a mark for
// a character, and makes one word of "x$@". A parameter's value is handed to it as
// a parameter that has that value for its name.
const (
	valueName = "VALUE "      // and the text
	breakName = "FIELD BREAK" // between two fields of one word
)

// standIn are the parameters that stand for values.
func standIn(name string) (expand.Variable, bool) {
	if s, ok := strings.CutPrefix(name, valueName); ok {
		return text(s), true
	}
	if name == breakName {
		return expand.Variable{Set: true, Kind: expand.Indexed, List: []string{"", ""}}, true
	}
	return expand.Variable{}, false
}

// valuePart is a value that is split and globbed where it is not quoted.
func valuePart(s string) syntax.WordPart {
	return &syntax.ParamExp{Param: &syntax.Lit{Value: valueName + s}}
}

// breakPart ends a field.
func breakPart() syntax.WordPart {
	at := &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: "@"}}}
	return &syntax.ParamExp{Param: &syntax.Lit{Value: breakName}, Index: at}
}

func isBreak(p syntax.WordPart) bool {
	x, ok := p.(*syntax.ParamExp)
	return ok && x.Param != nil && x.Param.Value == breakName
}

// prepare replaces the parameters of a word by what is known of their values. It
// also says which names count as unset.
func (m *Machine) prepare(w *syntax.Word) (*syntax.Word, map[string]bool) {
	if plain(w) && m.blankIFS() {
		return w, nil
	}
	var absent map[string]bool
	c := preparing{absent: &absent, alone: len(w.Parts) == 1}
	return &syntax.Word{Parts: m.parts(w.Parts, c)}, absent
}

// preparing is where in a word a part is.
type preparing struct {
	absent *map[string]bool
	quoted bool
	alone  bool // nothing else is in the word
	depth  int
}

// plain reports whether a word has nothing to replace.
func plain(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit, *syntax.SglQuoted, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ExtGlob:
		case *syntax.ParamExp:
			if !isSimple(p) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func isSimple(p *syntax.ParamExp) bool {
	return p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Length && !p.Excl && !p.Width && !p.IsSet && p.Index == nil && p.Param != nil
}

// blankIFS reports whether words are split at blanks only.
func (m *Machine) blankIFS() bool {
	v, ok := m.vars["IFS"]
	return !ok || strings.Trim(v.String(), " \t\n") == ""
}

func (m *Machine) parts(list []syntax.WordPart, c preparing) []syntax.WordPart {
	if c.depth++; c.depth > maxDepth {
		m.run.stop("it nests quotes too deeply")
	}
	out := make([]syntax.WordPart, 0, len(list))
	for _, p := range list {
		switch p := p.(type) {
		case *syntax.DblQuoted:
			out = append(out, m.quotedParts(p, c)...)
		case *syntax.ParamExp:
			out = append(out, m.param(p, c)...)
		case *syntax.ArithmExp:
			out = append(out, m.arithmPart(p))
		default:
			out = append(out, p)
		}
		if len(out) > maxWords {
			m.run.stop("it expands to too many words")
		}
	}
	return out
}

// quotedParts is "…": one quoted part, or several where lists in it begin new
// fields, or none where it is an empty list and nothing else.
func (m *Machine) quotedParts(p *syntax.DblQuoted, c preparing) []syntax.WordPart {
	outer := c.quoted
	c.quoted, c.alone = true, c.alone && len(p.Parts) == 1
	inner := m.parts(p.Parts, c)
	if outer {
		return inner
	}
	if len(inner) == 0 && len(p.Parts) > 0 {
		return nil
	}
	var out []syntax.WordPart
	q := *p
	q.Parts = nil
	for _, part := range inner {
		if isBreak(part) {
			done := q
			out = append(out, &done, part)
			q.Parts = nil
			continue
		}
		q.Parts = append(q.Parts, part)
	}
	return append(out, &q)
}

// param is what a parameter expansion becomes.
func (m *Machine) param(p *syntax.ParamExp, c preparing) []syntax.WordPart {
	if p.Param == nil || p.Width || p.IsSet {
		m.runSubstitutions(p)
		return unknownParts()
	}
	if p.Names != 0 {
		return []syntax.WordPart{p}
	}
	if isSimple(p) && p.Param.Value != "@" && p.Param.Value != "*" {
		if c.quoted || m.blankIFS() {
			return []syntax.WordPart{p}
		}
		return m.splitAtIFS(m.resolved(p.Param.Value).String())
	}
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps && p.Exp.Word.Lit() == "P" {
		m.runPrompt(p.Param.Value)
		return unknownParts()
	}
	v := m.parameterValues(p)
	if p.Exp != nil {
		if parts, ok := m.chooseDefault(p, &v, c); ok {
			return parts
		}
	}
	return m.partsOf(m.applyOperator(p, v), c)
}

func unknownParts() []syntax.WordPart { return []syntax.WordPart{valuePart(mark.Any)} }

// partsOf are the parts that stand for values.
func (m *Machine) partsOf(v values, c preparing) []syntax.WordPart {
	if v.star && c.quoted {
		return []syntax.WordPart{valuePart(strings.Join(v.list, m.fieldJoint()))}
	}
	if !v.many && len(v.list) == 0 {
		return []syntax.WordPart{valuePart("")}
	}
	var out []syntax.WordPart
	for i, s := range v.list {
		if i > 0 {
			out = append(out, breakPart())
		}
		if c.quoted || m.blankIFS() {
			out = append(out, valuePart(s))
		} else {
			out = append(out, m.splitAtIFS(s)...)
		}
	}
	m.run.grow(64 * len(out))
	return out
}

// fieldJoint is what "$*" puts between words.
func (m *Machine) fieldJoint() string {
	v, ok := m.vars["IFS"]
	if !ok || !v.IsSet() {
		return " "
	}
	for _, r := range v.String() {
		return string(r)
	}
	return ""
}

// splitAtIFS splits a value at an IFS with more than blanks in it: each of those
// ends a field, also an empty one.
func (m *Machine) splitAtIFS(s string) []syntax.WordPart {
	var out []syntax.WordPart
	for i, f := range partial.Fields(partial.PlainText(s), m.ifs(), 0) {
		if i > 0 {
			out = append(out, breakPart())
		}
		if f == "" {
			out = append(out, &syntax.SglQuoted{})
		} else {
			out = append(out, valuePart(f))
		}
	}
	return out
}

// ifs is what words are split at.
func (m *Machine) ifs() string {
	v, ok := m.vars["IFS"]
	if !ok || !v.IsSet() {
		return " \t\n"
	}
	return v.String()
}

// wholeText is all of a variable's text, for looking at.
func (m *Machine) wholeText(name string) string {
	switch v := m.resolved(name); v.Kind {
	case expand.Indexed:
		return strings.Join(v.List, " ")
	case expand.Associative:
		var b strings.Builder
		for _, s := range v.Map {
			b.WriteString(s)
		}
		return b.String()
	default:
		return v.String()
	}
}

// runPrompt runs what ${name@P} would run.
func (m *Machine) runPrompt(name string) {
	if v := m.wholeText(name); strings.ContainsAny(v, "$`") {
		m.runLater(": \"" + strings.ReplaceAll(v, `"`, `\"`) + "\"")
	} else if mark.In(v) {
		m.world.Doubt(m, "an unknown prompt, expanded as code")
	}
}
