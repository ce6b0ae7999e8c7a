package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/state"
)

// environ is the environment for a lease's worktree.
func (s *Session) environ(l lease.Lease) []string {
	env := enclosure.Environ(l, os.Environ(), s.hostNames()...)
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

// Request is one start of a worker's command or client.
type Request struct {
	Command  []string  // instead of the lease's
	Prompt   string    // for an agent that goes on
	Stdin    io.Reader // for the worker
	Terminal *os.File  // handed over to the worker
	Outer    *os.File  // its other side, where this process has made it
	Output   io.Writer // the worker's
}

// Result is what became of a request without an error.
type Result struct {
	Refused bool // nothing was started: an earlier launch left a violation, and is to be judged as it is
}

// runLaunch runs the command or client of a worker to its end.
func (s *Session) runLaunch(ctx context.Context, w *ledger.Worker, how Request) (Result, error) {
	if why := s.gone(w); why != "" {
		return Result{}, errors.New(why)
	}
	if violates, err := s.checkEarlier(ctx, w, how); err != nil || violates {
		return Result{Refused: violates}, err
	}
	return Result{}, s.runCommand(ctx, w, how)
}

// checkEarlier looks at what an earlier launch left before it is covered by another.
func (s *Session) checkEarlier(ctx context.Context, w *ledger.Worker, how Request) (violates bool, err error) {
	if w.Start != nil && w.Audit == nil {
		look := func() error { violates, err = s.lookAgain(ctx, w); return err }
		if err := s.holdGate(ctx, look); err != nil || violates {
			return violates, err
		}
	}
	return s.again(ctx, w, how)
}

// runCommand runs a command or client in its cell, between the preparations and the
// records of a launch.
func (s *Session) runCommand(ctx context.Context, w *ledger.Worker, how Request) (failed error) {
	out, err := s.transcript(w.ID)
	if err != nil {
		return err
	}
	defer out.Close()
	kept := &bounded{w: out, left: transcriptRoom}
	s.sayVisited(w)
	tee := io.MultiWriter(kept, how.Output)
	if err := s.unshelve(w); err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, s.shelve(w)) }() // also when it did not start
	r, err := s.equip(ctx, w, how)
	defer r.close()
	if err != nil {
		return err
	}
	r.transcript = kept
	if r.left, err = s.watchAdopted(ctx, w); err != nil {
		return err
	}
	defer func() { s.sayDisarmed(w, r.left.end()) }()
	if err := s.setup(ctx, w, io.MultiWriter(kept, unheard{how.Output})); err != nil {
		return errors.Join(err, s.tallyNetwork(w))
	}
	exit, err := s.start(ctx, w, how, r, tee)
	if err == nil {
		err = s.shelve(w)
	}
	if err != nil {
		return errors.Join(err, s.tallyNetwork(w)) // setup may have used it
	}
	r.close() // nothing is decided any more
	if err := s.tallies(w); err != nil {
		return err
	}
	if err := s.append(w.ID, ledger.Ended, exit); err != nil {
		return err
	}
	if exit.Reason == unproven {
		return refuse("%s was stopped: the hooks of %s never reported, so its tool calls would run unguarded (cordon logs %s shows what it printed; "+
			"agent.proof_within in the policy sets how long cordon waits)", w.ID, w.Agent.Client, w.ID)
	}
	return ctx.Err()
}

// sayDisarmed says what was moved aside.
func (s *Session) sayDisarmed(w *ledger.Worker, text string) {
	for line := range strings.Lines(text) {
		s.Voice.Step(w.ID, "disarmed", strings.TrimSpace(line))
	}
}

// again makes ready for another launch of an agent.
func (s *Session) again(ctx context.Context, w *ledger.Worker, how Request) (violates bool, err error) {
	if w.Agent == nil || w.Start == nil {
		return false, nil
	}
	if err := s.sumLost(w); err != nil {
		return false, err
	}
	if len(how.Command) > 0 {
		return false, nil
	}
	return s.afresh(ctx, w)
}

