package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"cordon/internal/follow"
	"cordon/internal/git"
	"cordon/internal/lfs"
)

// steps are the checkouts of a branch, locked and ready to follow it.
type steps map[string]*follow.Step // by where they are

// locks are what must stay held while the branch moves.
func (s steps) locks() []*os.File {
	var list []*os.File
	for _, step := range s {
		list = append(list, step.Lock())
	}
	return list
}

// drop gives back the checkouts that did not follow.
func (g *Gate) drop(s steps) {
	for at, step := range s {
		step.Drop()
		delete(s, at)
	}
	g.sweep()
}

// sweep removes what landings left of the files that they placed. The caller holds
// the gate's lock.
func (g *Gate) sweep() {
	entries, _ := os.ReadDir(g.state.Landing(""))
	for _, e := range entries {
		_ = g.state.Erase(g.state.Landing(e.Name())) // or the next landing does
	}
}

// prepare locks every checkout on the target branch and gets it ready, or says why
// one of them must not be touched.
func (g *Gate) prepare(ctx context.Context, move Landing) (ready steps, why, err error) {
	ready = steps{}
	on, why, err := g.followers(ctx, move.Ref)
	if why != nil || err != nil {
		return ready, why, err
	}
	if move.Creates && len(on) > 0 {
		return ready, fmt.Errorf("the checkout %s is on %s, which has no commit yet", on[0].Top, strings.TrimPrefix(move.Ref, "refs/heads/")), nil
	}
	for _, c := range on {
		step, why := g.touchable(ctx, c, move)
		if step != nil {
			ready[c.Top] = step
		}
		if why != nil {
			return ready, why, ctx.Err()
		}
	}
	// Until the locks were held, somebody could switch branches.
	why, err = g.look(ctx, move, ready)
	return ready, why, err
}

// look makes sure that the checkouts on the branch still are those that are ready, or
// fails with git.ErrMoved.
func (g *Gate) look(ctx context.Context, move Landing, ready steps) (why, err error) {
	now, why, err := g.followers(ctx, move.Ref)
	if why != nil || err != nil {
		return why, err
	}
	for _, c := range now {
		if step := ready[c.Top]; step == nil || step.Checkout.GitDir != c.GitDir {
			return nil, git.ErrMoved
		}
	}
	if len(now) != len(ready) {
		return nil, git.ErrMoved
	}
	return nil, nil
}

// touchable makes a checkout ready to follow the branch, or says why it cannot. What
// cannot be found out about it is a reason too.
func (g *Gate) touchable(ctx context.Context, c git.Checkout, move Landing) (*follow.Step, error) {
	filters, err := g.host.Repo.FilterNames(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("the checkout %s cannot be read: %s", c.Top, said{err})
	}
	if len(filters) > 0 {
		needs, err := g.filtered(ctx, move, filters)
		if err != nil {
			return nil, fmt.Errorf("the checkout %s cannot be read: %s", c.Top, said{err})
		}
		if needs {
			return nil, fmt.Errorf("the checkout %s needs filters that cordon does not run", c.Top)
		}
	}
	step, err := g.begin(ctx, c, move.move())
	var locked *follow.LockedError
	switch {
	case errors.As(err, &locked):
		return nil, &busyError{fmt.Errorf("the checkout %s is locked: %w", c.Top, err)}
	case err != nil:
		return nil, fmt.Errorf("the checkout %s cannot be read: %s", c.Top, said{err})
	case len(step.Blocked) > 0:
		return step, &blockedError{Checkout: c.Top, By: step.Blocked}
	}
	return step, nil
}

// filtered reports whether a file of a move needs one of the operator's filters other than
// that of Git LFS.
func (g *Gate) filtered(ctx context.Context, move Landing, known map[string]bool) (bool, error) {
	deltas, err := g.host.Diff(ctx, move.Old, move.New)
	if err != nil {
		return false, err
	}
	var paths []string
	for _, d := range deltas {
		paths = append(paths, d.Path)
	}
	commit, err := g.host.Listing(ctx, move.New)
	if err != nil {
		return false, err
	}
	defer commit.Close()
	dir, err := os.MkdirTemp(g.state.Landing(""), "")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir) // made just now
	filters, err := lfs.Filters(ctx, g.host.Repo, commit, paths, filepath.Join(dir, "attributes"))
	for _, filter := range filters {
		if filter != lfs.Filter && known[filter] {
			return true, err
		}
	}
	return false, err
}

func (m Landing) move() follow.Move { return follow.Move{Ref: m.Ref, From: m.Old, To: m.New} }

// begin prepares a checkout. When a cordon was killed in the middle of another landing
// there, that one is settled first.
func (g *Gate) begin(ctx context.Context, c git.Checkout, m follow.Move) (*follow.Step, error) {
	step, err := g.stage(ctx, c, m)
	var other *follow.InterruptedError
	if !errors.As(err, &other) {
		return step, err
	}
	if err := g.settle(ctx, c, other.Move, true); err != nil {
		return nil, err
	}
	return g.stage(ctx, c, m)
}

