// Package visitor lets the operator into the view of a worker: beside it while it runs, at
// its terminal, and afterwards in a cell of its own that keeps nothing of what is written.
// It also keeps visitors and those who remove things out of each other's way.
package visitor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell"
	"cordon/internal/cellnet"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
)

// OpenDoor lets the operator into the cell of a worker while it runs. A visitor
// can change the tree, so the journal has every visit. A worker works without a
// door as well.
func OpenDoor(s *worksite.Site, id lease.ID, door *cell.Door) {
	if door == nil {
		return
	}
	err := door.Open(s.State.Worker(string(id)), func(argv []string) error {
		return s.Append(id, ledger.Visited, ledger.Visit{Command: argv})
	})
	if err != nil {
		s.Voice.Step(id, "visitors", fmt.Sprintf("none: %v", err))
	}
}

// Visit runs a command of the operator's, or their shell, in the view of a worker:
// beside it while it runs, and afterwards in a cell of its own that shows what it
// left.
func Visit(ctx context.Context, s *worksite.Site, w *ledger.Worker, c cell.Command) (cell.Exit, error) {
	beside := c
	hold, back := worksite.LendTerminal(s.Voice)
	defer back()
	if c.Stderr == nil { // a terminal; elsewhere a command's own words stay alone
		beside.Started = func(cell.Launch) error {
			s.Voice.Step(w.ID, "view", "beside the worker; what you change is audited as its work")
			hold()
			return nil
		}
	}
	exit, err := cell.Visit(s.State.Worker(string(w.ID)), beside)
	var kept *cell.NotAdmittedError
	switch {
	case errors.As(err, &kept):
		return exit, fault.Refuse("%s: %w", w.ID, err)
	case !errors.Is(err, cell.ErrNoDoor):
		return exit, err
	}
	if why := whyClosed(s, w); why != "" {
		return exit, fault.Refuse("%s %s", w.ID, why)
	}
	return visitLeft(ctx, s, w, c)
}

// whyClosed says why there is no view of a worker to enter, or "".
func whyClosed(s *worksite.Site, w *ledger.Worker) string {
	held := s.State.Held(state.WorkerLock(string(w.ID)))
	switch {
	case held && (w.Start == nil || w.Exit != nil):
		return "is not running, and another cordon process is working on it"
	case held && !slices.Contains(w.Start.Layers, cell.Namespaces):
		return fmt.Sprintf("runs without namespaces (%s): there is no view of its own to enter", w.Start.Cell)
	case held:
		return "does not take visitors"
	case w.Lease.Lease().Policy.Isolation == policy.None:
		return "was unconfined: there is no view of its own to enter"
	case w.Tree == nil || s.TreeGone(w) != "":
		return "has no tree: there is nothing to see"
	}
	return ""
}

// visitLeft runs a command in a new cell with everything that a worker left, its
// tree, its home and its temporary files. It may be evidence: what is written goes
// to memory and is gone with the cell.
func visitLeft(ctx context.Context, s *worksite.Site, w *ledger.Worker, c cell.Command) (cell.Exit, error) {
	l := w.Lease.Lease()
	if err := s.Begin(ctx); err != nil {
		return cell.Exit{}, err
	}
	order, err := workspace.Enclose(ctx, s, w.Lease)
	if err != nil {
		return cell.Exit{}, err
	}
	leave, err := keepStill(s, w)
	if err != nil {
		return cell.Exit{}, err
	}
	defer leave()
	onlyShow(order, l.Worktree, s.TreeOf(w))
	word := "the files it left; your changes here are discarded"
	if n, err := cellnet.For(l.Policy); err == nil && n != nil { // the lease was the worker's
		word += ", and nothing can be reached"
	}
	s.Voice.Step(w.ID, "view", word)
	shells := []string{enclosure.Variable(c.Env, "SHELL"), "/bin/sh"}
	c.Dir, c.Env, c.Cell, c.Weaker = l.Worktree, ofVisitor(s.Environ(l)), order, l.Policy.Isolation == policy.Degraded
	c.Started = func(launch cell.Launch) error {
		for _, m := range launch.Missing {
			s.Voice.Step(w.ID, "weaker", m.String())
		}
		return nil
	}
	return firstOf(shells, c, func(c cell.Command) (cell.Exit, error) {
		return cell.Run(context.WithoutCancel(ctx), c) // signals are the command's
	})
}

// ofVisitor leaves out what would have the next launch of the worker end the visit
// as something that the worker left running.
func ofVisitor(env []string) []string {
	return slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, cell.Place+"=") })
}

