package gate

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cordon/internal/audit"
	"cordon/internal/git"
)

// unresolved lists the files in which a result is in conflict although it merges, and says why: nobody
// has decided what they are to hold.
func (g *Gate) unresolved(ctx context.Context, o Order, target, tree git.OID) ([]audit.Path, string, error) {
	if list, err := g.marked(ctx, target, tree, o.Conflicts); err != nil || len(list) > 0 {
		return list, "conflict markers are left", err
	}
	if list, err := g.untouched(ctx, o.Lease.Lease().Base, o.Snapshot, o.Conflicts); err != nil || len(list) > 0 {
		return list, "the last attempt changed nothing there", err
	}
	return nil, "", nil
}

// untouched are all files in conflict if no change between two commits is to one of them. Who changed
// one of them may have decided that the others are right.
func (g *Gate) untouched(ctx context.Context, from, to git.OID, conflicts []audit.Path) ([]audit.Path, error) {
	if len(conflicts) == 0 {
		return nil, nil
	}
	deltas, err := g.repo.Diff(ctx, from, to)
	if slices.ContainsFunc(deltas, func(d git.Delta) bool { return slices.Contains(conflicts, audit.Path(d.Path)) }) {
		return nil, err
	}
	return slices.Clone(conflicts), err
}

// marked are the files with conflict markers that nothing in another tree has. In a file that was in
// conflict, one marker is enough.
func (g *Gate) marked(ctx context.Context, from, to git.OID, conflicts []audit.Path) (list []audit.Path, err error) {
	deltas, err := g.repo.DiffOf(ctx, from, to, "^(<<<<<<<|>>>>>>>)")
	if err != nil {
		return nil, err
	}
	had := map[string]bool{} // also where a file was moved
	for _, d := range deltas {
		text, err := g.textOf(ctx, d.Old)
		if err != nil {
			return nil, err
		}
		for _, m := range append(markers(text), blocks(text)...) {
			had[m] = true
		}
	}
	for _, d := range deltas {
		text, err := g.textOf(ctx, d.New)
		if err != nil {
			return nil, err
		}
		found := blocks(text)
		if slices.Contains(conflicts, audit.Path(d.Path)) {
			found = markers(text)
		}
		if slices.ContainsFunc(found, func(m string) bool { return !had[m] }) {
			list = append(list, audit.Path(d.Path))
		}
	}
	return list, nil
}

// textOf is what a file holds. Links, submodules and what is absent hold nothing.
func (g *Gate) textOf(ctx context.Context, e git.Entry) (string, error) {
	if e.Mode != git.Regular && e.Mode != git.Executable {
		return "", nil
	}
	text, err := g.repo.Blob(ctx, e.OID)
	return string(text), err
}

// marker is a line with which git begins or ends a conflict: attributes can make it longer.
var marker = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(<{7,}|>{7,})( .*)?\r?$`) })

func markers(text string) []string { return marker().FindAllString(text, -1) }

// blocks are the whole conflicts of a text: where a document shows a marker, the others are rarely there too.
func blocks(text string) (list []string) {
	begin, middle, size := -1, false, 0
	for at := 0; at < len(text); {
		line, _, _ := strings.Cut(text[at:], "\n")
		next := at + len(line) + 1
		line = strings.TrimSuffix(line, "\r")
		switch n := run(line); {
		case n < 7:
		case line[0] == '<':
			begin, middle, size = at, false, n
		case begin >= 0 && line[0] == '=' && n == size && n == len(line):
			middle = true
		case begin >= 0 && line[0] == '>' && n == size && middle:
			list, begin = append(list, text[begin:min(next, len(text))]), -1
		}
		at = next
	}
	return list
}

// run is how often a line begins with one of the characters of markers. "": never.
func run(line string) int {
	if line == "" || !strings.ContainsRune("<=>", rune(line[0])) {
		return 0
	}
	return len(line) - len(strings.TrimLeft(line, line[:1]))
}