// stage prepares a checkout. A cordon that was killed together with its git left the
// branch locked, too. Its git has ended: that one held the lock of the index.
func (g *Gate) stage(ctx context.Context, c git.Checkout, m follow.Move) (*follow.Step, error) {
	dir, err := os.MkdirTemp(g.state.Landing(""), "")
	if err != nil {
		return nil, err
	}
	step, err := follow.Begin(ctx, g.host.Repo, c, m, dir)
	if err != nil || !step.TakenOver() {
		return step, err
	}
	if err := g.host.DropRefLock(m.Ref, m.To); err != nil {
		step.Drop()
		return nil, err
	}
	return step, nil
}

// errObstacles says that files which changed since are in the way of a landing that was
// interrupted.
var errObstacles = errors.New("files changed since")

// settle finishes a landing that was interrupted, if its branch has moved, and takes the
// checkout back if not. Unless it is to leave files behind, it finishes only where none
// is in the way.
func (g *Gate) settle(ctx context.Context, c git.Checkout, m follow.Move, leave bool) error {
	step, err := g.stage(ctx, c, m)
	if err != nil {
		return err
	}
	landed, err := g.contains(ctx, m)
	switch {
	case err != nil:
		step.Drop()
		return err
	case !landed || c.Branch != m.Ref:
		return g.rewind(ctx, step)
	case step.Apart:
		return step.Release()
	case len(step.Blocked) > 0 && !leave:
		step.Drop()
		return errObstacles
	}
	return finishStep(ctx, step)
}

// contains reports whether a branch has made a move. A branch that is gone has not.
func (g *Gate) contains(ctx context.Context, m follow.Move) (bool, error) {
	tip, err := g.host.Ref(ctx, m.Ref)
	if errors.Is(err, git.ErrNoRef) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return g.host.IsAncestor(ctx, m.To, tip)
}

// rewind takes a checkout back whose branch did not move.
func (g *Gate) rewind(ctx context.Context, step *follow.Step) error {
	dir, err := os.MkdirTemp(g.state.Landing(""), "")
	if err != nil {
		step.Abandon()
		return err
	}
	return step.Rewind(ctx, dir)
}

// finishStep places what is missing in a checkout whose branch has moved. When its index
// cannot be written, it stays locked.
func finishStep(ctx context.Context, step *follow.Step) error {
	err := step.Carry(ctx)
	var left *follow.LeftError
	if err != nil && !errors.As(err, &left) {
		step.Abandon()
		return err
	}
	return errors.Join(err, step.Release())
}

// settleAll finishes or undoes every landing that a cordon was killed in, and says
// where. What cannot be settled stays locked: resuming its worker says why.
func (g *Gate) settleAll(ctx context.Context) []string {
	left := map[string]follow.Move{}
	for _, dir := range g.host.GitDirs() {
		if m, ok := follow.Abandoned(dir); ok {
			left[dir] = m
		}
	}
	if len(left) == 0 {
		return nil
	}
	all, err := g.checkouts(ctx)
	if err != nil {
		return nil
	}
	defer g.sweep()
	var settled []string
	for _, c := range all {
		if m, ok := left[c.GitDir]; ok && !c.Prunable && g.settle(ctx, c, m, false) == nil {
			settled = append(settled, "cleaned up after an interrupted landing in the checkout "+c.Top)
		}
	}
	return settled
}

// said is an error in the words of git, without the call that it answered.
type said struct{ error }

func (s said) Error() string {
	var e *git.Error
	if errors.As(s.error, &e) && strings.TrimSpace(e.Stderr) != "" {
		return strings.TrimSpace(e.Stderr)
	}
	return s.error.Error()
}

func (s said) Unwrap() error { return s.error }

// inTheWay lists obstacles by their reasons.
func inTheWay(list []follow.Obstacle) string {
	byReason := map[string][]string{}
	for _, o := range list {
		byReason[o.Why] = append(byReason[o.Why], fmt.Sprintf("%q", o.Path))
	}
	var parts []string
	for why, paths := range byReason {
		const shown = 5
		sort.Strings(paths)
		if n := len(paths) - shown; n > 0 {
			paths = append(paths[:shown], fmt.Sprintf("%d more", n))
		}
		if why == follow.WhyUntracked {
			parts = append(parts, "untracked files are in the way: "+strings.Join(paths, ", "))
			continue
		}
		parts = append(parts, strings.Join(paths, ", ")+": "+why)
	}
	sort.Strings(parts)
	return strings.Join(parts, "; ")
}

// LeftBehindError says that a branch moved and that something is left to do in a
// checkout of it.
type LeftBehindError struct {
	Move     Landing
	Checkout string
	Err      error
}

func (e *LeftBehindError) Error() string {
	return fmt.Sprintf("%s is at %s, but %s", strings.TrimPrefix(e.Move.Ref, "refs/heads/"), e.Move.New.Short(), e.Err)
}

func (e *LeftBehindError) Unwrap() error { return e.Err }

