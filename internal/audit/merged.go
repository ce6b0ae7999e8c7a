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
	m, err := newMergedTree(ctx, repo, files)
	if err != nil {
		return nil, err
	}
	var list []Change
	for _, d := range deltas {
		list = append(list, commitChange(d, m.targets))
	}
	return Classify(m.look(list, rules), rules), nil
}

// mergedTree is a tree in the object store, looked at as a whole.
type mergedTree struct {
	files   map[string]git.Entry
	names   map[string][]string // directory → names in it
	targets map[git.OID]string  // of links
}

func newMergedTree(ctx context.Context, repo git.Repo, files []git.File) (*mergedTree, error) {
	m := &mergedTree{files: map[string]git.Entry{}, names: map[string][]string{}}
	seen := map[string]bool{}
	var links []git.OID
	for _, f := range files {
		m.files[f.Path] = f.Entry
		if f.Mode == git.Symlink {
			links = append(links, f.OID)
		}
		for p := f.Path; p != "." && !seen[p]; p = path.Dir(p) {
			seen[p] = true
			m.names[path.Dir(p)] = append(m.names[path.Dir(p)], path.Base(p))
		}
	}
	var err error
	m.targets, err = repo.Links(ctx, links)
	return m, err
}

// lookup gives the target of a link.
func (m *mergedTree) lookup(p string) (string, bool) {
	e := m.files[p]
	if e.Mode != git.Symlink {
		return "", false
	}
	target, ok := m.targets[e.OID]
	if !ok {
		target = endless
	}
	return target, true
}

// look finds out what each change amounts to in the whole tree.
func (m *mergedTree) look(list []Change, rules Judge) []Change {
	for i := range list {
		if list[i].Kind == Commit {
			list[i].Kind, list[i].Detail = kindOf(list[i].Old, list[i].New), ""
		}
		list[i] = m.inspect(list[i], rules)
	}
	markCollisions(list, m.files)
	return append(list, bentChanges(list, m.files, m.lookup)...)
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
