package audit

import (
	"slices"
	"strings"

	"cordon/internal/git"
)

// withCarried adds to the changes of the last attempt those that its base carried over from an earlier one:
// all of it lands, so all of it is judged and shown. What the attempt undid is no change.
func (t Tree) withCarried(changed []Change) []Change {
	if len(t.Carried) == 0 {
		return changed
	}
	carried := map[Path]git.Delta{}
	for _, d := range t.Carried {
		carried[Path(d.Path)] = d
	}
	var list []Change
	for _, c := range changed {
		if d, both := carried[c.Path]; both && !c.Ignored { // an ignored file lands nowhere, and replaces no change
			delete(carried, c.Path)
			if c.Old = d.Old; c.Kind.Landable() {
				if c.Old == c.New {
					continue
				}
				c.Kind = kindOf(c.Old, c.New)
			}
		}
		list = append(list, c)
	}
	for p, d := range carried {
		list = append(list, Change{Path: p, Kind: kindOf(d.Old, d.New), Old: d.Old, New: d.New, Carried: true})
	}
	slices.SortStableFunc(list, func(a, b Change) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return list
}
