package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/gate"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/worktree"
)

// Drive says how far a worker is to be taken, and with what.
type Drive struct {
	Again    bool      // run the command again although it ran before
	Command  []string  // instead of the lease's
	Judge    bool      // do not run anything: audit what is there and take it to the gate
	Stdin    io.Reader // for the worker
	Terminal *os.File  // handed over to the worker
	Output   io.Writer // the worker's
	History  bool      // keep the worker's commits

	audited, judged bool // done in this drive
	unknown         error
}

// Run leases and takes a worker through the whole pipeline.
func (s *Session) Run(ctx context.Context, d Dispatch, how Drive) (*ledger.Worker, error) {
	w, err := s.Lease(ctx, d)
	if err != nil {
		return nil, err
	}
	return s.Continue(ctx, w.ID, how)
}

// Continue takes a worker on from wherever it is.
func (s *Session) Continue(ctx context.Context, id lease.ID, how Drive) (*ledger.Worker, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	release, err := s.State.Lock(state.WorkerLock(string(id)), false)
	if errors.Is(err, state.ErrLocked) {
		return nil, fmt.Errorf("%s: another cordon process is at work on it", id)
	}
	if err != nil {
		return nil, err
	}
	defer release()
	if how.Output == nil {
		how.Output = io.Discard
	}
	for {
		w, err := s.Find(string(id))
		if err != nil {
			return nil, err
		}
		step := s.next(w, &how)
		if step == nil {
			return w, nil
		}
		if err := ctx.Err(); err != nil {
			return w, err
		}
		if err := step(ctx, w, &how); err != nil {
			return w, err
		}
	}
}

type step func(context.Context, *ledger.Worker, *Drive) error

// next is the pipeline.
func (s *Session) next(w *ledger.Worker, how *Drive) step {
	switch {
	case w.Discard != nil || w.Removal != nil:
		return nil
	case w.Tree == nil && how.Judge:
		return nil // nothing was made, so there is nothing to judge
	case w.Tree == nil:
		return s.prepare
	case w.Quarantine != nil && w.Release == nil:
		return s.freeze(w)
	case w.Release != nil:
		return s.afterRelease(w, how)
	case w.Start == nil && how.Judge:
		return nil
	case w.Start == nil, w.Exit == nil && !how.Judge, how.Again:
		return s.launch
	case w.Exit == nil:
		return s.giveUp
	case w.Intent != nil && w.Gate == nil:
		return s.recover
	case w.Audit == nil, how.Judge && !how.audited:
		return s.audit
	}
	return s.afterAudit(w, how)
}

func (s *Session) afterAudit(w *ledger.Worker, how *Drive) step {
	switch {
	case how.unknown != nil:
		return s.quarantine
	case w.Audit.Verdict != audit.VerdictClean:
		return s.quarantine
	case w.Gate != nil && (w.Gate.Outcome == gate.Violating || w.Gate.Outcome == gate.Rejected):
		return s.quarantine
	case w.Gate != nil && !(how.Judge && !how.judged):
		return nil
	case w.Gate == nil && !how.Judge && (w.Options.NoMerge || !w.Exit.OK()):
		return s.unwanted(w)
	}
	return s.judge
}

func (s *Session) afterRelease(w *ledger.Worker, how *Drive) step {
	switch {
	case how.unknown != nil:
		return s.quarantineAgain
	case w.Intent != nil && w.Gate == nil && !how.judged:
		return s.recover
	case w.Gate == nil, how.Judge && !how.judged:
		return s.landReleased
	case w.Gate.Outcome == gate.Violating || w.Gate.Outcome == gate.Rejected:
		return s.quarantineAgain
	}
	return nil
}

// prepare makes the worktree. What an interrupted attempt left is thrown away:
// no worker has seen it.
func (s *Session) prepare(ctx context.Context, w *ledger.Worker, how *Drive) error {
	l, id := w.Lease.Lease(), string(w.ID)
	if err := s.gate.Pin(ctx, l.ID, l.Base); err != nil {
		return err
	}
	if l.Adopted {
		return s.append(w.ID, ledger.Prepared, ledger.Tree{})
	}
	for _, left := range []string{s.State.NewTree(id), s.State.Tree(id)} {
		if _, err := s.State.Trash(left, s.Now()); err != nil {
			return err
		}
	}
	began := s.Now()
	made, err := worktree.Make(ctx, worktree.Order{
		Bin: s.Bin, Host: s.Host, Source: s.Host.Repo, Alternate: s.State.Objects(),
		Commit: l.Base, Branch: l.Branch, Partial: s.State.NewTree(id), Path: l.Worktree,
		Progress: func(done, total int) { s.Voice.Files(w.ID, done, total) },
	})
	var filter *worktree.FilterError
	if errors.As(err, &filter) {
		return &RefusedError{err}
	}
	if err != nil {
		return fmt.Errorf("worktree of %s: %w", w.ID, err)
	}
	s.Voice.Step(w.ID, "worktree", describeMade(made, s.Now().Sub(began)))
	return s.append(w.ID, ledger.Prepared, made)
}

