package policy

import (
	"path"
	"strings"
)

// Location is where a lease's worktree really is. Both paths are absolute and
// clean, with symlinks resolved by whoever made the lease.
type Location struct {
	Worktree string
	Home     string // may be empty when no pattern starts with ~
	Fold     bool   // the file system folds case
}

func (at Location) check() error {
	if err := checkPlace("worktree", at.Worktree); err != nil {
		return err
	}
	if at.Worktree == "/" {
		return fault{"the worktree is the root of the file system", ""}
	}
	if at.Home == "" {
		return nil
	}
	return checkPlace("home directory", at.Home)
}

func checkPlace(what, place string) error {
	if !path.IsAbs(place) || path.Clean(place) != place || strings.ContainsRune(place, 0) {
		return fault{"the " + what + " " + quote(place) + " is not an absolute clean path", ""}
	}
	return nil
}

// expand turns a pattern of any form into absolute parts. Components of the
// location are literal, whatever glob characters they have.
func (at Location) expand(p pattern) ([]part, error) {
	var base []string
	switch p.form {
	case inTree:
		base = components(at.Worktree)
	case climbing:
		base = components(at.Worktree)
		base = base[:max(0, len(base)-p.ups)]
	case home:
		if at.Home == "" {
			return nil, fault{quote(p.String()) + " needs a home directory, and none is known", "write an absolute path"}
		}
		base = components(at.Home)
	}
	parts := make([]part, 0, len(base)+len(p.parts))
	for _, name := range base {
		parts = append(parts, literalPart(name))
	}
	for _, glob := range p.parts {
		parts = append(parts, globPart(glob))
	}
	return parts, nil
}

// inside returns what is left of absolute parts below the worktree, when their
// text begins with the worktree's own path.
func (at Location) inside(parts []part) ([]part, bool) {
	fold, names := folding(at.Fold), components(at.Worktree)
	if len(parts) < len(names) {
		return nil, false
	}
	for i, name := range names {
		if fold.key(parts[i].text) != fold.key(name) {
			return nil, false
		}
	}
	return parts[len(names):], true
}

// components splits an absolute clean path.
func components(place string) []string {
	return strings.FieldsFunc(place, func(r rune) bool { return r == '/' })
}

// absoluteGlob writes parts as one pattern, with the glob characters of literal
// parts escaped.
func absoluteGlob(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteByte('/')
		if p.glob {
			b.WriteString(p.text)
		} else {
			b.WriteString(EscapeGlob(p.text))
		}
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

// HasWildcard reports whether a pattern stands for more than one path.
func HasWildcard(glob string) bool {
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		}
	}
	return false
}

// UnescapeGlob is the path that a pattern without wildcards stands for.
func UnescapeGlob(glob string) string {
	if !strings.Contains(glob, `\`) {
		return path.Clean(glob)
	}
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		if glob[i] == '\\' && i+1 < len(glob) {
			i++
		}
		b.WriteByte(glob[i])
	}
	return path.Clean(b.String())
}

// EscapeGlob makes a path a pattern that stands for itself.
func EscapeGlob(name string) string {
	if !isGlob(name) {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		if isGlob(name[i : i+1]) {
			b.WriteByte('\\')
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
