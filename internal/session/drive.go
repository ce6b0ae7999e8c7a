package session

import (
	"context"
	"errors"
	"io"
	"os"

	"cordon/internal/audit"
	"cordon/internal/config"
	"cordon/internal/dispatch"
	"cordon/internal/fault"
	"cordon/internal/gate"
	"cordon/internal/keep"
	"cordon/internal/launch"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/message"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
)

// Drive says how far a worker is to be taken, and with what.
type Drive struct {
	Again    bool          // run the command again although it ran before
	Command  []string      // instead of the lease's
	Prompt   string        // for a worker that goes on
	Judge    bool          // do not run anything: audit what is there and take it to the gate
	Stdin    io.Reader     // for the worker
	Terminal *os.File      // handed over to the worker
	Outer    *os.File      // its other side, where this process has made it
	Output   io.Writer     // of everything that runs for the worker
	Stdout   io.Writer     // the standard output of its command or client; nil: goes to Output
	Screen   io.Writer     // a terminal that shows notifications; nil: there is none
	As       config.Form   // how its commits land; "": as it was started, or as the operator's configuration says
	Message  string        // of the commit that lands, in the operator's words; "": see landingMessage
	Editor   *os.File      // the terminal on which the operator edits that message; nil: nobody edits it
	Inside   bool          // land only what is inside the lease
	Waits    Waits         // for uncommitted changes that keep a result from landing
	Who      string        // asks for it
	Chose    ledger.Choice // what they decided; "": it follows from a decision that the journal has
	Budget   launch.Budget
	Remarks  Remarks // of a reviewer, for a worker that goes on
	Reviewed string  // the digest of the result that was approved: no other lands; "": the operator's word counts
}

// Remarks are what somebody wants changed in a result that passed its checks.
type Remarks struct {
	Who, Text string
	Person    bool // the operator's own words
}

// progress is a drive under way: what was asked for, and what its steps have found out.
type progress struct {
	Drive
	left            int  // processes of an earlier launch that were ended
	audited, judged bool // done in this drive
	proposed        bool // for a review, in this drive
	unknown         error
	edited          *message.Message // as the operator edited it
	wait            *patience        // for uncommitted changes; nil: none has begun
	onWait          func(*ledger.Worker)
}

// Continue takes a worker on from wherever it is, and tells the operator if it needs them.
func (s *Session) Continue(ctx context.Context, id lease.ID, asked Drive) (*ledger.Worker, error) {
	if asked.Terminal != nil {
		asked.Screen = worksite.Behind(s.Voice, asked.Screen)
	}
	bell := newBell(ctx, s, asked.Screen)
	s.OnAsk = bell.asked
	w, err := s.proceed(ctx, id, asked, bell.waits)
	s.OnAsk = nil
	bell.ended(id, err)
	return w, err
}