// firstOf runs a command, or the first of the shells that is there in the cell.
func firstOf(shells []string, c cell.Command, run func(cell.Command) (cell.Exit, error)) (exit cell.Exit, err error) {
	if len(c.Argv) > 0 {
		return run(c)
	}
	for _, shell := range shells {
		if shell == "" {
			continue
		}
		c.Argv = []string{shell}
		exit, err = run(c)
		var program *cell.ProgramError
		if !errors.As(err, &program) || !program.Absent {
			break
		}
	}
	return exit, err
}

// keepStill keeps every cell from writing what a worker left, as long as somebody
// looks at it, and gc and discard from taking it away. A cell locks the directory
// for itself alone, and so do they.
func keepStill(s *worksite.Site, w *ledger.Worker) (leave func(), err error) {
	dir, err := os.Open(s.LayersOf(w))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Refuse("%s has left nothing to look at", w.ID)
	}
	if err != nil {
		return nil, err
	}
	if err := lockPatiently(dir, unix.LOCK_SH, neverHopeless); err != nil {
		return nil, errors.Join(fault.Refuse("%s: its files are in use by another cell", w.ID), dir.Close())
	}
	if !stillNamed(dir) {
		return nil, errors.Join(fault.Refuse("%s was removed in the meantime", w.ID), dir.Close())
	}
	return func() { dir.Close() }, nil
}

// stillNamed reports whether an open directory is the one of its name: it is moved away
// under the lock.
func stillNamed(dir *os.File) bool {
	opened, err := dir.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(dir.Name())
	return err == nil && os.SameFile(opened, named)
}

// ErrVisited says that what a worker left is not to be touched now.
var ErrVisited = errors.New("someone is looking at it with cordon shell")

// Exclude keeps visitors from what a worker left, until it is let go. It fails with
// errVisited when there are some.
func Exclude(s *worksite.Site, w *ledger.Worker) (letGo func(), err error) {
	dir, err := os.Open(s.LayersOf(w))
	if errors.Is(err, fs.ErrNotExist) {
		return func() {}, nil // and nobody looks at nothing
	}
	if err != nil {
		return nil, err
	}
	if err := lockPatiently(dir, unix.LOCK_EX, visitedNow); err != nil {
		return nil, errors.Join(&fault.RefusedError{Err: fmt.Errorf("%s: %w", w.ID, err)}, dir.Close())
	}
	return func() { dir.Close() }, nil
}

// Visited reports whether somebody looks at what a worker left.
func Visited(s *worksite.Site, w *ledger.Worker) bool {
	letGo, err := Exclude(s, w)
	if err == nil {
		letGo()
	}
	return errors.Is(err, ErrVisited)
}

// SayVisited tells why the launch of a worker may have to wait.
func SayVisited(s *worksite.Site, w *ledger.Worker) {
	if Visited(s, w) {
		s.Voice.Step(w.ID, "waiting", ErrVisited.Error())
	}
}

// lockPatiently locks a directory. It is patient with who only asks whether somebody looks,
// and with a cell that is about to end, but not when hopeless says so three times: a
// lock that changes hands can look like that once.
func lockPatiently(dir *os.File, how int, hopeless func(*os.File) error) (err error) {
	times := 0
	for range 100 {
		err = unix.Flock(int(dir.Fd()), how|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		if why := hopeless(dir); why == nil {
			times = 0
		} else if times++; times == 3 {
			return why
		}
		time.Sleep(5 * time.Millisecond)
	}
	return errors.New("its files are in use by another cell")
}

func neverHopeless(*os.File) error { return nil }

// visitedNow is errVisited when a lock that cannot be had alone can be shared.
func visitedNow(dir *os.File) error {
	if unix.Flock(int(dir.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil {
		return nil
	}
	_ = unix.Flock(int(dir.Fd()), unix.LOCK_UN)
	return ErrVisited
}

// onlyShow makes the order of a worker's cell one that changes nothing: what it
// wrote in place is copied on write, and that is kept in memory.
func onlyShow(o *cell.Order, worktree, tree string) {
	over := func(at, from string) {
		layer := fmt.Sprintf("shown-%d", len(o.Over)) // nothing is kept under this name
		o.Over = append(o.Over, cell.Over{At: at, Below: []string{from}, Layer: layer})
	}
	for _, at := range slices.Concat(o.Write, o.Pinned) {
		from := at
		if rel, err := filepath.Rel(worktree, at); err == nil && filepath.IsLocal(rel) {
			from = filepath.Join(tree, rel) // it was moved when it was frozen
		}
		over(at, from)
	}
	o.Bind = slices.DeleteFunc(slices.Clone(o.Bind), func(b cell.Bind) bool {
		if b.Write {
			over(b.At, b.From)
		}
		return b.Write
	})
	o.Write, o.Pinned = nil, nil
	o.Layers, o.Kept = "", o.Layers
	o.Commit, o.Objects = "", "" // its repository is as it left it: a commit need not work
}
