package enclosure

import (
	"slices"

	"cordon/internal/cell"
	"cordon/internal/paths"
)

// shownCaches are the caches that a cell shows: those in a home that may be read, and not
// what is hidden. They are part of the home and not the worker's own: what the policy
// hides in them stays hidden.
func (e Enclosure) shownCaches(o *cell.Order) []cell.Over {
	var list []cell.Over
	for _, c := range e.Caches {
		mayRead := len(o.Read) == 0 || slices.Contains(o.Read, "/") || paths.WithinAny(c.At, o.Read)
		if o.Home == "" || !paths.Below(c.At, o.Home) || !mayRead {
			continue
		}
		own := !slices.Contains(c.Below, c.At)
		if own { // where the host has none, it counts as hidden with everything that is hidden in it and beside it
			o.Hide = slices.DeleteFunc(o.Hide, func(h string) bool { return h == c.At })
		}
		hides := func(h string) bool { return paths.Within(h, o.Home) && paths.Within(c.At, h) } // not /home
		if own || !slices.ContainsFunc(o.Hide, hides) {
			c.Spare = true
			o.Over = slices.DeleteFunc(o.Over, func(part cell.Over) bool { return part.Spare && part.At == c.At }) // it is below this one
			list = append(list, c)
		}
	}
	return list
}
