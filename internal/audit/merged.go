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
		list = append(list, ch)
	}
	if list, err = m.look(list, rules); err != nil {
		return nil, err
	}
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
	targets := map[git.OID]string{}
	m.lookup = func(p string) (string, bool) {
		e := m.files[p]
		if e.Mode != git.Symlink {
			return "", false
		}
		target, known := targets[e.OID]
		if !known {
			b, err := repo.Blob(ctx, e.OID)
			if err != nil {
				m.err = err
			}
			target = string(b)
			targets[e.OID] = target
		}
		return target, true
	}
	return m
}

// look finds out what each change amounts to in the whole tree.
func (m *mergedTree) look(list []Change, rules Judge) ([]Change, error) {
	for i := range list {
		if list[i].Kind == Commit {
			list[i].Kind, list[i].Detail = kindOf(list[i].Old, list[i].New), ""
		}
		list[i] = m.inspect(list[i], rules)
	}
	markCollisions(list, m.files)
	list = append(list, bentChanges(list, m.files, m.lookup)...)
	return list, m.err
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
	if dir, why := m.inRepository(string(ch.Path)); why != "" {
		ch.Kind, ch.Detail = Nested, Path(dir).String()+": "+why
	}
	return ch
}

// inRepository returns the directory above a path that git would take for a git
// directory.
func (m *mergedTree) inRepository(p string) (dir, why string) {
	for d := path.Dir(p); ; d = path.Dir(d) {
		file := func(name string) bool { _, ok := m.files[path.Join(d, name)]; return ok }
		if why := bareRepository(m.names[d], file); why != "" {
			return d, why
		}
		if d == "." {
			return "", ""
		}
	}
}
