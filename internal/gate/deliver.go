package gate

import (
	"context"

	"cordon/internal/git"
	"cordon/internal/lease"
)

// UndeliveredError is a failure of the operator's repository to take objects that are good: a repository of cordon's own
// has taken them.
type UndeliveredError struct{ Err error }

func (e *UndeliveredError) Error() string {
	return "your repository did not take the objects: " + e.Err.Error()
}

func (e *UndeliveredError) Unwrap() error { return e.Err }

// deliver sends commits to the host. What git says of a failure does not tell whose fault it is: the worker chooses
// names in it. So the same objects go to an empty repository.
func (g *Gate) deliver(ctx context.Context, id lease.ID, wanted, known []git.OID) error {
	err := g.repo.Send(ctx, g.host.Repo, wanted, known)
	if err == nil || ctx.Err() != nil {
		return err
	}
	dir := g.state.Acceptance(string(id) + ".objects")
	if eerr := g.state.Erase(dir); eerr != nil {
		return err
	}
	defer g.state.Erase(dir)
	own, ierr := git.Init(ctx, g.bin, dir, git.InitOptions{Bare: true, Format: g.host.Format, Alternate: g.state.Objects()})
	if ierr != nil || g.repo.Send(ctx, own, wanted, known) != nil {
		return err
	}
	return &UndeliveredError{err}
}
