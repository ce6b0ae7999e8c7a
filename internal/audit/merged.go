package audit

import (
	"context"

	"cordon/internal/git"
	"cordon/internal/policy"
)

// Merged judges what would change in a branch if a tree became its next one.
// Merging can move an edit to a path that the lease does not cover, and can put
// halves together that were harmless apart, so the lease is held against the
// result again.
func Merged(ctx context.Context, repo git.Repo, from, to git.OID, rules policy.Rules) ([]Finding, error) {
	deltas, err := repo.Diff(ctx, from, to)
	if err != nil {
		return nil, err
	}
	tree, err := repo.Listing(ctx, to)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	targets := tree.Links(newLinks(deltas))
	var list []Change
	for _, d := range deltas {
		list = append(list, commitChange(d, targets))
	}
	list = lookWhole(list, tree, rules)
	if rules.PortableNames() {
		markUnportable(list, tree.At(from))
	}
	return Classify(list, rules), tree.Err()
}

// lookWhole finds out what each change amounts to in the whole tree that it led
// to.
func lookWhole(list []Change, tree *git.Listing, rules Judge) []Change {
	after := newOutcome(tree, nil)
	for i := range list {
		if list[i].Kind == Commit {
			list[i].Kind, list[i].Detail = kindOf(list[i].Old, list[i].New), ""
		}
		list[i] = lookAt(list[i], after, rules)
	}
	markCollisions(list, after)
	return append(list, bentChanges(list, after, after.target)...)
}

func lookAt(ch Change, after *outcome, rules Judge) Change {
	if !ch.Kind.Landable() || ch.Kind == Deleted {
		return ch
	}
	if ch.New.Mode == git.Symlink {
		if why := leadsOut(string(ch.Path), after.target, rules); why != "" {
			ch.Kind, ch.Detail = LinkOut, why
			return ch
		}
	}
	if dir, why := after.inRepository(string(ch.Path)); why != "" {
		ch.Kind, ch.Detail = Nested, Path(dir).String()+": "+why
	}
	return ch
}
