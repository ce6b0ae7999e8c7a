package gate

import (
	"context"
	"errors"
	"strings"
	"time"

	"cordon/internal/git"
	"cordon/internal/githook"
	"cordon/internal/message"
	"cordon/internal/state"
)

// guarded asks the operator's hooks about an accepted result, has it signed, and lands it.
// Hooks come before the signature, because they may change the message.
func (g *Gate) guarded(ctx context.Context, o Order, tree, tip git.OID, move Landing, res Result) (Result, error) {
	place, res, err := g.consult(ctx, &o, tree, tip, move, res)
	defer place.Leave()
	if err == nil && res.Outcome != Waiting {
		res, err = g.sign(ctx, o, tree, move.Old, tip, res)
	}
	if err == nil && res.Outcome != Waiting {
		move.New = res.Commit
		res, err = g.announced(ctx, o, place, move, res)
	}
	if place != nil {
		res.Hooks = place.Ran
	}
	return res, err
}

// consult runs pre-merge-commit and commit-msg, in the order of git merge. A result that
// one of them refuses waits for a person.
func (g *Gate) consult(ctx context.Context, o *Order, tree, tip git.OID, move Landing, res Result) (*githook.Place, Result, error) {
	if o.Hooks == nil {
		return nil, res, nil
	}
	// From here on the operator's repository has the objects, and hooks can look at them.
	id := o.Lease.Lease().ID
	release, err := g.state.Await(ctx, state.GateLock)
	if err != nil {
		return nil, res, err
	}
	err = g.keep(ctx, id, ResultOf(id), res.Commit, move.Old)
	release()
	if err != nil {
		return nil, res, err
	}
	asked := githook.Landing{Head: "ref: " + move.Ref, Tree: tree}
	if move.Creates {
		asked.Head = string(move.Old)
	}
	if o.Tip != "" && o.Replay == nil {
		asked.Tip = tip
	}
	place, err := o.Hooks.Enter(ctx, g.repo, asked)
	if err != nil {
		return nil, res, err
	}
	commit := res.Commit
	if err = place.PreMergeCommit(ctx); err == nil {
		o.reword = rewording(ctx, place, trailers(*o))
		commit, err = g.commit(ctx, *o, tree, move.Old, tip, nil)
	}
	if githook.Stopped(err) {
		return place, wait(res, err), nil
	}
	res.Commit = commit
	return place, res, err
}

// rewording asks commit-msg once for each message that cordon writes.
func rewording(ctx context.Context, place *githook.Place, list []message.Trailer) func(string) (string, error) {
	own := list[:0:0]
	for _, t := range list {
		if strings.HasPrefix(t.Key, message.Mark) {
			own = append(own, t)
		}
	}
	known := map[string]string{}
	return func(text string) (string, error) {
		if said, ok := known[text]; ok {
			return said, nil
		}
		said, err := place.CommitMsg(ctx, text)
		if err == nil && said != text {
			if said, err = message.Hooked(said, own); err != nil {
				err = place.Reject(err)
			}
		}
		if err == nil {
			known[text] = said
		}
		return said, err
	}
}

// text is a message with its trailers, as the operator's hook leaves it.
func (o Order) text(m message.Message) (string, error) {
	text := m.With(trailers(o))
	if o.reword == nil {
		return text, nil
	}
	return o.reword(text)
}

// announced tells reference-transaction of the move of a branch: before the gate's lock is taken and after it is
// released, because a hook takes its time, and every other process waits for that lock.
func (g *Gate) announced(ctx context.Context, o Order, place *githook.Place, move Landing, res Result) (Result, error) {
	old := move.Old
	if move.Creates {
		old = g.host.Format.Zero()
	}
	err := place.ReferenceTransaction(ctx, githook.Prepared, old, move.New, move.Ref)
	switch {
	case err == nil:
		res, err = g.land(ctx, o, move, res)
	case githook.Stopped(err):
		res, err = wait(res, err), nil
	}
	phase := githook.Aborted
	if res.Outcome == Merged {
		phase = githook.Committed
	} else if _, unfinished := errors.AsType[*UnfinishedError](err); unfinished {
		return res, err
	}
	if ctx.Err() != nil { // the hook hears of an interrupted landing, but does not hold it up
		end, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer stop()
		ctx = end
	}
	_ = place.ReferenceTransaction(ctx, phase, old, move.New, move.Ref) // as with git, an answer changes nothing any more
	return res, err
}
