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
func (h *History) findings(ctx context.Context, base *git.Listing, rules Judge) ([]Finding, error) {
	list := slices.Clone(h.refs)
	doubt := h.doubts(base)
	var trees *git.Listing // of all commits that are looked at
	for _, s := range h.steps {
		if !doubt.about(s) {
			list = append(list, s.changes...)
			continue
		}
		if trees == nil {
			var err error
			if trees, err = h.repo.Listing(ctx, s.commit); err != nil {
				return nil, err
			}
			defer trees.Close()
		}
		list = append(list, s.look(trees.At(s.commit), rules)...)
		if err := trees.Err(); err != nil {
			return nil, err
		}
	}
	h.Scratch = len(only(Classify(list, rules), Scratch))
	return Violations(list, rules), base.Err()
}

// look judges the changes of a commit on its whole tree.
func (s step) look(tree *git.Listing, rules Judge) []Change {
	list := lookWhole(slices.Clone(s.changes), tree, rules)
	for i := range list {
		list[i].Source = s.changes[0].Source
		if list[i].Kind.Landable() {
			list[i].Kind, list[i].Detail = Commit, string(list[i].Kind)
		}
	}
	return list
}

// doubts tells which commits have to be looked at as trees. The others cannot
// hold a link, a collision or a repository.
type doubts struct {
	doubles map[string]string // paths that are another one in some commit or other
}

func (h *History) doubts(base *git.Listing) doubts {
	all := newOutcome(base, nil)
	var added []string
	for _, s := range h.steps {
		for _, ch := range s.changes {
			if ch.New.Mode == git.Absent {
				continue
			}
			all.set(string(ch.Path), ch.New)
			if ch.Old.Mode == git.Absent {
				added = append(added, string(ch.Path))
			}
		}
	}
	return doubts{doubles: collisions(added, all)}
}

func (d doubts) about(s step) bool {
	for _, ch := range s.changes {
		if _, double := d.doubles[string(ch.Path)]; double {
			return true
		}
		if ch.New.Mode == git.Symlink || ch.Old.Mode == git.Symlink || likeGit(string(ch.Path)) {
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
