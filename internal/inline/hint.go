package inline

import (
	"slices"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// maxHints bounds the hints of one value: texts that look like paths and went into it
// in a way that is not followed, such as max(a, b). They count if it is used as a path.
const maxHints = 16

// withHints is a value that may be one of the paths which others hold.
func withHints(v value, from ...value) value {
	for _, x := range from {
		v.hints = gatherHints(v.hints[:len(v.hints):len(v.hints)], x, 0)
	}
	return v
}

// gatherHints adds the texts of a value that look like paths.
func gatherHints(hints []string, v value, depth int) []string {
	if depth > 4 || len(hints) >= maxHints {
		return hints
	}
	hints = addHints(hints, v.hints)
	if v.shape == text && !v.num {
		for _, s := range v.alts {
			if pathLike(s) && !slices.Contains(hints, s) {
				hints = append(hints, s)
			}
		}
		return hints
	}
	for _, x := range v.items[:min(len(v.items), maxAlts)] {
		hints = gatherHints(hints, x, depth+1)
	}
	for _, x := range v.keys[:min(len(v.keys), maxAlts)] {
		hints = gatherHints(hints, x, depth+1)
	}
	return hints
}

// addHints adds hints that are not there yet.
func addHints(a, b []string) []string {
	for _, s := range b {
		if len(a) >= maxHints {
			break
		}
		if !slices.Contains(a, s) {
			a = append(a[:len(a):len(a)], s)
		}
	}
	return a
}

// withHintsOf gives the result of a fold what it was made of, if it is not known.
func withHintsOf(v value, recv *value, args []value) value {
	if v.shape != unknown && !(v.shape == text && slices.ContainsFunc(v.alts, func(s string) bool { return mark.Has(s, mark.Any) })) {
		return v
	}
	if recv != nil {
		v = withHints(v, *recv)
	}
	return withHints(v, args...)
}

// addHintsTo makes what is handed to a method a hint of the variable it belongs to.
func (m *machine) addHintsTo(recv *value, args []arg) {
	if recv == nil || recv.from == "" {
		return
	}
	v, ok := m.vars[recv.from]
	if !ok {
		v = *recv
	}
	for _, a := range args {
		v = withHints(v, a.v)
	}
	if len(v.hints) > 0 && (ok || len(m.vars) < 4096) {
		m.vars[recv.from] = v
	}
}

// reportHints reports the hints of a value that is used as a path.
func (m *machine) reportHints(v value, why string) {
	if m.quiet > 0 {
		return
	}
	for _, s := range v.hints {
		m.rep.add(Access{Access: commands.Access{Role: commands.Read, Path: s, Dir: m.dirs[len(m.dirs)-1], Why: why}, Weak: true})
	}
}

// fileURL is the path of a file: address.
func fileURL(s string) (string, bool) {
	rest, ok := strings.CutPrefix(s, "file://")
	if !ok {
		return "", false
	}
	rest = strings.TrimPrefix(rest, "localhost")
	return rest, strings.HasPrefix(rest, "/")
}
