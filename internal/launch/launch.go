// Package launch starts the command or the agent client of a worker once, in its cell, and
// records how that began and ended: setup, the guard and the proof that its hooks work,
// logins, the mailbox, the network and the transcript. A launch is given a Request and
// returns a Result.
//
// It refuses to decide what is next: package session does, by the journal.
package launch

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"cordon/internal/cell"
	"cordon/internal/confine"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/inspect"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/visitor"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
)

// Request is one start of a worker's command or client.
type Request struct {
	Command  []string  // instead of the lease's
	Prompt   string    // for a worker that goes on
	Stdin    io.Reader // for the worker
	Terminal *os.File  // handed over to the worker
	Outer    *os.File  // its other side, where this process has made it
	Output   io.Writer // of the worker and its setup commands
	Stdout   io.Writer // the worker's standard output; nil: goes to Output
	Budget   Budget    // what its client may use
	Unpacks  bool      // the command only puts a result into the tree: there is nothing to set up
}

// Result is what became of a request without an error.
type Result struct {
	Refused bool // nothing was started: an earlier launch left a violation, and is to be judged as it is
}

// Run runs the command or client of a worker to its end.
func Run(ctx context.Context, s *worksite.Site, w *ledger.Worker, how Request) (Result, error) {
	if why := s.TreeGone(w); why != "" {
		return Result{}, errors.New(why)
	}
	if violates, err := checkEarlier(ctx, s, w, how); err != nil || violates {
		return Result{Refused: violates}, err
	}
	return Result{}, runCommand(ctx, s, w, how)
}

// runCommand runs a command or client in its cell, between the preparations and the
// records of a launch.
func runCommand(ctx context.Context, s *worksite.Site, w *ledger.Worker, how Request) (failed error) {
	out, err := s.AppendTranscript(w.ID)
	if err != nil {
		return err
	}
	defer out.Close()
	drawing, err := s.Draw(w.ID, out)
	if err != nil {
		return err
	}
	defer drawing.Close()
	kept := &worksite.Bounded{To: drawing, Room: worksite.TranscriptRoom}
	visitor.SayVisited(s, w)
	var tail enclosure.Tail
	to := newOutput(io.MultiWriter(kept, &tail), how)
	first := warmSeat(w, how)
	defer first.drop()
	if err := workspace.PutGitBack(s, w); err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, workspace.TakeGitOut(s, w)) }() // also when it did not start
	r, err := prepareEquipment(ctx, s, w, how)
	defer r.close()
	if err != nil {
		return err
	}
	r.transcript, r.drawing, r.budget, r.seat = kept, drawing, how.Budget, first
	said, err := confine.BeginAdopted(ctx, s, w)
	sayDisarmed(s, w, said)
	if err != nil {
		return err
	}
	if !how.Unpacks {
		if err := setup(ctx, s, w, io.MultiWriter(kept, worksite.Unheeded{To: how.Output})); err != nil {
			return errors.Join(err, placeAdopted(ctx, s, w), s.TallyNetwork(w))
		}
	}
	exit, err := startWithOutput(ctx, s, w, how, r, to, &tail)
	err = errors.Join(err, placeAdopted(ctx, s, w))
	if err == nil {
		err = workspace.TakeGitOut(s, w)
	}
	if err != nil {
		return errors.Join(err, s.TallyNetwork(w)) // setup may have used it
	}
	r.close() // nothing is decided any more
	if err := s.RecordTallies(w); err != nil {
		return err
	}
	if err := s.Append(w.ID, ledger.Ended, exit); err != nil {
		return err
	}
	sayRefused(s, w, exit)
	if exit.Reason == Unproven {
		return fault.Refuse("%s was stopped: the hooks of %s never reported, so its tool calls would run unguarded (cordon logs %s shows what it printed; "+
			"agent.proof_within in the policy sets how long cordon waits)", w.ID, w.Agent.Client, w.ID)
	}
	return ctx.Err()
}

// sayRefused says what the cell refused to a command that failed, or to the tools of an
// agent, whose failures are not its own.
func sayRefused(s *worksite.Site, w *ledger.Worker, exit cell.Exit) {
	if exit.OK() && w.Agent == nil {
		return
	}
	if w.Agent != nil { // clients try it themselves, and do without
		exit.Refused = maps.Clone(exit.Refused)
		delete(exit.Refused, "io_uring_setup")
	}
	for _, line := range enclosure.ExplainRefused(w.Lease.Lease().Policy, exit) {
		s.Voice.Step(w.ID, "refused", line)
	}
}

// placeAdopted places what a worker wrote in an adopted checkout, however it ended, and says what was not
// placed.
func placeAdopted(ctx context.Context, s *worksite.Site, w *ledger.Worker) error {
	said, err := confine.PlaceAdopted(context.WithoutCancel(ctx), s, w)
	sayDisarmed(s, w, said)
	return err
}

func sayDisarmed(s *worksite.Site, w *ledger.Worker, said []string) {
	for _, line := range said {
		s.Voice.Step(w.ID, "disarmed", line)
	}
}

