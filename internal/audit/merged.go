package audit

import (
	"context"
	"path"

	"cordon/internal/git"
)

// Merged judges what would change in a branch if a tree became its next one.
// Merging can move an edit to a path that the lease does not cover, and can put
// halves together that were harmless apart, so the lease is held against the
// result again.
func Merged(ctx context.Context, repo git.Repo, from, to git.OID, rules Judge) ([]Finding, error) {
	deltas, err := repo.Diff(ctx, from, to)
	if err != nil {
		return nil, err
	}
	files, err := repo.Tree(ctx, to)
	if err != nil {
		return nil, err
	}
	m := newMergedTree(ctx, repo, files)
	var list []Change
	for _, d := range deltas {
		ch, err := commitChange(ctx, repo, d)
		if err != nil {
			return nil, err
		}
		if ch.Kind == Commit {
			ch.Kind, ch.Detail = kindOf(d.Old, d.New), ""
		}
		list = append(list, m.inspect(ch, rules))
	}
	if m.err != nil {
		return nil, m.err
	}
	markCollisions(list, m.files)
	return Classify(list, rules), nil
}

// mergedTree is a tree in the object store, looked at as a whole.
type mergedTree struct {
	lookup func(string) (string, bool)
	files  map[string]git.Entry
	names  map[string][]string // directory → names in it
	err    error
}

func newMergedTree(ctx context.Context, repo git.Repo, files []git.File) *mergedTree {
	m := &mergedTree{files: map[string]git.Entry{}, names: map[string][]string{}}
	seen := map[string]bool{}
	for _, f := range files {
		m.files[f.Path] = f.Entry
		for p := f.Path; p != "." && !seen[p]; p = path.Dir(p) {
			seen[p] = true
			m.names[path.Dir(p)] = append(m.names[path.Dir(p)], path.Base(p))
		}
	}
	m.lookup = func(p string) (string, bool) {
		e := m.files[p]
		if e.Mode != git.Symlink {
			return "", false
		}
		b, err := repo.Blob(ctx, e.OID)
		if err != nil {
			m.err = err
		}
		return string(b), true
	}
	return m
}

func (m *mergedTree) inspect(ch Change, rules Judge) Change {
	if !ch.Kind.Landable() || ch.Kind == Deleted {
		return ch
	}
	if ch.New.Mode == git.Symlink {
		if why := leadsOut(string(ch.Path), m.lookup, rules); why != "" {
			ch.Kind, ch.Detail = LinkOut, why
			return ch
		}
	}
	for d := path.Dir(string(ch.Path)); d != "."; d = path.Dir(d) {
		if why := bareRepository(m.names[d]); why != "" {
			ch.Kind, ch.Detail = Nested, Path(d).String()+": "+why
			return ch
		}
	}
	return ch
}
