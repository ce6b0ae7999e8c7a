package session

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cordon/internal/gate"
	"cordon/internal/ledger"
	"cordon/internal/worksite"
)

// Waits says whether a drive waits when uncommitted changes of the operator's keep a result
// from landing, and lands it when they are gone. The zero value does not.
type Waits struct {
	AsLeased bool          // for as long as gate.wait of the lease says
	Always   bool          // whatever the lease says
	Within   time.Duration // then fail with ErrStillInTheWay; 0: no limit
}

// ErrStillInTheWay says that uncommitted changes were in the way for longer than the
// operator wanted to wait. The result stays as it is.
var ErrStillInTheWay = errors.New("the uncommitted changes were not gone in time")

// patience is a wait for uncommitted changes that has begun.
type patience struct {
	until time.Time
	since string // see gate.Clearing
	over  bool   // nobody waits any longer
}

// awaits reports whether the next step is to wait. A wait begins only for uncommitted
// changes; it goes on while the operator's git is at work on them.
func (how *progress) awaits(w *ledger.Worker) bool {
	switch {
	case w.Gate == nil || w.Gate.Outcome != gate.Waiting:
		return false
	case how.wait != nil:
		return how.judged && !how.wait.over && (len(w.Gate.InTheWay) > 0 || w.Gate.Busy)
	}
	wanted := how.Waits.Always || how.Waits.AsLeased && w.Lease.Lease().Policy.Gate.Wait > 0
	return wanted && len(w.Gate.InTheWay) > 0
}

// awaitClean waits until nothing is in the way of a result, and has it judged again, from
// the audit on. After an interrupt or a kill the result waits as before.
func (s *Session) awaitClean(ctx context.Context, w *ledger.Worker, how *progress) error {
	if how.wait == nil {
		how.wait = &patience{until: s.waitUntil(w, how)}
		how.onWait(w)
	}
	if w.Gate.Busy {
		how.wait.since = ""
	}
	s.Voice.Step(w.ID, "waits", waitsFor(w, how))
	if err := s.Append(w.ID, ledger.Awaiting, ledger.Wait{Until: how.wait.until}); err != nil {
		return err
	}
	limited, cancel := context.WithDeadline(ctx, how.wait.until)
	defer cancel()
	clearing := s.Gate.Clearing(*w.Gate)
	clearing.Tell = func(left []gate.Obstacle) { s.Voice.Step(w.ID, "waits", stillInTheWay(left)) }
	since, over, err := clearing.Await(limited, how.wait.since)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // the time is over
		err = s.waitedInVain(w, how)
		over = true
	}
	how.wait.since, how.wait.over = since, over
	how.Judge, how.audited, how.judged = true, over, over // judge it again, unless it is over
	return err
}

// waitUntil is when a wait ends in vain. A result whose lease has expired does not land.
func (s *Session) waitUntil(w *ledger.Worker, how *progress) time.Time {
	until := w.Lease.Lease().Expires
	limit := how.Waits.Within
	if !how.Waits.Always {
		limit = time.Duration(w.Lease.Lease().Policy.Gate.Wait)
	}
	if at := s.Now().Add(limit); limit > 0 && at.Before(until) {
		return at
	}
	return until
}

func (s *Session) waitedInVain(w *ledger.Worker, how *progress) error {
	if w.Lease.Expired(s.Now()) {
		s.Voice.Step(w.ID, "waits", "no longer: the lease has expired")
		return nil
	}
	if how.Waits.Always {
		return fmt.Errorf("%s: %w", w.ID, ErrStillInTheWay)
	}
	s.Voice.Step(w.ID, "waits", "no longer: gate.wait of the policy is over")
	return nil
}

// waitsFor says what a result waits for.
func waitsFor(w *ledger.Worker, how *progress) string {
	if w.Gate.Busy {
		return "until git is done there"
	}
	limit := ""
	if !how.Waits.Always || how.Waits.Within > 0 {
		limit = ", at most until " + how.wait.until.Local().Format("2006-01-02 15:04")
	}
	return "to land when these changes are committed, stashed, reverted or moved away" + limit + ": " + listed(w.Gate.InTheWay)
}

func stillInTheWay(left []gate.Obstacle) string {
	if len(left) == 0 {
		return "no longer: nothing is in the way, so the result is judged again"
	}
	return "still for " + listed(left)
}

// listed names the first of some files.
func listed(list []gate.Obstacle) string {
	const shown = 5
	var names []string
	for _, o := range list[:min(len(list), shown)] {
		names = append(names, fmt.Sprintf("%q", string(o.Path)))
	}
	if more := len(list) - shown; more > 0 {
		names = append(names, worksite.Count(more, "other file"))
	}
	return strings.Join(names, ", ")
}