// startWithOutput records the host's state, runs the command to its end, and records that
// it runs when the cell is proven. Nothing lands between the two, so that every
// landing is in the one or after the other.
func startWithOutput(ctx context.Context, s *worksite.Site, w *ledger.Worker, how Request, r *equipment, to output, tail *enclosure.Tail) (cell.Exit, error) {
	c, err := command(ctx, s, w, how, r, to)
	if err != nil {
		return cell.Exit{}, err
	}
	defer shareTerminal(s, w.ID, how, r, &c)()
	if r.agent != nil {
		return startAgent(ctx, s, w, r, c, to.out)
	}
	exit, err := startCommand(ctx, s, w, r, c)
	if err == nil && !exit.OK() {
		if hint := enclosure.ExplainHome(w.Lease.Lease(), w.Lease.Rules(), c.Cell, strings.Join(c.Argv, " "), tail.String()); hint != "" {
			s.Voice.Step(w.ID, "home", hint)
		}
	}
	return exit, err
}

// startCommand starts a command.
func startCommand(ctx context.Context, s *worksite.Site, w *ledger.Worker, r *equipment, c cell.Command) (cell.Exit, error) {
	return startCommandThen(ctx, s, w, r, c, func() {})
}

// startCommandThen starts a command, and does something when that is recorded and
// before the command's first instruction.
func startCommandThen(ctx context.Context, s *worksite.Site, w *ledger.Worker, r *equipment, c cell.Command, then func()) (cell.Exit, error) {
	unlock, err := s.State.Await(ctx, state.GateLock)
	if err != nil {
		return cell.Exit{}, err
	}
	release := sync.OnceFunc(unlock)
	defer release()
	record, err := recordHost(ctx, s, w, c)
	if err != nil {
		return cell.Exit{}, err
	}
	defer record() // it is over before the lock is given back
	recorded := false
	hold, back := lendTerminal(s, c)
	begin := func(l cell.Launch) error {
		defer release()
		baseline, err := record()
		if err != nil {
			return err
		}
		recorded = true
		at := ledger.Cell{Layers: l.Layers, Landlock: l.Landlock, Missing: l.Missing, Proven: l.Proven, Private: inspect.RecordedLayers(l.Private), Memory: l.Memory}
		err = s.Append(w.ID, ledger.Started, ledger.Start{
			Command: r.recordedCommand(c), Baseline: baseline, Agent: r.agent != nil, Boot: state.Boot(), Heard: r.answersGiven(w),
			Attended: c.Terminal != nil, Cell: at,
		})
		if err == nil {
			if l.Pid > 0 {
				sayCell(s, w.ID, at)
				sayNetwork(s, w.Lease.Lease(), at)
				sayTrace(s, w.Lease.Lease(), at)
			}
			s.Voice.Step(w.ID, "running", worksite.Shorten(r.shownCommand(w, c)))
			visitor.OpenDoor(s, w.ID, l.Door)
			hold()
			then()
		}
		return err
	}
	var denied error
	c.Started = func(l cell.Launch) error {
		if denied = r.judge(w, c, l); denied != nil {
			return denied
		}
		return begin(l)
	}
	r.seat.take(&c)
	exit, err := cell.Run(ctx, c)
	back()
	if !recorded && ctx.Err() == nil {
		confine.ForgetConfinable(s, w.Lease.Lease().Policy)
	}
	var weak *cell.MissingError
	switch {
	case errors.As(err, &weak):
		return exit, &fault.RefusedError{Err: err}
	case !recorded && ctx.Err() != nil:
		return exit, ctx.Err()
	case denied != nil:
		return exit, denied
	case !recorded: // a command that cannot be started is the worker's failure
		defer back()
		return exit, begin(cell.Launch{})
	}
	return exit, nil
}

// recordHost records the state of the host, beside the making of the cell where that touches
// nothing of it: the command runs only after what it returns, which waits for the record and must
// be called. Without a cell the command runs at once, and an adopted tree is the host's own.
func recordHost(ctx context.Context, s *worksite.Site, w *ledger.Worker, c cell.Command) (wait func() (string, error), err error) {
	if l := w.Lease.Lease(); c.Cell == nil || l.Adopted {
		baseline, err := inspect.RecordHost(ctx, s, l)
		return func() (string, error) { return baseline, err }, err
	}
	type record struct {
		baseline string
		err      error
	}
	done := make(chan record, 1)
	go func() {
		baseline, err := inspect.RecordHost(ctx, s, w.Lease.Lease())
		done <- record{baseline, err}
	}()
	return sync.OnceValues(func() (string, error) { r := <-done; return r.baseline, r.err }), nil
}

// judge refuses to let a client go whose guard was not proven in its cell.
func (r *equipment) judge(w *ledger.Worker, c cell.Command, l cell.Launch) error {
	if r.agent == nil || c.Cell == nil {
		return nil
	}
	return judgeCanary(w.Lease.Lease().Policy.Guard.Mode, r.agent, l.Tried)
}

// lendTerminal gives the terminal that cordon speaks on to a command that has one: the
// command draws there from its start to its end.
func lendTerminal(s *worksite.Site, c cell.Command) (hold, back func()) {
	if c.Terminal == nil {
		return func() {}, func() {}
	}
	return worksite.LendTerminal(s.Voice)
}

