package policy

import (
	"path"
	"slices"
)

// Deny is one entry of deny_read or deny_write, expanded for a location.
type Deny struct {
	Entry   string // as the policy has it
	Pattern string // absolute doublestar glob; covers its matches and everything below
	Outside bool   // says nothing about paths inside the worktree
	Why     string // for a person; "": the policy says so

	cover    cover
	worktree []spelling
	fold     folding
}

// newDeny expands an entry.
//
// A pattern that climbs out with .. is about what lies outside, always: the
// worktree is below ../.. and must stay writable, and a list of siblings that
// names this worktree too is meant for the others. A home or absolute pattern
// is about the outside when it covers the worktree from above (~/**, /), since
// a lease that denies its own tree is no lease; ** says that where it is meant.
func newDeny(at Location, p pattern) (Deny, error) {
	parts, err := at.expand(p)
	if err != nil {
		return Deny{}, err
	}
	for i := len(parts) - len(p.parts); i < len(parts); i++ {
		parts[i] = parts[i].widened()
	}
	d := Deny{Entry: p.String(), fold: folding(at.Fold)}
	below, inside := at.inside(parts)
	if inside {
		own, _ := at.expand(pattern{form: inTree})
		parts = append(own, below...)
	}
	d.Pattern = absoluteGlob(parts)
	d.cover = newCover(parts, d.fold)
	d.worktree = d.fold.keyed(components(at.Worktree))
	d.Outside = p.form == climbing || !inside && d.cover.covers(d.worktree)
	return d, nil
}

// Covers reports whether the deny is about an absolute path on this machine. A
// path that is not absolute and clean is covered by every deny.
func (d Deny) Covers(place string) bool {
	if len(d.worktree) == 0 || !path.IsAbs(place) || path.Clean(place) != place {
		return true
	}
	names := d.fold.keyed(components(place))
	if d.Outside && len(names) >= len(d.worktree) && sameKeys(names[:len(d.worktree)], d.worktree) {
		return false
	}
	return d.cover.covers(names)
}

// coversInTree reports whether the deny is about a path in the worktree, under any
// name that some file system may give it: the path may land there.
func (d Deny) coversInTree(names []spelling) bool {
	return !d.Outside && d.cover.covers(d.absolute(names))
}

// aboveInTree reports whether the path leads to something that is denied.
func (d Deny) aboveInTree(names []spelling) bool {
	return !d.Outside && d.cover.above(d.absolute(names))
}

func (d Deny) absolute(names []spelling) []spelling { return slices.Concat(d.worktree, names) }

// named is the rule as a person reads it.
func (d Deny) named() string {
	if d.Why != "" {
		return "deny_write " + quote(d.Entry) + " (" + d.Why + ")"
	}
	return "deny_write " + quote(d.Entry)
}

func (d Deny) String() string {
	if d.Outside {
		return d.Pattern + " (outside the worktree)"
	}
	return d.Pattern
}

func sameKeys(a, b []spelling) bool {
	return slices.EqualFunc(a, b, func(x, y spelling) bool { return x.key == y.key })
}
