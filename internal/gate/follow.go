package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/git"
)

// followers lists the checkouts on the target branch, or says why one of them
// must not be touched.
func (g *Gate) followers(ctx context.Context, move Landing) ([]git.Checkout, error, error) {
	all, err := g.host.Checkouts(ctx)
	if err != nil {
		return nil, nil, err
	}
	var on []git.Checkout
	for _, c := range all {
		what, branch, err := c.UnderWay()
		if err != nil {
			return nil, nil, err
		}
		if branch != move.Ref {
			continue
		}
		if what != "" {
			return nil, fmt.Errorf("the checkout %s is in the middle of %s", c.Top, what), nil
		}
		if why := g.touchable(ctx, c, move); why != nil {
			return nil, why, nil
		}
		on = append(on, c)
	}
	return on, nil, nil
}

// touchable says why a checkout cannot follow the branch. What cannot be found
// out about it is a reason too.
func (g *Gate) touchable(ctx context.Context, c git.Checkout, move Landing) error {
	if c.Prunable {
		return fmt.Errorf("the checkout %s has the branch and cannot be reached", c.Top)
	}
	filters, err := g.host.FiltersIn(ctx, c)
	if err != nil {
		return fmt.Errorf("the checkout %s cannot be read: %s", c.Top, said(err))
	}
	if filters {
		return fmt.Errorf("the checkout %s needs filters that cordon does not run", c.Top)
	}
	if key, err := g.converts(ctx); err != nil || key != "" {
		return errors.Join(err, fmt.Errorf("the checkout %s has its line ends converted (%s), which cordon does not do", c.Top, key))
	}
	dirty, err := g.host.Status(ctx, c, false)
	if err != nil {
		return fmt.Errorf("the checkout %s cannot be read: %s", c.Top, said(err))
	}
	if len(dirty) > 0 {
		return fmt.Errorf("the checkout %s has %s", c.Top, uncommitted(dirty))
	}
	if err := g.host.Advance(ctx, c, move.Old, move.New, true); err != nil {
		return fmt.Errorf("the checkout %s cannot follow: %s", c.Top, said(err))
	}
	return nil
}

// converts names the setting that makes the operator's git write other line ends
// than a commit has. Attributes do so too, and those cordon's git honours.
func (g *Gate) converts(ctx context.Context) (string, error) {
	for key, harmless := range map[string]string{"core.autocrlf": "input", "core.eol": "lf"} {
		value, set, err := g.host.ConfigValue(ctx, key)
		if err != nil {
			return key, err
		}
		switch strings.ToLower(value) {
		case "", "false", "no", "off", "0", "native", harmless:
		default:
			if set {
				return key + "=" + value, nil
			}
		}
	}
	return "", nil
}

// said is what git said of an error, without the call that it answered.
func said(err error) string {
	var e *git.Error
	if errors.As(err, &e) && strings.TrimSpace(e.Stderr) != "" {
		return strings.TrimSpace(e.Stderr)
	}
	return err.Error()
}

func uncommitted(dirty []git.Change) string {
	if len(dirty) == 1 {
		return fmt.Sprintf("an uncommitted change of %q", dirty[0].Path)
	}
	return fmt.Sprintf("uncommitted changes of %d files", len(dirty))
}

// LeftBehindError says that a branch moved and a checkout of it did not follow.
type LeftBehindError struct {
	Move     Landing
	Checkout string
	Err      error
}

func (e *LeftBehindError) Error() string {
	return fmt.Sprintf("%s is at %s, but the checkout %s could not follow (%s): until it does, git status there shows the landed changes in reverse. Put what is in the way aside and type in that checkout: git read-tree -m -u %s %s",
		strings.TrimPrefix(e.Move.Ref, "refs/heads/"), e.Move.New.Short(), e.Checkout, said(e.Err), e.Move.Old, e.Move.New)
}

func (e *LeftBehindError) Unwrap() error { return e.Err }

// CatchUp brings checkouts to a landed branch that an interruption kept from it.
// It may be repeated. A checkout that is clean, or on another branch by now, was
// looked after by somebody.
func (g *Gate) CatchUp(ctx context.Context, move Landing) error {
	now, err := g.host.Checkouts(ctx)
	if err != nil {
		return err
	}
	on := map[string]bool{}
	for _, c := range now {
		on[c.Top] = c.Branch == move.Ref
	}
	return g.follow(ctx, move, func(c git.Checkout) (bool, error) {
		if !on[c.Top] {
			return false, nil
		}
		dirty, err := g.host.Status(ctx, c, false)
		return len(dirty) > 0, err
	})
}

// follow advances the checkouts of a landed branch that need it.
func (g *Gate) follow(ctx context.Context, move Landing, needs func(git.Checkout) (bool, error)) error {
	var left error
	for _, c := range move.Checkouts {
		behind, err := needs(c)
		if err == nil && behind {
			err = g.host.Advance(ctx, c, move.Old, move.New, false)
		}
		if err != nil && left == nil {
			left = &LeftBehindError{Move: move, Checkout: c.Top, Err: err}
		}
	}
	return left
}