// proceed takes a worker on from wherever it is.
func (s *Session) proceed(ctx context.Context, id lease.ID, asked Drive, onWait func(*ledger.Worker)) (*ledger.Worker, error) {
	if _, err := s.Operator(); err != nil {
		return nil, err
	}
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	release, err := s.lockWorker(ctx, id)
	if errors.Is(err, state.ErrLocked) {
		return nil, s.taken(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	defer release()
	how := progress{Drive: asked, onWait: onWait}
	if how.Output == nil {
		how.Output = io.Discard
	}
	w, err := s.Find(string(id))
	if err != nil {
		return nil, err
	}
	approved, err := s.decide(ctx, w, asked)
	if err != nil {
		return w, err
	}
	// The lock is ours: whatever runs under this name was left by a cordon that
	// was killed, and must not share the tree with what follows. Without a tree nothing
	// was started.
	if w.Tree != nil {
		how.left = s.EndLeftovers(id)
	}
	defer func() { // when it was audited
		workspace.MoveRepositoriesAside(s.Site, w)
		if w != nil && w.Tree != nil && w.Exit != nil && w.Discard == nil && w.Removal == nil && !w.Merged() {
			workspace.Settle(s.Site, w) // somebody goes on from what it holds
		}
	}()
	for verified := false; ; {
		if w, err = s.Find(string(id)); err != nil {
			return nil, err
		}
		if (w.Exit != nil || w.Quarantine != nil || w.Release != nil) && !verified { // from here on it is judged, on what all of the journal says
			if err := s.VerifyAll(); err != nil {
				return w, err
			}
			verified = true
			continue
		}
		if err := refuseOther(w, approved); err != nil {
			return w, err
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

type step func(context.Context, *ledger.Worker, *progress) error

// next is the pipeline.
func (s *Session) next(w *ledger.Worker, how *progress) step {
	switch {
	case w.Discard != nil || w.Removal != nil:
		return nil
	case w.Tree == nil && how.Judge:
		return nil // nothing was made, so there is nothing to judge
	case w.Tree == nil:
		return s.prepare
	case w.ThenDue():
		return s.runThen
	case w.Quarantine != nil && w.Release == nil:
		return s.freeze(w)
	case how.awaits(w):
		return s.awaitClean
	case w.Release != nil:
		return s.afterRelease(w, how)
	case w.Start == nil && how.Judge:
		return nil
	case w.Intent != nil && w.Gate == nil: // before anything that would forget it
		return s.finishLanding
	case workspace.Torn(s.Site, w) && w.Audit == nil && !how.Judge:
		return s.prepareAgain
	case w.Start == nil, w.Exit == nil && !how.Judge, how.again(w), workspace.Unsaved(w) && !how.Judge:
		return s.launch
	case w.Exit == nil:
		return s.giveUp
	case w.Audit == nil, how.Judge && !how.audited:
		return s.auditWithRoom
	}
	return s.afterAudit(w, how)
}

// again reports whether the command is to run once more. The worker is looked at
// under its lock, so that a run which another process has finished meanwhile is
// not repeated.
func (how *progress) again(w *ledger.Worker) bool {
	if !how.Again || w.Merged() {
		return false
	}
	return w.Exit != nil && !w.Exit.OK() || len(how.Command) > 0 || w.Gate == nil && (w.Agent != nil || how.Prompt != "" || w.Asks())
}

func (s *Session) afterAudit(w *ledger.Worker, how *progress) step {
	switch {
	case s.noRoom(how.unknown):
		return func(context.Context, *ledger.Worker, *progress) error { return waitForRoom(w, how.unknown) }
	case how.unknown != nil:
		return s.quarantine
	case w.Audit.Verdict != audit.VerdictClean, len(w.Inherited) > 0, (how.Judge || w.Exit.OK()) && len(launch.GuardDoubts(s.Site, w)) > 0:
		return s.quarantine
	case w.Gate != nil && (w.Gate.Outcome == gate.Violating || w.Gate.Outcome == gate.Rejected):
		return s.quarantine
	case w.Gate != nil && !(how.Judge && !how.judged):
		return nil
	case w.Gate == nil && !how.Judge && w.Exit.OK() && w.Asks():
		return nil // it asks, and goes on with the answer
	case w.Gate == nil && w.Exit.OK() && s.toPropose(w, how):
		return s.propose
	case w.Gate == nil && !how.Judge && w.Exit.OK() && w.AwaitsReview():
		return nil // cordon merge goes on, or a review in a plan
	case w.Gate == nil && !how.Judge && (w.Options.NoMerge || !w.Exit.OK()):
		return s.discardFailed(w)
	}
	return s.judge
}

func (s *Session) afterRelease(w *ledger.Worker, how *progress) step {
	switch {
	case s.noRoom(how.unknown):
		return func(context.Context, *ledger.Worker, *progress) error { return waitForRoom(w, how.unknown) }
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

// launch runs the command, unless what an earlier launch left is to be judged first.
func (s *Session) launch(ctx context.Context, w *ledger.Worker, how *progress) error {
	if err := dispatch.RefuseBeyondRights(s.Site, w); err != nil {
		return s.recordRefusal(w, err)
	}
	if w.Options.On != "" {
		return s.launchAway(ctx, w, how)
	}
	how.Again = false
	running, ended := context.WithCancel(ctx)
	defer ended()
	go workspace.SettleLater(running, s.Site, w)
	result, err := launch.Run(ctx, s.Site, w, launch.Request{
		Command: how.Command, Prompt: how.Prompt, Stdin: how.Stdin, Terminal: how.Terminal, Outer: how.Outer, Output: how.Output, Stdout: how.Stdout,
		Budget: how.Budget,
	})
	how.Judge = how.Judge || result.Refused
	return s.recordRefusal(w, err)
}

// recordRefusal keeps why a launch was refused before the command started, for those who ask
// later, and returns the error. How a command ended that did start is recorded elsewhere.
func (s *Session) recordRefusal(w *ledger.Worker, err error) error {
	refused, ok := errors.AsType[*fault.RefusedError](err)
	if !ok {
		return err
	}
	now, lost := s.Find(string(w.ID))
	if lost != nil || now.StartSeq != w.StartSeq {
		return err
	}
	return errors.Join(err, s.Append(w.ID, ledger.NotStarted, ledger.Refusal{Why: fault.OneLine(refused)}))
}

// giveUp records the end of a worker that nobody saw end.
func (s *Session) giveUp(ctx context.Context, w *ledger.Worker, how *progress) error {
	return launch.GiveUp(s.Site, w, how.left)
}

// finishLanding deals with a landing whose end was not recorded. When it turns
// out to have happened, this drive has nothing left to do.
func (s *Session) finishLanding(ctx context.Context, w *ledger.Worker, how *progress) error {
	if err := s.recoverLanding(ctx, w, how); err != nil {
		return err
	}
	now, err := s.Find(string(w.ID))
	if err == nil && now.Merged() {
		how.audited, how.judged, how.Again = true, true, false
	}
	return err
}

// prepare makes the worktree. What an interrupted attempt left is thrown away:
// no worker has seen it.
func (s *Session) prepare(ctx context.Context, w *ledger.Worker, _ *progress) error {
	l := w.Lease.Lease()
	if w.Attempts > 0 {
		if err := s.putAsideAttempt(w); err != nil {
			return err
		}
	}
	if err := s.Gate.Pin(ctx, l.ID, l.Base); err != nil {
		return err
	}
	return s.recordRefusal(w, workspace.MakeTree(ctx, s.Site, w))
}

// prepareAgain makes a tree once more that the machine lost when it stopped. What is left of it stays in the trash.
func (s *Session) prepareAgain(ctx context.Context, w *ledger.Worker, _ *progress) error {
	s.Voice.Step(w.ID, "worktree", "made again: the machine stopped before it was on the disk")
	if err := s.putAsideAttempt(w); err != nil {
		return err
	}
	return s.recordRefusal(w, workspace.MakeTree(ctx, s.Site, w))
}

// discardFailed deals with a clean result that is not to be merged now.
func (s *Session) discardFailed(w *ledger.Worker) step {
	if w.Exit.OK() || w.Exit.Stopped() || w.Lease.Lease().Policy.PreserveOnFailure {
		return nil
	}
	return func(ctx context.Context, w *ledger.Worker, how *progress) error {
		return keep.DiscardLocked(ctx, s.Site, w, ledger.Discard{Who: "cordon", Why: "the worker failed and preserve_on_failure is false"})
	}
}
