package audit

import (
	"context"
	"slices"
	"strings"

	"cordon/internal/git"
)

// findings are what the history adds to an audit: only what it does wrong, since
// what it does right is in the tree or lands nowhere. A commit may be kept as
// history, so its tree has to be as harmless as the one that was left.
func (h *History) findings(ctx context.Context, base []git.File, rules Judge) ([]Finding, error) {
	list := slices.Clone(h.refs)
	doubt := h.doubts(base)
	for _, s := range h.steps {
		if !doubt.about(s) {
			list = append(list, s.changes...)
			continue
		}
		looked, err := s.look(ctx, h.repo, rules)
		if err != nil {
			return nil, err
		}
		list = append(list, looked...)
	}
	h.Scratch = len(only(Classify(list, rules), Scratch))
	return Violations(list, rules), nil
}

// look judges the changes of a commit on its whole tree.
func (s step) look(ctx context.Context, repo git.Repo, rules Judge) ([]Change, error) {
	files, err := repo.Tree(ctx, s.commit)
	if err != nil {
		return nil, err
	}
	tree, err := newMergedTree(ctx, repo, files)
	if err != nil {
		return nil, err
	}
	list := tree.look(slices.Clone(s.changes), rules)
	for i := range list {
		list[i].Source = s.changes[0].Source
		if list[i].Kind.Landable() {
			list[i].Kind, list[i].Detail = Commit, string(list[i].Kind)
		}
	}
	return list, nil
}

// doubts tells which commits have to be looked at as whole trees, which costs a
// listing of the tree each. The others cannot hold a link, a collision or a
// repository.
type doubts struct {
	doubles map[string]string // paths that are another one in some commit or other
	heads   bool              // something is called HEAD in some commit or other
}

func (h *History) doubts(base []git.File) doubts {
	all := map[string]git.Entry{}
	for _, f := range base {
		all[f.Path] = f.Entry
	}
	var added []string
	for _, s := range h.steps {
		for _, ch := range s.changes {
			if ch.New.Mode == git.Absent {
				continue
			}
			all[string(ch.Path)] = ch.New
			if ch.Old.Mode == git.Absent {
				added = append(added, string(ch.Path))
			}
		}
	}
	d := doubts{doubles: collisions(added, all)}
	for p := range all {
		d.heads = d.heads || strings.EqualFold(p[strings.LastIndexByte(p, '/')+1:], "HEAD")
	}
	return d
}

func (d doubts) about(s step) bool {
	for _, ch := range s.changes {
		if _, double := d.doubles[string(ch.Path)]; double {
			return true
		}
		if ch.New.Mode == git.Symlink || ch.Old.Mode == git.Symlink || d.heads && likeGit(string(ch.Path)) {
			return true
		}
	}
	return false
}

// likeGit reports whether a path has a name that git directories have.
func likeGit(p string) bool {
	for _, name := range splitPath(strings.ToLower(p)) {
		switch name {
		case "head", "config", "commondir", "objects", "refs":
			return true
		}
	}
	return false
}
