package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/additive"
	"cordon/internal/cell"
	"cordon/internal/egress/record"
	"cordon/internal/gate"
	"cordon/internal/guard"
	"cordon/internal/journal"
	"cordon/internal/lease"
)

// Ran is the command that ran last, or that is to run. A client is shown as the
// operator called it.
func (w *Worker) Ran() []string {
	if w.Start != nil && (w.Agent == nil || !w.Start.Agent) && w.Options.On == "" { // what ran here only unpacked the result
		return w.Start.Command
	}
	return w.Command
}

// Ledger is the fold of a journal.
type Ledger struct {
	Workers []*Worker       // in order of their leases; what they point to never changes
	Plans   []*PlanRun      // in the order in which they were opened
	Nodes   []Node          // of the fleet, in the order in which they joined; the list never changes
	Events  []journal.Event // of a whole one
	Seq     uint64          // of the last event
	whole   bool            // it has the workers that were collected too
	byID    map[lease.ID]*Worker
	memo    memo
}

// Fold makes workers of all events of a journal, the collected ones included.
func Fold(events []journal.Event) (*Ledger, error) {
	l := &Ledger{Events: events, whole: true, byID: map[lease.ID]*Worker{}}
	for _, e := range events {
		if err := l.Apply(e); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Apply folds the next event.
func (l *Ledger) Apply(e journal.Event) error {
	if err := l.apply(e); err != nil {
		return strange(e, l.memo.Version, err)
	}
	if v := writer(e); v != "" {
		l.memo.Version = v
	}
	l.Seq = max(l.Seq, e.Seq) // a checkpoint knows of later events than those that it keeps
	return nil
}

func (l *Ledger) apply(e journal.Event) error {
	switch e.Type {
	case Repaired:
		return nil
	case Salvaged:
		return l.suspend(e)
	case Leased:
		return l.lease(e)
	case Recovered:
		return l.recovered(e)
	}
	if isPlanEvent(e.Type) {
		return l.applyPlan(e)
	}
	if isNodeEvent(e.Type) {
		return l.applyNode(e)
	}
	act, ok := transitions[e.Type]
	switch {
	case !ok && additive.Is(e.Type):
		return nil
	case !ok:
		return fmt.Errorf("a type of event that is %w", errUnknown)
	}
	if l.collected(lease.ID(e.Worker)) {
		return nil
	}
	w := l.byID[lease.ID(e.Worker)]
	if w == nil {
		return fmt.Errorf("no lease for worker %q", e.Worker)
	}
	now := w.clone() // somebody may be looking at the one before
	now.Changed = e.Time
	now.Events++
	if e.Type != Notified {
		now.Refusal = nil
	}
	if err := act(now, e); err != nil {
		return err
	}
	if err := noteDecision(now, e); err != nil {
		return err
	}
	l.replace(w, now)
	return nil
}

func (l *Ledger) lease(e journal.Event) error {
	var d Lease
	if err := read(e, &d); err != nil {
		return err
	}
	w, err := l.newWorker(e, d.Lease, d.Hash)
	if err != nil {
		return err
	}
	w.Command, w.Options, w.Overlap, w.Agent, w.Stage = d.Command, d.Options, d.Overlap, d.Agent, d.Stage
	w.Feedback, w.Signal, w.Memory, w.Opens = d.Feedback, d.Signal, d.Memory, d.Opens
	if d.Stage != nil {
		w.Origin, w.Conflicts, w.Signal = d.Stage.Origin, d.Stage.Conflicts, d.Stage.Signal
	}
	l.Workers, l.byID[w.ID] = append(l.Workers, w), w
	return nil
}

// newWorker is a worker with its lease, as the event says that begins it.
func (l *Ledger) newWorker(e journal.Event, text json.RawMessage, hash string) (*Worker, error) {
	sealed, err := lease.Open(text, hash)
	if err != nil {
		return nil, err
	}
	id := sealed.Lease().ID
	if string(id) != e.Worker || l.Taken(id) {
		return nil, fmt.Errorf("the lease is for %s, which is a different worker or already known", id)
	}
	return &Worker{ID: id, Lease: sealed, Created: e.Time, Changed: e.Time, Events: 1}, nil
}

// recovered makes a worker of one whose lease was lost.
func (l *Ledger) recovered(e journal.Event) error {
	var d Recovery
	if err := read(e, &d); err != nil {
		return err
	}
	w, err := l.newWorker(e, d.Lease, d.Hash)
	if err != nil {
		return err
	}
	w.Command, w.Tree, w.Quarantine = d.Command, new(Tree), &Quarantine{Reasons: d.Reasons}
	l.Workers, l.byID[w.ID] = append(l.Workers, w), w
	return nil
}

// suspend quarantines the workers whose later events may be lost.
func (l *Ledger) suspend(e journal.Event) error {
	var d journal.Salvage
	if err := read(e, &d); err != nil {
		return err
	}
	for _, id := range d.Suspended {
		if l.collected(lease.ID(id)) {
			continue
		}
		before := l.byID[lease.ID(id)]
		if before == nil {
			return fmt.Errorf("no lease for worker %q", id)
		}
		w := before.clone()
		w.Quarantine = &Quarantine{Reasons: []string{fmt.Sprintf("the journal was damaged: events after %d are lost, and what this worker did "+
			"since then is unknown", d.Kept)}}
		w.Release, w.Intent, w.Gate, w.Changed = nil, nil, nil, e.Time
		if w.Tree == nil {
			w.Tree = new(Tree)
		}
		l.replace(before, w)
	}
	return nil
}

// transitions are what each event does to a worker. Going back a step makes
// everything after it happen again.
var transitions = map[string]func(*Worker, journal.Event) error{
	Prepared: func(w *Worker, e journal.Event) error { w.Tree, w.TreeSeq = new(Tree), e.Seq; return read(e, w.Tree) },
	NotStarted: func(w *Worker, e journal.Event) error {
		w.Refusal = new(Refusal)
		return read(e, w.Refusal)
	},
	Started: func(w *Worker, e journal.Event) error {
		w.Doubts = append(w.Doubts, w.launchDoubts()...)
		if w.Start != nil && w.Exit == nil {
			w.Losses++
		}
		w.Start, w.StartSeq, w.StartTime = new(Start), e.Seq, e.Time
		w.Exit, w.Audit, w.Intent, w.Gate, w.Visits, w.Rejections, w.Waived = nil, nil, nil, nil, 0, 0, nil
		w.Proof, w.Stream, w.Claim, w.Notices, w.Proposal, w.Limited = nil, nil, nil, nil, nil, false
		if err := read(e, w.Start); err != nil {
			return err
		}
		w.Attended = w.Attended || w.Start.Attended
		for _, n := range w.Start.Heard {
			if err := w.hears(n); err != nil {
				return err
			}
		}
		for _, l := range w.Start.Private {
			w.Private = slices.DeleteFunc(w.Private, func(p cell.PrivateLayer) bool { return p.Name == l.Name })
		}
		w.Private = append(w.Private, w.Start.Private...)
		return nil
	},
	Visited: func(w *Worker, e journal.Event) error { w.Visits++; return read(e, new(Visit)) },
	Wired:   func(w *Worker, e journal.Event) error { w.Wiring = new(Wiring); return read(e, w.Wiring) },
	Proven:  func(w *Worker, e journal.Event) error { w.Proof = new(Proof); return read(e, w.Proof) },
	Claimed: func(w *Worker, e journal.Event) error { w.Claim = new(Claim); return read(e, w.Claim) },
	RateLimited: func(w *Worker, e journal.Event) error {
		var l RateLimit
		err := read(e, &l)
		l.seq = e.Seq
		w.RateLimits = append(slices.Clip(w.RateLimits), l)
		return err
	},
	Summed: func(w *Worker, e journal.Event) error {
		w.Stream = new(Stream)
		err := read(e, w.Stream)
		w.Used = w.Used.Plus(w.Stream.used())
		return err
	},
	Asked:    inquired,
	Answered: inquired,
	Heard:    inquired,
	Guarded:  func(w *Worker, e journal.Event) error { w.Guard = new(guard.Tally); return read(e, w.Guard) },
	Reached:  func(w *Worker, e journal.Event) error { w.Net = new(record.Tally); return read(e, w.Net) },
	StopAsked: func(w *Worker, e journal.Event) error {
		w.Stop, w.StopSeq, w.StopTime = new(Stop), e.Seq, e.Time
		return read(e, w.Stop)
	},
	Decided: func(w *Worker, e journal.Event) error { return read(e, new(Decision)) },
	Ended: func(w *Worker, e journal.Event) error {
		limited := w.endedByLimit()
		w.Exit, w.EndSeq, w.Away = new(cell.Exit), e.Seq, nil
		err := read(e, w.Exit)
		switch {
		case w.Exit.OK() || w.Exit.Stopped():
		case limited:
			w.Limited = true
			w.Limits++
		default:
			w.Failures++
		}
		return err
	},
	Audited: func(w *Worker, e journal.Event) error {
		w.Audit, w.AuditEntry, w.Gate, w.Intent, w.Rejections = new(Audit), fmt.Sprintf("%d:%s", e.Seq, e.Hash), nil, nil, 0
		w.Waived, w.Wait = nil, nil
		return read(e, w.Audit)
	},
	Proposed: func(w *Worker, e journal.Event) error { w.Proposal = new(Proposal); return read(e, w.Proposal) },
	Intended: func(w *Worker, e journal.Event) error {
		w.Intent, w.Then = new(gate.Landing), nil
		return read(e, w.Intent)
	},
	Notified: func(w *Worker, e journal.Event) error {
		var n Notice
		err := read(e, &n)
		w.Notices = append(slices.Clip(w.Notices), n.About)
		return err
	},
	Awaiting:    func(w *Worker, e journal.Event) error { w.Wait = new(Wait); return read(e, w.Wait) },
	ThenStarted: func(w *Worker, e journal.Event) error { w.Then = new(Then); return read(e, w.Then) },
	ThenEnded: func(w *Worker, e journal.Event) error {
		if w.Then == nil {
			return errors.New("no command was started")
		}
		then := *w.Then
		then.End = new(ThenEnd)
		w.Then = &then
		return read(e, then.End)
	},
	Judged: func(w *Worker, e journal.Event) error {
		w.Gate, w.Wait = new(gate.Result), nil
		if err := read(e, w.Gate); err != nil {
			return err
		}
		if _, known := gated[w.Gate.Outcome]; !known {
			return fmt.Errorf("the outcome %q is %w", w.Gate.Outcome, errUnknown)
		}
		switch w.Gate.Outcome {
		case gate.Merged:
			w.Quarantine = nil
		case gate.Rejected:
			w.Rejections = w.Gate.Retries + 1
		}
		return nil
	},
	Quarantined: func(w *Worker, e journal.Event) error {
		w.Quarantine, w.Release, w.Intent = new(Quarantine), nil, nil
		return read(e, w.Quarantine)
	},
	Released: func(w *Worker, e journal.Event) error {
		w.Release, w.Gate, w.Intent = new(Release), nil, nil
		if err := read(e, w.Release); err != nil {
			return err
		}
		if !w.Release.Retry {
			w.Waived = append(slices.Clone(w.Waived), w.Release.waives()...)
		}
		sealed, err := lease.Open(w.Release.Lease, w.Release.Hash)
		w.Lease = sealed
		return err
	},
	Offered:   func(w *Worker, e journal.Event) error { w.Away = &Away{Seq: e.Seq}; return read(e, new(Offer)) },
	Granted:   applyAway((*Away).grant),
	Returned:  returned,
	Withdrawn: func(w *Worker, e journal.Event) error { w.Away = nil; return read(e, new(Withdrawal)) },
	Attempted: attempted,

	TrialOffered:   trialOffered,
	TrialGranted:   applyTrial((*Away).grant),
	TrialReturned:  applyTrial((*Away).giveBack),
	TrialWithdrawn: trialWithdrawn,

	Discarded: func(w *Worker, e journal.Event) error {
		w.Discard, w.DiscardAt = new(Discard), e.Time
		return read(e, w.Discard)
	},
	Removed:  func(w *Worker, e journal.Event) error { w.Removal = new(Removal); return read(e, w.Removal) },
	Branched: func(w *Worker, e journal.Event) error { return read(e, new(Branch)) },
}

// Find returns the one worker whose name begins like this, or ErrCollected.
func (l *Ledger) Find(prefix string) (*Worker, error) {
	if w := l.byID[lease.ID(prefix)]; w != nil {
		return w, nil
	}
	names := slices.Clone(l.memo.Collected)
	for _, w := range l.Workers {
		names = append(names, string(w.ID))
	}
	name, err := pick(names, prefix)
	if err == nil && l.byID[lease.ID(name)] == nil {
		err = ErrCollected
	}
	return l.byID[lease.ID(name)], err
}

// Name is the one worker in a journal whose name begins like this.
func Name(events []journal.Event, prefix string) (string, error) {
	var names []string
	for _, e := range events {
		if e.Type == Leased {
			names = append(names, e.Worker)
		}
	}
	return pick(names, prefix)
}

// NameError says that a name is no worker's, or that of several.
type NameError string

func (e NameError) Error() string { return string(e) }

// pick returns the one name that begins like this, or a NameError.
func pick(names []string, prefix string) (string, error) {
	if slices.Contains(names, prefix) {
		return prefix, nil
	}
	var found []string
	for _, name := range names {
		if prefix != "" && strings.HasPrefix(name, prefix) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", NameError(fmt.Sprintf("no worker is called %q", prefix))
	}
	return "", NameError(fmt.Sprintf("%q matches %d workers, for example %s and %s", prefix, len(found), found[0], found[1]))
}

// Taken reports whether a name has ever been given.
func (l *Ledger) Taken(id lease.ID) bool { return l.byID[id] != nil || l.collected(id) }
