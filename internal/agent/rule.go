package agent

import (
	"strings"
)

// MostRules is how many rules one pattern may become.
const MostRules = 64

// Alternatives are what the groups {a,b} of a glob stand for.
func Alternatives(glob string) []string {
	open, end := innermost(glob)
	if end < 0 {
		return []string{glob}
	}
	var list []string
	for _, choice := range strings.Split(glob[open+1:end], ",") {
		list = append(list, Alternatives(glob[:open]+choice+glob[end+1:])...)
		if len(list) > MostRules {
			break
		}
	}
	return list
}

// innermost finds a group that holds no other. Without one, end is -1.
func innermost(glob string) (open, end int) {
	open = -1
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '{':
			open = i
		case '}':
			if open >= 0 {
				return open, i
			}
		}
	}
	return -1, -1
}

// EscapeGlob is a path as a glob that matches nothing else.
func EscapeGlob(path string) string {
	var b strings.Builder
	for _, r := range path {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
