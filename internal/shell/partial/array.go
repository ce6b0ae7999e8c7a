package partial

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"cordon/internal/mark"
)

// Key is a subscript as it was understood, once.
type Key struct {
	All, Star bool   // @ or *
	Word      string // of an associative array
	N         int    // of any other
	Known     bool
}

// Element is one element of a variable, and whether it is set.
func Element(v expand.Variable, k Key) (string, bool) {
	switch v.Kind {
	case expand.Indexed:
		n := k.N
		if n < 0 {
			n += Highest(v) + 1
		}
		if !k.Known {
			return OneOf(v.List), len(v.List) > 0
		}
		if at, ok := position(v, n); ok {
			return v.List[at], true
		}
		return "", false
	case expand.Associative:
		return mapped(v.Map, k)
	}
	if v.IsSet() && (k.Known && (k.N == 0 || k.N == -1) || !k.Known || mark.Has(v.Str, mark.Any)) {
		return v.Str, true
	}
	return "", false
}

// mapped is an element of an associative array. An element whose key is not
// known may be any of them.
func mapped(all map[string]string, k Key) (string, bool) {
	if s, ok := all[k.Word]; ok && k.Known {
		return s, true
	}
	list := make([]string, 0, len(all))
	unknown := !k.Known
	for name, s := range all {
		list = append(list, s)
		unknown = unknown || mark.In(name)
	}
	if !unknown {
		return "", false
	}
	slices.Sort(list)
	return OneOf(list), len(list) > 0
}

// OneOf is what is known of one of several texts.
func OneOf(list []string) string {
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

func Highest(v expand.Variable) int {
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

// With is a variable with one element set. One whose index is not known may be
// any of the elements.
func With(v expand.Variable, k Key, value string) expand.Variable {
	if v.Kind == expand.Associative {
		all := map[string]string{}
		maps.Copy(all, v.Map)
		all[k.Word] = value
		v.Map, v.Set = all, true
		return v
	}
	if v.Kind != expand.Indexed {
		v = Arrayed(v)
	}
	v.Set = true
	n := k.N
	if n < 0 {
		n += Highest(v) + 1
	}
	if !k.Known || n < 0 {
		top := Highest(v) + 1
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

// Without is a variable with one element unset. An element that is not known
// stays, and so do those of associative arrays.
func Without(v expand.Variable, k Key) expand.Variable {
	if k.All {
		return expand.Variable{Kind: v.Kind, Set: true}
	}
	n := k.N
	if n < 0 {
		n += Highest(v) + 1
	}
	at, ok := position(v, n)
	if !ok || !k.Known || v.Kind != expand.Indexed {
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

// Arrayed is a variable as an array of its own.
func Arrayed(v expand.Variable) expand.Variable {
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

// Inserted sets elements one after the other in a list that nobody shares.
func Inserted(v expand.Variable, next int, words []string) expand.Variable {
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

// Repeated are words of which those that stand for any number are there more
// than once.
func Repeated(words []string) []string {
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

// Elements are all elements of a variable, and their indexes where those are not
// 0, 1, 2.
func Elements(v expand.Variable) ([]string, []int) {
	switch v.Kind {
	case expand.Indexed:
		return v.List, v.Indexes
	case expand.Associative:
		var list []string
		for _, name := range slices.Sorted(maps.Keys(v.Map)) {
			list = append(list, v.Map[name])
		}
		return list, nil
	}
	if !v.IsSet() {
		return nil, nil
	}
	return []string{v.String()}, nil
}

// Keys are the subscripts of an array.
func Keys(v expand.Variable) []string {
	if v.Kind == expand.Associative {
		return slices.Sorted(maps.Keys(v.Map))
	}
	var list []string
	values, keys := Elements(v)
	for i := range values {
		if keys != nil {
			i = keys[i]
		}
		list = append(list, strconv.Itoa(i))
	}
	return list
}

func Size(v expand.Variable) int {
	n := len(v.Str) + 16
	for _, s := range v.List {
		n += len(s) + 16
	}
	return n
}
