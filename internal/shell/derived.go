package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/mark"
)

// derived is what an operator makes of a value that is not known. A listing
// whose names lose a part is still a listing, and what has no slash does not get
// one.
func derived(op syntax.ParExpOperator, value, pat string) string {
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
	return lost(value)
}

// lost is what remains known of a value that an operator changed.
func lost(value string) string {
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

// replacedUnknown is what a replacement makes of a value that is not known.
func replacedUnknown(value, pat, with string) string {
	tame := !strings.ContainsAny(with, "./~") && !mark.In(with)
	switch {
	case tame && flat(value), tame && listing(value) && !strings.Contains(value, "/"):
		return value
	case listing(value) && mark.First(value) == 0 && !strings.Contains(with, "..") && !mark.Has(with, mark.Any+mark.Outside) && !strings.HasPrefix(with, "/"):
		return value
	}
	return lost(value)
}

// sliced is ${x:offset:length}.
func (m *Machine) sliced(s *syntax.Slice, v values) values {
	from, ok1 := m.arithm(s.Offset)
	count, ok2 := -1, true
	if s.Length != nil {
		count, ok2 = m.arithm(s.Length)
	}
	known := ok1 && ok2
	if v.many {
		if !known || mark.Has(strings.Join(v.list, ""), mark.Any) {
			v.list = []string{oneOf(v.list)}
			return v
		}
		v.list = v.cut(from, count, s.Length != nil)
		return v
	}
	return m.eachOf(v, func(text string) string {
		switch {
		case text == mark.Atom:
			return text
		case !known || mark.In(text):
			return lost(text)
		}
		return substring([]rune(text), from, count, s.Length != nil)
	})
}

// cut is a part of a list.
func (v values) cut(from, count int, bounded bool) []string {
	list := v.list
	if from < 0 {
		from += len(list)
	}
	if from < 0 || from >= len(list) {
		return nil
	}
	list = list[from:]
	if bounded && count >= 0 && count < len(list) {
		list = list[:count]
	}
	return list
}

func substring(text []rune, from, count int, bounded bool) string {
	if from < 0 {
		from += len(text)
	}
	end := len(text)
	switch {
	case bounded && count < 0:
		end += count // it counts from the end
	case bounded:
		end = min(end, from+count)
	}
	if from < 0 || end < from {
		return ""
	}
	return string(text[from:end])
}
