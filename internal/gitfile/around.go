package gitfile

import (
	"iter"
	"path/filepath"
)

// CheckoutsAround lists the checkouts of the repositories that a directory lies in.
func CheckoutsAround(dir string) []string {
	var list []string
	for up := range above(dir) {
		if p, ok := Here(up); ok {
			list = append(list, up)
			if filepath.Base(p.Common) == ".git" {
				list = append(list, filepath.Dir(p.Common))
			}
			for _, linked := range p.Linked() {
				list = append(list, linked.Top)
			}
		}
	}
	return list
}

// Around is the repository that git finds from a directory, if there is one.
func Around(dir string) (Place, bool) {
	for up := range above(dir) {
		if p, ok := Here(up); ok {
			return p, true
		}
	}
	return Place{}, false
}

// above yields a directory and those that it lies in, as git sees them: a way there through a
// link, which a shell remembers, does not count.
func above(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		up, err := filepath.Abs(dir)
		if real, rerr := filepath.EvalSymlinks(up); rerr == nil {
			up = real
		}
		for err == nil && yield(up) && up != filepath.Dir(up) {
			up = filepath.Dir(up)
		}
	}
}
