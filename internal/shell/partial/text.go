// Package partial holds values of which a part is not known: texts with marks in
// them, arrays, and the variables that a script finds. It says what operators make
// of them.
//
// It refuses to know a shell: nothing here runs, assigns or asks. Package shell
// does that.
package partial

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
)

// Derived is what an operator makes of a value that is not known. A listing
// whose names lose a part is still a listing, and what has no slash does not get
// one.
func Derived(op syntax.ParExpOperator, value, pat string) string {
	switch op {
	case syntax.UpperAll, syntax.UpperFirst, syntax.LowerAll, syntax.LowerFirst:
		if listing(value) || flat(value) {
			return value
		}
	case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		if s, ok := shortened(op, value, pat); ok {
			return s
		}
		if listing(value) || flat(value) {
			return value
		}
	}
	return Lost(value)
}

// Lost is what remains known of a value that an operator changed.
func Lost(value string) string {
	if mark.Has(value, mark.Outside) {
		return mark.Outside
	}
	return mark.Any
}

// listing reports whether a value is nothing but paths of one kind.
func listing(value string) bool {
	return value == mark.Inside || value == mark.Scratch || value == mark.System || value == mark.Atom ||
		!mark.Has(value, mark.Any+mark.Outside+mark.Atom) && !strings.Contains(value, "..") && !strings.HasPrefix(value, "/")
}

// flat reports whether a value is one name, whatever is cut from it.
func flat(value string) bool {
	return !mark.Has(value, mark.Any+mark.Outside+mark.Inside+mark.Scratch+mark.System) && !strings.Contains(value, "/") && !strings.Contains(value, "..")
}

// shortened cuts what can be cut although a part of the value is not known: the
// directory or the last component, and an ending that is known.
func shortened(op syntax.ParExpOperator, value, pat string) (string, bool) {
	suffix := op == syntax.RemSmallSuffix || op == syntax.RemLargeSuffix
	large := op == syntax.RemLargeSuffix || op == syntax.RemLargePrefix
	if strings.Contains(value, "/") && (suffix && pat == "/*" || !suffix && pat == "*/") {
		if s, ok := cutAtSlash(value, suffix, large); ok {
			return s, true
		}
	}
	switch {
	case strings.ContainsAny(pat, `*?[\`) || mark.In(pat):
		return "", false
	case suffix && len(value)-lastMark(value) >= len(pat):
		return strings.TrimSuffix(value, pat), true
	case !suffix && mark.First(value) >= len(pat):
		return strings.TrimPrefix(value, pat), true
	}
	return "", false
}

// cutAtSlash cuts a value at its first or its last slash, if a mark cannot hold
// another one.
func cutAtSlash(value string, suffix, large bool) (string, bool) {
	words := !mark.Has(value, mark.Any+mark.Outside+mark.Inside+mark.Scratch+mark.System)
	first, last := strings.IndexByte(value, '/'), strings.LastIndexByte(value, '/')
	at := last
	if suffix == large {
		at = first
	}
	switch {
	case !words && (suffix == large || last < lastMark(value)):
		return "", false
	case suffix:
		return value[:at], true
	}
	return value[at+1:], true
}

// lastMark is where the last mark of a value ends.
func lastMark(value string) int {
	end := 0
	for i, r := range value {
		if mark.In(string(r)) {
			end = i + len(string(r))
		}
	}
	return end
}

// ReplacedUnknown is what a replacement makes of a value that is not known.
func ReplacedUnknown(value, pat, with string) string {
	tame := !strings.ContainsAny(with, "./~") && !mark.In(with)
	switch {
	case tame && flat(value), tame && listing(value) && !strings.Contains(value, "/"):
		return value
	case listing(value) && mark.First(value) == 0 && !strings.Contains(with, "..") && !mark.Has(with, mark.Any+mark.Outside) && !strings.HasPrefix(with, "/"):
		return value
	}
	return Lost(value)
}

func Replaced(rx *regexp.Regexp, s, with string, all bool) string {
	n := 1
	if all {
		n = -1
	}
	var b strings.Builder
	last := 0
	for _, at := range rx.FindAllStringIndex(s, n) {
		b.WriteString(s[last:at[0]])
		b.WriteString(with)
		last = at[1]
	}
	return b.String() + s[last:]
}

// Compiled is a pattern that takes the longest match; nil is one that is not
// understood here.
func Compiled(pat string, anchor byte) *regexp.Regexp {
	if mark.In(pat) || Extended(pat) {
		return nil
	}
	expr, err := pattern.Regexp(pat, 0)
	if err != nil {
		return nil
	}
	switch anchor {
	case '#':
		expr = "^(?:" + expr + ")"
	case '%':
		expr = "(?:" + expr + ")$"
	}
	rx, err := regexp.Compile(expr)
	if err != nil {
		return nil
	}
	rx.Longest()
	return rx
}

// Extended reports whether a pattern means something else with extglob.
func Extended(pat string) bool {
	for i := 0; i+1 < len(pat); i++ {
		if pat[i+1] == '(' && strings.IndexByte("?*+@!", pat[i]) >= 0 {
			return true
		}
	}
	return false
}

// UnknownPart is what is known of a part of a line that is not known.
func UnknownPart(line string) string {
	for _, k := range []string{mark.Any, mark.Outside, mark.Inside, mark.Scratch, mark.System} {
		if mark.Has(line, k) {
			return k
		}
	}
	return mark.Atom
}

// Slice is a part of the characters of a text or the elements of a list, as
// ${x:offset:length} takes it.
func Slice[T any](list []T, from, count int, bounded bool) []T {
	if from < 0 {
		from += len(list)
	}
	end := len(list)
	switch {
	case bounded && count < 0:
		end += count // it counts from the end
	case bounded:
		end = min(end, from+count)
	}
	if from < 0 || end < from {
		return nil
	}
	return list[from:end]
}

// Unescaped is a word whose unquoted backslashes are taken away, which the
// library leaves in a value.
func Unescaped(w *syntax.Word) *syntax.Word {
	var parts []syntax.WordPart
	for i, p := range w.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || !strings.Contains(lit.Value, `\`) {
			continue
		}
		if parts == nil {
			parts = slices.Clone(w.Parts)
		}
		c := *lit
		c.Value = unescape(lit.Value)
		parts[i] = &c
	}
	if parts == nil {
		return w
	}
	return &syntax.Word{Parts: parts}
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Clean is path.Clean for a path with marks. A climb after what stands for any
// number of components leads anywhere.
func Clean(p string) string {
	if strings.Contains(p, "..") {
		switch {
		case mark.Has(p, mark.Outside):
			return mark.Outside
		case mark.Has(p, mark.Any+mark.Scratch+mark.System):
			return mark.Any
		case strings.HasPrefix(p, mark.Inside):
			return strings.TrimRight(p, "/") // how far it may climb, only the World knows
		}
	}
	return path.Clean(p)
}

// Deepest is the number of brackets that are open at once, quoted ones included.
// Backquotes do not nest without backslashes, whose number doubles.
func Deepest(script string) int {
	open, most := 0, 0
	for i := range len(script) {
		switch script[i] {
		case '(', '{', '[':
			open++
			most = max(most, open)
		case ')', '}', ']':
			open = max(0, open-1)
		}
	}
	return most
}