// recordedCommand is the command line without values that no record holds.
func (r *equipment) recordedCommand(c cell.Command) []string {
	if r.agent != nil {
		return r.agent.kit.Recorded()
	}
	return c.Argv
}

// sayCell tells what a worker runs in.
func sayCell(s *worksite.Site, id lease.ID, c ledger.Cell) {
	s.Voice.Step(id, "cell", c.String())
	for _, m := range c.Missing {
		s.Voice.Step(id, "weaker", m.String())
	}
	s.Voice.Step(id, "memory", "limit: "+c.Memory.String())
}

// sayTrace names the weaker mode.
func sayTrace(s *worksite.Site, l lease.Lease, c ledger.Cell) {
	if l.Policy.Cell.Trace && slices.Contains(c.Layers, cell.Namespaces) {
		s.Voice.Step(l.ID, "trace", "processes of the cell may trace each other (cell.trace)")
	}
}

func (how Request) command(w *ledger.Worker) []string {
	if len(how.Command) > 0 {
		return how.Command
	}
	return w.Command
}

func command(ctx context.Context, s *worksite.Site, w *ledger.Worker, how Request, r *equipment, to output) (cell.Command, error) {
	c, err := confinedCommand(ctx, s, w.Lease, how.command(w))
	if err != nil {
		return c, err
	}
	if w.OnlyLooks() && c.Cell != nil {
		c.Cell.Sealed = []string{w.Lease.Lease().Worktree}
	}
	r.addTo(&c)
	if w.Agent == nil && w.Stage == nil && !how.Unpacks { // those of a plan come from a file of the repository
		enclosure.ShowTyped(c.Cell, w.Lease.Rules(), w.Lease.Lease().Home, c.Argv)
	}
	publishPorts(s, w.Lease.Lease(), &c)
	c.Stdin, c.Stdout, c.Stderr, c.Terminal = how.Stdin, to.out, to.err, how.Terminal
	switch {
	case how.Terminal != nil && c.Cell != nil: // it has one of its own, and only the relay reads this one
		c.Stdin, c.Stdout, c.Stderr, c.Transcript = nil, nil, nil, r.transcript
	case how.Terminal != nil:
		c.Stdin, c.Stdout, c.Stderr = how.Terminal, how.Terminal, how.Terminal
	}
	return c, nil
}

// confinedCommand is a command in the cell of a worker.
func confinedCommand(ctx context.Context, s *worksite.Site, sealed lease.Sealed, argv []string) (cell.Command, error) {
	order, err := workspace.Enclose(ctx, s, sealed)
	if err != nil {
		return cell.Command{}, err
	}
	return commandIn(s, order, sealed.Lease(), argv)
}

// setupCommand is a command that prepares the tree.
func setupCommand(ctx context.Context, s *worksite.Site, sealed lease.Sealed, line string) (cell.Command, error) {
	order, err := workspace.EncloseSetup(ctx, s, sealed)
	if err != nil {
		return cell.Command{}, err
	}
	return commandIn(s, order, sealed.Lease(), cell.Shell(line))
}

// commandIn is a command in a cell at a worker's tree.
func commandIn(s *worksite.Site, order *cell.Order, l lease.Lease, argv []string) (cell.Command, error) {
	c := cell.Command{
		Argv: argv, Dir: l.Worktree, Env: s.Environ(l), Limit: time.Duration(l.Policy.Limits.Time),
		Cell: order, Weaker: l.Policy.Isolation == policy.Degraded,
		Grace: func() time.Duration { return s.StopGrace(l.ID) },
	}
	err := connect(s, &c, l)
	return c, err
}

// AcceptanceCommand is a command of the policy in the cell of a merged tree. It shares
// nothing that the worker could have written but the tree.
func AcceptanceCommand(ctx context.Context, s *worksite.Site, sealed lease.Sealed, t workspace.MergedTree, line string) (cell.Command, error) {
	l := sealed.Lease()
	l.Worktree = t.Top
	order, err := t.Enclose(ctx, s, sealed)
	if err != nil {
		return cell.Command{}, err
	}
	c := cell.Command{
		Argv: cell.Shell(line), Dir: t.Top, Env: s.Environ(l), Limit: time.Duration(l.Policy.Limits.Time),
		Cell: order, Weaker: l.Policy.Isolation == policy.Degraded,
		Grace: func() time.Duration { return s.StopGrace(l.ID) },
	}
	err = connect(s, &c, l)
	return c, err
}

// GiveUp records the end of a worker that nobody saw end, and how many processes it left.
func GiveUp(s *worksite.Site, w *ledger.Worker, left int) error {
	if err := errors.Join(placeAdopted(context.Background(), s, w), workspace.TakeGitOut(s, w), recordLostStream(s, w)); err != nil {
		return err
	}
	if err := s.RecordTallies(w); err != nil {
		return err
	}
	return s.Append(w.ID, ledger.Ended, cell.Exit{Code: 1, Reason: cell.Vanished, Left: left})
}
