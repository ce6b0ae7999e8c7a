package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/policy"
)

// Ending is how far one worker of a stage has come.
type Ending string

const (
	Running    Ending = "running"
	Asking     Ending = "asking"     // it waits for an answer of the operator
	Reviewing  Ending = "reviewing"  // another agent looks at the result
	Queued     Ending = "queued"     // its result is tested for its landing
	Landed     Ending = "landed"     // its result is in the target, or it verified what it should
	Failed     Ending = "failed"     // the agent ended with an error
	Rejected   Ending = "rejected"   // a check of the result failed
	Violating  Ending = "violating"  // it changed what it may not
	Conflicted Ending = "conflicted" // with what landed before it
	Waiting    Ending = "waiting"    // for the operator's checkout
	NeedReview Ending = "review"     // the operator has to look at the result
	Lost       Ending = "lost"       // its supervisor died
	// Interrupted: nothing is wrong, and it goes on when the plan does.
	Interrupted Ending = "interrupted"
	Stopped     Ending = "stopped" // by the operator
	Discarded   Ending = "discarded"
)

// Try is one worker of a stage.
type Try struct {
	Worker string
	Ending Ending
	Why    string    // what failed, in a sentence
	Since  time.Time // when it came there
	Late   bool      // it failed because its time was over
	Silent time.Time // since when a running worker shows no sign of life; zero: it does
	// Resolves: it brings an earlier try and what landed meanwhile together.
	Resolves bool
}

// Fact is what the journal says about a stage.
type Fact struct {
	Tries   []Try // in their order
	Skipped string
	// Accepted: the operator takes the stage as done, with this reason.
	Accepted string
	Answers  map[string]Answer // to truths that are sentences, by their claim
	Again    int               // how often the operator asked for another try
	// Verifiers are the workers that were asked about those truths, beside the stage's own.
	Verifiers []Try
	Verify    int  // how many verifiers the operator allows in all
	CanVerify bool // somebody can be asked
	// CanResolve: somebody can bring a result in conflict and the target together.
	CanResolve bool
	Reviewed   Reviewed // of the last try's result
	Used       Used     // by all its workers
	Budgets    int      // how often it may use its budget; 0: once
}

// State is where a stage stands.
type State string

const (
	StageWaiting State = "waiting" // Why says for what
	StageReady   State = "ready"
	StageRunning State = "running"
	StageDone    State = "done"
	StageSkipped State = "skipped"
	StageBlocked State = "blocked" // by a stage that needs a person
	StageNeeds   State = "needs"   // a person: Need says why
)

// Need is why a stage needs a person.
type Need string

const (
	NeedAnswer    Need = "question"
	NeedLook      Need = "review"
	NeedConflict  Need = "conflict"
	NeedFailed    Need = "failed"
	NeedCheckout  Need = "checkout"
	NeedUnproven  Need = "unproven"
	NeedStopped   Need = "stopped"
	NeedViolation Need = "violation"
	NeedBudget    Need = "over budget"
	// NeedSilent is of a stage that runs: its worker shows no sign of life.
	NeedSilent Need = "silent"
)

// Standing is a stage with its state. Nothing waits without a reason.
type Standing struct {
	Stage  Stage
	State  State
	Why    string
	Need   Need
	Worker string   // its last one
	By     []string // the stages that it waits for
	Since  time.Time
	Retry  bool // ready, after a try that ended otherwise
	Job    Job  // what a stage that is ready or running is at
	// Answers are those that count, by their claim.
	Answers map[string]Answer
	// Opinions are those about its last result, in their order.
	Opinions []Opinion
	Spent    bool // its budget of tokens or cost was used up
}

// Job is what is to be done for a stage.
type Job string

const (
	Perform Job = ""        // its task
	Confirm Job = "verify"  // somebody looks whether its truths hold
	Settle  Job = "resolve" // its result is brought together with what landed meanwhile
	Examine Job = "review"  // another agent looks at its result
	Amend   Job = "amend"   // its author answers the feedback of a reviewer
	Admit   Job = "land"    // its result was reviewed, and goes to the gate
)

// maxConflicts is how often a result in conflict is resolved without a person.
const maxConflicts = 3

// Settled reports whether the stages after it may start.
func (s Standing) Settled() bool { return s.State == StageDone || s.State == StageSkipped }

// Standings say where every stage is, in an order in which they could run.
func (p Plan) Standings(facts map[string]Fact) []Standing {
	known := map[string]Standing{}
	var list []Standing
	for _, s := range p.Order() {
		st := standing(s, facts[s.ID], known)
		known[s.ID] = st
		list = append(list, st)
	}
	return list
}

func standing(s Stage, f Fact, known map[string]Standing) Standing {
	st := Standing{Stage: s, Answers: f.Answers, Opinions: f.Reviewed.Opinions}
	switch {
	case f.Skipped != "":
		st.State, st.Why = StageSkipped, f.Skipped
		return st
	case f.Accepted != "":
		st.State, st.Why = StageDone, f.Accepted
		return st
	case len(f.Tries) == 0:
		return unstarted(st, known)
	}
	last := f.Tries[len(f.Tries)-1]
	st.Worker, st.Why, st.Since = last.Worker, last.Why, last.Since
	if last.Ending == Landed {
		return proven(st, f)
	}
	return within(ongoing(st, last, f), f)
}