// UnfinishedError says that a checkout stays locked: its branch moved or may have
// moved, and the checkout could not be given back. CatchUp finishes it.
type UnfinishedError struct {
	Checkout string
	Err      error
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("the landing in the checkout %s is not finished: %s. Until it is, the index stays locked, so that no commit reverts the landed changes",
		e.Checkout, said{e.Err})
}

func (e *UnfinishedError) Unwrap() error { return e.Err }

// carry places files and indexes of the checkouts, while the branch is still where it
// was. When one fails, all are taken back: a branch that moves without its files would
// have them reverted by the operator's next commit.
func (g *Gate) carry(ctx context.Context, move Landing, ready steps) (left, err error) {
	for _, c := range move.Checkouts {
		var some *follow.LeftError
		var unplaced *follow.UnplacedError
		switch err := ready[c.Top].Carry(ctx); {
		case errors.As(err, &some):
			left = worse(left, &LeftBehindError{Move: move, Checkout: c.Top, Err: err})
		case errors.As(err, &unplaced):
			return nil, errors.Join(err, g.takeBack(ctx, ready))
		case err != nil:
			return nil, errors.Join(fmt.Errorf("the index of the checkout %s: %w", c.Top, err), g.takeBack(ctx, ready))
		}
	}
	return left, nil
}

// takeBack rewinds the checkouts of a branch that did not move after all.
func (g *Gate) takeBack(ctx context.Context, ready steps) (err error) {
	for at, step := range ready {
		delete(ready, at)
		if failed := g.rewind(ctx, step); failed != nil {
			err = &UnfinishedError{Checkout: at, Err: failed}
		}
	}
	return err
}

// leave keeps the checkouts locked when nobody knows whether the branch moved: the next
// cordon finishes the landing or takes it back.
func (g *Gate) leave(ready steps, why error) error {
	for at, step := range ready {
		delete(ready, at)
		step.Abandon()
		why = &UnfinishedError{Checkout: at, Err: why}
	}
	return why
}

// release unlocks the checkouts. It also updates a checkout that was switched to the
// branch while the branch moved.
func (g *Gate) release(ctx context.Context, move Landing, ready steps) error {
	var left error
	done := map[string]bool{}
	for _, c := range move.Checkouts {
		done[c.Top] = true
		if err := ready[c.Top].Release(); err != nil {
			err = fmt.Errorf("its files and its index are in place, but index.lock cannot be removed: %w", err)
			left = worse(left, &UnfinishedError{Checkout: c.Top, Err: err})
		}
		delete(ready, c.Top)
	}
	return worse(left, g.catchUp(ctx, move, done))
}

// worse keeps the first error, unless a later one leaves more to do.
func worse(a, b error) error {
	var unfinished *UnfinishedError
	if a == nil || errors.As(b, &unfinished) {
		return b
	}
	return a
}

func (g *Gate) bring(ctx context.Context, move Landing, c git.Checkout, step *follow.Step) error {
	err := finishStep(ctx, step)
	var left *follow.LeftError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &left):
		return &LeftBehindError{Move: move, Checkout: c.Top, Err: err}
	}
	return &UnfinishedError{Checkout: c.Top, Err: err}
}

// CatchUp brings checkouts to a landed branch that an interruption kept from it. It
// may be repeated. A checkout that is on another branch by now, or whose index is at
// another commit, was looked after by somebody. The caller holds the gate's lock.
func (g *Gate) CatchUp(ctx context.Context, move Landing) error {
	defer g.sweep()
	return g.catchUp(ctx, move, nil)
}

func (g *Gate) catchUp(ctx context.Context, move Landing, done map[string]bool) error {
	all, err := g.checkouts(ctx)
	if err != nil {
		return err
	}
	var left error
	for _, c := range all {
		if c.Branch != move.Ref || c.Prunable || done[c.Top] {
			continue
		}
		if went, err := g.wentOn(ctx, c, move); err != nil || went {
			if err != nil {
				left = worse(left, &UnfinishedError{Checkout: c.Top, Err: err})
			}
			continue
		}
		step, err := g.begin(ctx, c, move.move())
		switch {
		case err != nil:
			left = worse(left, &UnfinishedError{Checkout: c.Top, Err: err})
		case step.Apart:
			left = worse(left, step.Release())
		default:
			left = worse(left, g.bring(ctx, move, c, step))
		}
	}
	return left
}

// wentOn reports whether a branch moved on after a landing and a checkout of it is at the new tip, at the paths of
// the landing. Its files may be those from before the landing again: a later commit can have taken it back.
func (g *Gate) wentOn(ctx context.Context, c git.Checkout, move Landing) (bool, error) {
	tip, err := g.host.Ref(ctx, move.Ref)
	if err != nil || tip == move.New {
		return false, err
	}
	if _, interrupted := follow.Abandoned(c.GitDir); interrupted {
		return false, nil
	}
	staged, err := g.host.Staged(ctx, c, tip)
	if err != nil {
		return false, err
	}
	deltas, err := g.host.Diff(ctx, move.Old, move.New)
	if err != nil {
		return false, err
	}
	return !slices.ContainsFunc(deltas, func(d git.Delta) bool { return slices.Contains(staged, d.Path) }), nil
}
