package gate

import (
	"context"

	"cordon/internal/git"
)

// Try tests a result on the target as it is, and lands nothing. A result that would land has
// no Outcome: its commit is kept in the host for those who look at it. Onto is the target that
// it was tested with.
func (g *Gate) Try(ctx context.Context, o Order) (onto git.OID, res Result, err error) {
	l := o.Lease.Lease()
	res.Target = l.Target
	tip, err := g.bringHistory(ctx, o)
	if err != nil {
		return "", res, err
	}
	onto, fresh, err := g.start(ctx, o)
	if err != nil {
		return onto, res, err
	}
	if onto != l.Base {
		if err := g.host.Complete(ctx, onto, g.Fetching); err != nil {
			return onto, res, err
		}
	}
	p, err := g.propose(ctx, o, tip, onto, fresh)
	if err != nil {
		res, err = g.unreplayed(ctx, o, tip, p.res, err)
		return onto, res, err
	}
	tested := map[git.OID]trial{}
	switch p.res.Outcome {
	case "":
		if ok, err := g.accept(ctx, o, &p, tested); err != nil || !ok {
			return onto, p.res, err
		}
		if err := g.sendContent(ctx, l.ID, onto, p.res.Commit); err != nil {
			return onto, p.res, err
		}
		err = g.keep(ctx, l.ID, ResultOf(l.ID), p.res.Commit, onto)
	case Conflict:
		p.res.Commit, err = g.keepAside(ctx, o, tip)
	case Nothing:
		_, err = g.accept(ctx, o, &p, tested)
	}
	return onto, p.res, err
}
