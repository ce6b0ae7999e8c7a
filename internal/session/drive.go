package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
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

	left            int  // processes of an earlier launch that were ended
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
	// The lock is ours: whatever runs under this name was left by a cordon that
	// was killed, and must not share the tree with what follows.
	how.left = s.endLeft(id)
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
	case w.Intent != nil && w.Gate == nil: // before anything that would forget it
		return s.finishLanding
	case w.Start == nil, w.Exit == nil && !how.Judge, how.again(w):
		return s.launch
	case w.Exit == nil:
		return s.giveUp
	case w.Audit == nil, how.Judge && !how.audited:
		return s.settled(s.audit)
	}
	return s.afterAudit(w, how)
}

// again reports whether the command is to run once more. The worker is looked at
// under its lock, so that a run which another process has finished meanwhile is
// not repeated.
func (how *Drive) again(w *ledger.Worker) bool {
	if !how.Again || w.Gate != nil && w.Gate.Outcome == gate.Merged {
		return false
	}
	return w.Exit != nil && !w.Exit.OK() || len(how.Command) > 0
}

// settled does a step while nothing lands and no lease is written: it compares
// the host with what cordon recorded, or records what it did to the host.
func (s *Session) settled(act step) step {
	return func(ctx context.Context, w *ledger.Worker, how *Drive) error {
		release, err := s.State.Lock(state.GateLock, true)
		if err != nil {
			return err
		}
		defer release()
		return act(ctx, w, how)
	}
}

func (s *Session) afterAudit(w *ledger.Worker, how *Drive) step {
	switch {
	case how.unknown != nil:
		return s.settled(s.quarantine)
	case w.Audit.Verdict != audit.VerdictClean:
		return s.settled(s.quarantine)
	case w.Gate != nil && (w.Gate.Outcome == gate.Violating || w.Gate.Outcome == gate.Rejected):
		return s.settled(s.quarantine)
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
		return s.finishLanding
	case w.Gate == nil, how.Judge && !how.judged:
		return s.landReleased
	case w.Gate.Outcome == gate.Violating || w.Gate.Outcome == gate.Rejected:
		return s.quarantineAgain
	}
	return nil
}