// lookAgain compares the host before the baseline of a launch that was never
// audited is given up: running the command again must not make its changes
// forgotten. What decides what git runs, or carries the worker's name, has it
// judged as it is. What nobody can be named for needs the operator's word.
func (s *Session) lookAgain(ctx context.Context, w *ledger.Worker) (violates bool, err error) {
	lenient := *w
	lenient.Options.OperatorWorks = true
	found, _, err := s.tripwire(ctx, &lenient)
	if err != nil {
		return false, err
	}
	for _, f := range found {
		s.Voice.Step(w.ID, "host", "changed since the launch that was interrupted: "+Line(f))
		violates = violates || f.Class == audit.Violation
	}
	if len(found) == 0 || violates || w.Options.OperatorWorks || s.OperatorActive {
		return violates, nil
	}
	return false, refuse("your repository changed since %s was interrupted, and running it again would cover that: if that was you, "+
		"cordon resume --operator-active %s, otherwise cordon merge %s judges what it left", w.ID, w.ID, w.ID)
}

// start records the host's state, runs the command to its end, and records that
// it runs when the cell is proven. Nothing lands between the two, so that every
// landing is in the one or after the other.
func (s *Session) start(ctx context.Context, w *ledger.Worker, how Request, r *rig, out io.Writer) (cell.Exit, error) {
	c, err := s.command(ctx, w, how, r, out)
	if err != nil {
		return cell.Exit{}, err
	}
	defer s.show(w.ID, how, r.transcript, &c)()
	if r.agent != nil {
		return s.startAgent(ctx, w, r, c, out)
	}
	return s.startCommand(ctx, w, r, c)
}

// startCommand starts a command.
func (s *Session) startCommand(ctx context.Context, w *ledger.Worker, r *rig, c cell.Command) (cell.Exit, error) {
	return s.startCommandThen(ctx, w, r, c, func() {})
}

// startCommandThen starts a command, and does something when that is recorded and
// before the command's first instruction.
func (s *Session) startCommandThen(ctx context.Context, w *ledger.Worker, r *rig, c cell.Command, then func()) (cell.Exit, error) {
	unlock, err := s.State.Await(ctx, state.GateLock)
	if err != nil {
		return cell.Exit{}, err
	}
	release := sync.OnceFunc(unlock)
	defer release()
	baseline, err := s.recordHost(ctx, w.Lease.Lease())
	if err != nil {
		return cell.Exit{}, err
	}
	recorded := false
	begin := func(l cell.Launch) error {
		defer release()
		if err := r.left.started(l); err != nil {
			return err
		}
		recorded = true
		at := ledger.Cell{Layers: l.Layers, Landlock: l.Landlock, Missing: l.Missing, Proven: l.Proven, Private: worthRecording(l.Private), Memory: l.Memory}
		err := s.append(w.ID, ledger.Started, ledger.Start{Command: c.Argv, Baseline: baseline, Agent: r.agent != nil, Heard: r.told(w), Cell: at})
		if err == nil {
			if l.Pid > 0 {
				s.sayCell(w.ID, at)
				s.sayNetwork(w.Lease.Lease(), at)
			}
			s.Voice.Step(w.ID, "running", Shorten(r.shown(w, c)))
			s.openDoor(w.ID, l.Door)
			then()
		}
		return err
	}
	c.Started = begin
	exit, err := cell.Run(ctx, c)
	if !recorded && ctx.Err() == nil {
		s.notConfinable(w.Lease.Lease().Policy)
	}
	var weak *cell.MissingError
	switch {
	case errors.As(err, &weak):
		return exit, &RefusedError{err}
	case !recorded && ctx.Err() != nil:
		return exit, ctx.Err()
	case !recorded: // a command that cannot be started is the worker's failure
		return exit, begin(cell.Launch{})
	}
	return exit, nil
}

// sayCell tells what a worker runs in.
func (s *Session) sayCell(id lease.ID, c ledger.Cell) {
	s.Voice.Step(id, "cell", c.String())
	for _, m := range c.Missing {
		s.Voice.Step(id, "weaker", m.String())
	}
}

func (how Request) command(w *ledger.Worker) []string {
	if len(how.Command) > 0 {
		return how.Command
	}
	return w.Command
}

func (s *Session) command(ctx context.Context, w *ledger.Worker, how Request, r *rig, out io.Writer) (cell.Command, error) {
	c, err := s.confined(ctx, w.Lease, how.command(w))
	if err != nil {
		return c, err
	}
	r.enter(&c)
	c.Stdin, c.Stdout, c.Stderr, c.Terminal = how.Stdin, out, out, how.Terminal
	switch {
	case how.Terminal != nil && c.Cell != nil: // it has one of its own, and only the relay reads this one
		c.Stdin, c.Stdout, c.Stderr, c.Transcript = nil, nil, nil, r.transcript
	case how.Terminal != nil:
		c.Stdin, c.Stdout, c.Stderr = how.Terminal, how.Terminal, how.Terminal
	}
	return c, nil
}