func describeMade(m worktree.Made, took time.Duration) string {
	text := fmt.Sprintf("%d files, a repository of its own, %.1f s", m.Files, took.Seconds())
	if n := len(m.Included); n > 0 {
		text += fmt.Sprintf("; %d files by .worktreeinclude", n)
	}
	if n := len(m.Submodules); n > 0 {
		text += fmt.Sprintf("; %d submodules left empty", n)
	}
	return text
}

// environ is the environment for a lease's worktree.
func (s *Session) environ(l lease.Lease) []string {
	return worktree.Environ(l, os.Environ(), s.Host.Top, s.Host.Dir)
}

// launch runs the command. What an earlier launch left running is ended first:
// two runs must not share a tree.
func (s *Session) launch(ctx context.Context, w *ledger.Worker, how *Drive) error {
	l := w.Lease.Lease()
	how.Again = false
	command := w.Command
	if len(how.Command) > 0 {
		command = how.Command
	}
	cell.EndMarked(cell.Mark + "=" + string(w.ID))
	out, err := s.transcript(w.ID)
	if err != nil {
		return err
	}
	defer out.Close()
	tee := io.MultiWriter(out, how.Output)
	if err := s.setup(ctx, l, tee); err != nil {
		return err
	}
	baseline, err := s.recordHost(ctx, w.ID)
	if err != nil {
		return err
	}
	err = s.append(w.ID, ledger.Started, ledger.Start{Command: command, Layers: cell.Layers(), Baseline: baseline})
	if err != nil {
		return err
	}
	s.Voice.Step(w.ID, "running", Shorten(command))
	c := cell.Command{
		Argv: command, Dir: l.Worktree, Env: s.environ(l), Stdin: how.Stdin,
		Stdout: tee, Stderr: tee, Limit: time.Duration(l.Policy.Limits.Time), Terminal: how.Terminal,
	}
	if how.Terminal != nil {
		c.Stdin, c.Stdout, c.Stderr = how.Terminal, how.Terminal, how.Terminal
	}
	exit, _ := cell.Run(ctx, c) // an error is in exit as well
	if err := s.append(w.ID, ledger.Ended, exit); err != nil {
		return err
	}
	return ctx.Err()
}

func (s *Session) setup(ctx context.Context, l lease.Lease, out io.Writer) error {
	for _, line := range l.Policy.Setup {
		s.Voice.Step(l.ID, "setup", line)
		fmt.Fprintf(out, "$ %s\n", line)
		exit, err := cell.Run(ctx, cell.Command{
			Argv: cell.Shell(line), Dir: l.Worktree, Env: s.environ(l), Stdout: out, Stderr: out,
			Limit: time.Duration(l.Policy.Limits.Time),
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !exit.OK() {
			return fmt.Errorf("setup command %q failed (%d %s): the worker was not started; see cordon logs %s", line, exit.Code, exit.Reason, l.ID)
		}
	}
	return nil
}

// transcript is where a worker's output is kept.
func (s *Session) transcript(id lease.ID) (*os.File, error) {
	if err := os.MkdirAll(s.State.Worker(string(id)), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(s.workerFile(id, "transcript"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// giveUp records the end of a worker that nobody saw end.
func (s *Session) giveUp(ctx context.Context, w *ledger.Worker, how *Drive) error {
	left := cell.EndMarked(cell.Mark + "=" + string(w.ID))
	return s.append(w.ID, ledger.Ended, cell.Exit{Code: 1, Reason: cell.Vanished, Left: left})
}

// unwanted deals with a clean result that is not to be merged now.
func (s *Session) unwanted(w *ledger.Worker) step {
	if w.Exit.OK() || w.Exit.Reason == cell.Interrupted || w.Lease.Lease().Policy.PreserveOnFailure {
		return nil
	}
	return func(ctx context.Context, w *ledger.Worker, how *Drive) error {
		return s.discard(ctx, w, ledger.Discard{Who: "cordon", Why: "the worker failed and preserve_on_failure is false"})
	}
}

// Shorten is a command in one line, safe for a terminal.
func Shorten(command []string) string {
	text := ""
	for i, word := range command {
		if i > 0 {
			text += " "
		}
		text += word
	}
	return audit.Path(text).String()
}