// unstarted is a stage without a worker.
func unstarted(st Standing, known map[string]Standing) Standing {
	var blocked []string
	for _, l := range st.Stage.After {
		before := known[l.ID]
		switch {
		case before.Settled():
			continue
		case before.State == StageNeeds || before.State == StageBlocked:
			blocked = append(blocked, l.ID)
		}
		st.By = append(st.By, l.ID)
	}
	switch {
	case len(blocked) > 0:
		st.State, st.By, st.Why = StageBlocked, blocked, "blocked by "+strings.Join(blocked, ", ")
	case len(st.By) > 0:
		st.State, st.Why = StageWaiting, "waits for "+strings.Join(st.By, ", ")
	default:
		st.State = StageReady
	}
	return st
}

// needs are the endings that only a person can change.
var needs = map[Ending]Need{
	Asking: NeedAnswer, NeedReview: NeedLook, Waiting: NeedCheckout, Violating: NeedViolation, Stopped: NeedStopped, Discarded: NeedStopped,
	Failed: NeedFailed, Rejected: NeedFailed, Lost: NeedFailed, Conflicted: NeedConflict,
}

// ongoing is a stage whose last worker has not landed.
func ongoing(st Standing, last Try, f Fact) Standing {
	if last.Resolves {
		st.Job = Settle
	}
	switch last.Ending {
	case Running, Queued:
		st.State = StageRunning
		if !last.Silent.IsZero() {
			st.Need, st.Since, st.Why = NeedSilent, last.Silent, "runs without a sign of life"
		}
		return st
	case Reviewing:
		return reviewing(st, f)
	case Conflicted:
		if f.CanResolve && count(f.Tries, Conflicted) <= maxConflicts+f.Again {
			st.State, st.Job, st.Retry = StageReady, Settle, true
			return st
		}
	}
	if last.Ending == Interrupted || retries(st.Stage, last.Ending)+f.Again > count(f.Tries, last.Ending)-1 || f.Again >= len(f.Tries) {
		st.State, st.Retry = StageReady, true
		return st
	}
	st.State, st.Need = StageNeeds, needs[last.Ending]
	return st
}

// retries is how often a stage starts again after such an ending.
func retries(s Stage, e Ending) int {
	switch e {
	case Failed:
		return s.Retries.Failed
	case Rejected:
		return s.Retries.Rejected
	case Lost:
		return s.Retries.Lost
	}
	return 0
}

func count(tries []Try, e Ending) int {
	n := 0
	for _, t := range tries {
		if t.Ending == e {
			n++
		}
	}
	return n
}

// Next are the stages to start now: those that are ready, in the order of the plan's critical
// path, as far as there is room and no two of them may change the same path. The others get
// the reason why they wait.
func (p Plan) Next(all []Standing, roots func(Stage) []string, room int) (start []Standing, waits map[string]string) {
	waits = map[string]string{}
	var active []Standing
	for _, st := range all {
		if st.State == StageRunning {
			active = append(active, st)
		}
	}
	room = min(room, p.Parallel-len(active))
	for _, st := range p.byUrgency(all) {
		if meets := meeting(st, active, roots); meets != "" {
			waits[st.Stage.ID] = "waits for " + meets + ", which may change the same paths"
			continue
		}
		if room <= 0 {
			waits[st.Stage.ID] = fmt.Sprintf("waits for a place: %d stages run at once", len(active))
			continue
		}
		start, active, room = append(start, st), append(active, st), room-1
	}
	return start, waits
}

// byUrgency are the stages that are ready, those that most others wait for first.
func (p Plan) byUrgency(all []Standing) []Standing {
	var ready []Standing
	for _, st := range all {
		if st.State == StageReady {
			ready = append(ready, st)
		}
	}
	blocks := p.Blocks()
	slices.SortStableFunc(ready, func(a, b Standing) int { return cmp.Compare(blocks[b.Stage.ID], blocks[a.Stage.ID]) })
	return ready
}

// meeting is an active stage that may change a path of this one, or "".
func meeting(s Standing, active []Standing, roots func(Stage) []string) string {
	if s.Job == Confirm {
		return ""
	}
	for _, other := range active {
		if other.Job != Confirm && len(policy.Overlap(roots(s.Stage), roots(other.Stage))) > 0 {
			return other.Stage.ID
		}
	}
	return ""
}

// Ended reports whether nothing more can happen without a person: every stage is settled, or
// needs somebody, or waits for one that does.
func Ended(all []Standing) bool {
	return !slices.ContainsFunc(all, func(st Standing) bool {
		return st.State == StageReady || st.State == StageRunning || st.State == StageWaiting
	})
}

// Done reports whether every stage is settled.
func Done(all []Standing) bool {
	return !slices.ContainsFunc(all, func(st Standing) bool { return !st.Settled() })
}

// Attention are the stages that need a person: those that most others wait for first, then
// the oldest.
func (p Plan) Attention(all []Standing) []Standing {
	var list []Standing
	for _, st := range all {
		if st.State == StageNeeds || st.Need == NeedSilent {
			list = append(list, st)
		}
	}
	blocks := p.Blocks()
	slices.SortStableFunc(list, func(a, b Standing) int {
		if c := cmp.Compare(blocks[b.Stage.ID], blocks[a.Stage.ID]); c != 0 {
			return c
		}
		return a.Since.Compare(b.Since)
	})
	return list
}