// confined is a command in the cell of a worker.
func (s *Session) confined(ctx context.Context, sealed lease.Sealed, argv []string) (cell.Command, error) {
	l := sealed.Lease()
	order, err := s.enclose(ctx, sealed)
	if err != nil {
		return cell.Command{}, err
	}
	c := cell.Command{
		Argv: argv, Dir: l.Worktree, Env: s.environ(l), Limit: time.Duration(l.Policy.Limits.Time),
		Cell: order, Weaker: l.Policy.Isolation == policy.Degraded,
	}
	err = s.connect(&c, l)
	return c, err
}

// acceptance is a command of the policy in the cell of a merged tree. It shares
// nothing that the worker could have written but the tree.
func (s *Session) acceptance(ctx context.Context, sealed lease.Sealed, t mergedTree, line string) (cell.Command, error) {
	l := sealed.Lease()
	l.Worktree = t.top
	order, err := t.enclose(ctx, s, sealed)
	if err != nil {
		return cell.Command{}, err
	}
	c := cell.Command{
		Argv: cell.Shell(line), Dir: t.top, Env: s.environ(l), Limit: time.Duration(l.Policy.Limits.Time),
		Cell: order, Weaker: l.Policy.Isolation == policy.Degraded,
	}
	err = s.connect(&c, l)
	return c, err
}

// setup prepares the tree. A worker that ran before may have written what the
// commands run, and the baseline of its next launch is not taken yet.
func (s *Session) setup(ctx context.Context, w *ledger.Worker, out io.Writer) error {
	l := w.Lease.Lease()
	if len(l.Policy.Setup) == 0 {
		return nil
	}
	return s.watched(ctx, w, func() error { return s.runSetup(ctx, w.Lease, out) })
}

func (s *Session) runSetup(ctx context.Context, sealed lease.Sealed, out io.Writer) error {
	l := sealed.Lease()
	for _, line := range l.Policy.Setup {
		s.Voice.Step(l.ID, "setup", line)
		fmt.Fprintf(out, "$ %s\n", line)
		c, err := s.confined(ctx, sealed, cell.Shell(line))
		if err != nil {
			return err
		}
		c.Stdout, c.Stderr = out, out
		var layers []cell.Layer
		c.Started = func(l cell.Launch) error { layers = l.Layers; return nil }
		exit, err := cell.Run(ctx, c)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var weak *cell.MissingError
		if errors.As(err, &weak) {
			return &RefusedError{err}
		}
		if err != nil || !exit.OK() {
			return &SetupError{l.ID, line, exit, layers, l.Policy.Limits}
		}
	}
	return nil
}

// transcript is where a worker's output is kept.
func (s *Session) transcript(id lease.ID) (*os.File, error) {
	if err := os.MkdirAll(s.State.Worker(string(id)), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(s.workerFile(id, "transcript"), os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
}

// transcriptRoom is what one launch may fill of the transcript: it is on the
// operator's disk, and no limit of the worker's counts it.
const transcriptRoom = 256 << 20

// bounded takes everything and keeps the beginning.
type bounded struct {
	w    io.Writer
	left int // below 0: it was cut
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left < 0 {
		return len(p), nil
	}
	keep := p[:min(len(p), b.left)]
	if _, err := b.w.Write(keep); err != nil {
		return 0, err
	}
	if b.left -= len(keep); len(keep) == len(p) {
		return len(p), nil
	}
	b.left = -1
	_, err := io.WriteString(b.w, "\n[the transcript ends here: there was more]\n")
	return len(p), err
}

// unheard writes to somebody who may have stopped reading. Setup and acceptance go on: they
// are not the worker's, and their end decides what becomes of it.
type unheard struct{ to io.Writer }

func (u unheard) Write(p []byte) (int, error) {
	_, _ = u.to.Write(p) // the transcript has it
	return len(p), nil
}

// giveUpOn records the end of a worker that nobody saw end, and how many processes it left.
func (s *Session) giveUpOn(w *ledger.Worker, left int) error {
	if err := errors.Join(s.shelve(w), s.sumLost(w)); err != nil {
		return err
	}
	if err := s.tallies(w); err != nil {
		return err
	}
	return s.append(w.ID, ledger.Ended, cell.Exit{Code: 1, Reason: cell.Vanished, Left: left})
}