// finishLanding deals with a landing whose end was not recorded. When it turns
// out to have happened, this drive has nothing left to do.
func (s *Session) finishLanding(ctx context.Context, w *ledger.Worker, how *Drive) error {
	if err := s.recover(ctx, w, how); err != nil {
		return err
	}
	now, err := s.Find(string(w.ID))
	if err == nil && now.Gate != nil && now.Gate.Outcome == gate.Merged {
		how.audited, how.judged, how.Again = true, true, false
	}
	return err
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
	if err := s.State.Erase(s.State.NewTree(id)); err != nil {
		return err
	}
	if _, err := s.State.Trash(s.State.Tree(id), s.Now()); err != nil {
		return err
	}
	began := s.Now()
	made, err := worktree.Make(ctx, worktree.Order{
		Bin: s.Bin, Host: s.Host, Source: s.Host.Repo, Alternate: s.State.Objects(),
		Commit: l.Base, Branch: l.Branch, Partial: s.State.NewTree(id), Path: l.Worktree,
		Progress: func(done, total int) { s.Voice.Files(w.ID, done, total) },
	})
	if err != nil {
		// On a full disk the unfinished tree is what fills it.
		return fmt.Errorf("worktree of %s: %w", w.ID, errors.Join(refused(err), s.State.Erase(s.State.NewTree(id))))
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
	env := worktree.Environ(l, os.Environ(), s.hostNames()...)
	return append(env, cell.Place+"="+filepath.Base(s.State.Path()))
}

// hostNames are the paths by which the environment may name the host: its git
// directory, its checkouts, and the way by links that the operator came.
func (s *Session) hostNames() []string {
	names := []string{s.Host.Dir, s.Host.Top}
	if filepath.Base(s.Host.Dir) == ".git" {
		names = append(names, filepath.Dir(s.Host.Dir))
	}
	at := os.Getenv("PWD")
	real, err := filepath.EvalSymlinks(at)
	if err != nil {
		return names
	}
	for _, top := range names {
		if rest, ok := strings.CutPrefix(real, top); ok && top != "" && strings.HasSuffix(at, rest) {
			names = append(names, strings.TrimSuffix(at, rest))
		}
	}
	return names
}

// endLeft ends what an earlier launch of a worker left running.
func (s *Session) endLeft(id lease.ID) int {
	return cell.EndMarked(cell.Mark+"="+string(id), cell.Place+"="+filepath.Base(s.State.Path()))
}

// launch runs the command.
func (s *Session) launch(ctx context.Context, w *ledger.Worker, how *Drive) error {
	l := w.Lease.Lease()
	how.Again = false
	if !exists(l.Worktree) {
		return fmt.Errorf("the worktree of %s is gone: there is nothing to go on with (cordon discard %s)", w.ID, w.ID)
	}
	if w.Start != nil && w.Audit == nil {
		if err := s.settled(s.lookAgain)(ctx, w, how); err != nil || how.Judge {
			return err
		}
	}
	out, err := s.transcript(w.ID)
	if err != nil {
		return err
	}
	defer out.Close()
	tee := io.MultiWriter(out, how.Output)
	if err := s.setup(ctx, l, tee); err != nil {
		return err
	}
	if err := s.settled(s.start)(ctx, w, how); err != nil {
		return err
	}
	exit, _ := cell.Run(ctx, s.command(l, w, how, tee)) // an error is in exit as well
	if err := s.append(w.ID, ledger.Ended, exit); err != nil {
		return err
	}
	return ctx.Err()
}

// lookAgain compares the host before the baseline of a launch that was never
// audited is given up. Changes that may be the operator's are said. What decides
// what git runs, or carries the worker's name, must not be forgotten by running
// the command again: the worker is judged as it is.
func (s *Session) lookAgain(ctx context.Context, w *ledger.Worker, how *Drive) error {
	lenient := *w
	lenient.Options.OperatorWorks = true
	found, _, err := s.tripwire(ctx, &lenient)
	if err != nil {
		return err
	}
	for _, f := range found {
		s.Voice.Step(w.ID, "host", "changed since the launch that was interrupted: "+Line(f))
		how.Judge = how.Judge || f.Class == audit.Violation
	}
	return nil
}

// start records the host's state and that the command runs now. Nothing lands
// between the two, so that every landing is in the one or after the other.
func (s *Session) start(ctx context.Context, w *ledger.Worker, how *Drive) error {
	baseline, err := s.recordHost(ctx, w.ID)
	if err != nil {
		return err
	}
	command := how.command(w)
	err = s.append(w.ID, ledger.Started, ledger.Start{Command: command, Layers: cell.Layers(), Baseline: baseline})
	if err == nil {
		s.Voice.Step(w.ID, "running", Shorten(command))
	}
	return err
}

func (how *Drive) command(w *ledger.Worker) []string {
	if len(how.Command) > 0 {
		return how.Command
	}
	return w.Command
}

func (s *Session) command(l lease.Lease, w *ledger.Worker, how *Drive, out io.Writer) cell.Command {
	c := cell.Command{
		Argv: how.command(w), Dir: l.Worktree, Env: s.environ(l), Stdin: how.Stdin,
		Stdout: out, Stderr: out, Limit: time.Duration(l.Policy.Limits.Time), Terminal: how.Terminal,
	}
	if how.Terminal != nil {
		c.Stdin, c.Stdout, c.Stderr = how.Terminal, how.Terminal, how.Terminal
	}
	return c
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
	return s.append(w.ID, ledger.Ended, cell.Exit{Code: 1, Reason: cell.Vanished, Left: how.left})
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
