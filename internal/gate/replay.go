package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/git"
	"cordon/internal/message"
)

// ReplayError is a commit of a worker that does not fit on the target although the whole
// result does.
type ReplayError struct {
	Commit git.OID
	Paths  []string
}

func (e *ReplayError) Error() string {
	return fmt.Sprintf("commit %s of the worker conflicts in %s: land it with --land-as squash", e.Commit.Short(), strings.Join(e.Paths, ", "))
}

// replay writes the worker's commits again, one after the other on the target, with clean
// messages and the people that cordon vouches for. The last commit holds the tree that was
// tested: work that no commit of the worker has comes on top.
func (g *Gate) replay(ctx context.Context, o Order, tree, target git.OID, by git.Credit) (git.OID, error) {
	texts, err := g.repo.CommitTexts(ctx, o.Replay)
	if err != nil {
		return "", err
	}
	at, before := target, o.Lease.Lease().Base
	held, err := g.repo.TreeOf(ctx, target)
	if err != nil {
		return "", err
	}
	for _, c := range texts {
		next, err := g.pick(ctx, before, held, c.Commit, by)
		if err != nil {
			return "", err
		}
		before = c.Commit
		if next == held {
			continue // the target has it already
		}
		text, err := o.text(message.Compose(message.Source{Commits: []string{c.Message}, Changes: []message.Change{{Path: "files"}}}))
		if err != nil {
			return "", err
		}
		if at, err = g.repo.CommitAs(ctx, next, []git.OID{at}, text, by); err != nil {
			return "", err
		}
		held = next
	}
	if held == tree && at != target {
		return at, nil
	}
	text, err := o.text(o.Message)
	if err != nil {
		return "", err
	}
	return g.repo.CommitAs(ctx, tree, []git.OID{at}, text, by)
}

// pick is a tree with the changes of one commit since the one before it. Git merges
// commits: the tree is put on that one for it.
func (g *Gate) pick(ctx context.Context, before, held, commit git.OID, by git.Credit) (git.OID, error) {
	by.Signer = nil
	was, err := g.repo.TreeOf(ctx, before)
	if err != nil {
		return "", err
	}
	if was == held {
		return g.repo.TreeOf(ctx, commit)
	}
	stand, err := g.repo.CommitAs(ctx, held, []git.OID{before}, "the target\n", by)
	if err != nil {
		return "", err
	}
	merged, err := g.repo.MergeTrees(ctx, stand, commit)
	if err == nil && len(merged.Conflicts) > 0 {
		err = &ReplayError{Commit: commit, Paths: merged.Conflicts}
	}
	return merged.Tree, err
}

// unreplayed is a conflict of one commit, kept for a person as the whole result.
func (g *Gate) unreplayed(ctx context.Context, o Order, tip git.OID, res Result, err error) (Result, error) {
	var conflict *ReplayError
	if !errors.As(err, &conflict) {
		return res, err
	}
	o.Replay = nil
	res.Outcome, res.Paths, res.Why = Conflict, paths(conflict.Paths), conflict.Error()
	res.Commit, err = g.keepAside(ctx, o, tip)
	return res, err
}
