package ledger

import (
	"fmt"
	"slices"
	"time"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/plan"
)

// The types of event about plans. They name no worker.
const (
	PlanOpened    = "+plan.opened"    // Opening: before the first stage
	PlanClosed    = "+plan.closed"    // Closing: every stage is settled, or the operator ended it
	StageSkipped  = "+stage.skipped"  // Verdict
	StageAccepted = "+stage.accepted" // Verdict
	StageAgain    = "+stage.again"    // Verdict: another try
	TruthAnswered = "+truth.answered" // TruthAnswer
	ReviewGiven   = "+review.given"   // Opinion
)

// Opening is the data of PlanOpened. The text is the plan: whatever becomes of the file that
// it came from, its stages are those of this text.
type Opening struct {
	Plan   string `json:"plan"`
	Run    int    `json:"run"` // from 1; a plan that was closed can be opened again
	Text   string `json:"text"`
	Name   string `json:"name"` // of the file, for messages
	Digest string `json:"digest"`
	Source string `json:"source"`
	Target string `json:"target"`
	// Tasks are the texts of the files that stages have for their tasks, as they were when it was opened.
	Tasks   map[string]string `json:"tasks,omitempty"`
	Who     string            `json:"who"`
	Agent   string            `json:"agent,omitempty"`   // for stages that name none
	Args    []string          `json:"args,omitempty"`    // of Agent, wherever it works
	Command []string          `json:"command,omitempty"` // for stages that name neither
	// On is the node of a fleet that runs the stages, or AnyNode; "": this machine.
	On string `json:"on,omitempty"`
	// Merge: the operator lets results land that gate.land keeps for a person.
	Merge bool `json:"+merge,omitempty"`
	// Branch is where the results collect that land together; "": each result lands on the target.
	Branch string `json:"branch,omitempty"`
	// Base is the tip of the target when the plan was opened, where Branch begins. Earlier versions wrote it only with a Branch.
	Base git.OID `json:"base,omitempty"`
}

// Collects is the branch that the results of the stages land on.
func (o Opening) Collects() string {
	if o.Branch != "" {
		return o.Branch
	}
	return o.Target
}

// Closing is the data of PlanClosed.
type Closing struct {
	Plan string `json:"plan"`
	Run  int    `json:"run"`
	Who  string `json:"who"`
	Done bool   `json:"done"`
}

// Verdict is what the operator decided about a stage.
type Verdict struct {
	Plan  string `json:"plan"`
	Run   int    `json:"run"`
	Stage string `json:"stage"`
	Who   string `json:"who"`
	Why   string `json:"why,omitempty"`
	// Verifiers: of StageAgain, how many verifiers may look at the result in all; the stage does not
	// run again. Reviewers is the same for reviews, of all results of the stage.
	Verifiers int `json:"verifiers,omitempty"`
	Reviewers int `json:"reviewers,omitempty"`
	// Budgets: of StageAgain, how often the stage may use its budget in all.
	Budgets int `json:"budgets,omitempty"`
}

// TruthAnswer is the answer to a claim that no command can show. Worker is the verifier, whose
// answer is evidence; "": a person.
type TruthAnswer struct {
	Plan   string `json:"plan"`
	Run    int    `json:"run"`
	Stage  string `json:"stage"`
	Claim  string `json:"claim"`
	Yes    bool   `json:"yes"`
	Why    string `json:"why,omitempty"`
	Who    string `json:"who"`
	Worker string `json:"worker,omitempty"`
}

// Role is what a worker does for its stage.
type Role string

const (
	Author   Role = ""         // does its task
	Verifier Role = "verifier" // answers its claims, and changes nothing
	Resolver Role = "resolver" // brings the author's result and what landed before it together
	Reviewer Role = "reviewer" // looks at the author's result before it lands, and changes nothing
)

// StageOf says which stage of which plan a worker is for.
type StageOf struct {
	Plan      string          `json:"plan"`
	Run       int             `json:"run"`
	Stage     string          `json:"stage"`
	Kind      plan.Kind       `json:"kind"`
	Artifacts []plan.Artifact `json:"artifacts,omitempty"` // checked on the merged tree
	Signal    string          `json:"signal,omitempty"`    // what its briefing says about the plan
	Role      Role            `json:"role,omitempty"`
	// Claims are those that the worker may answer, each by its number from 1.
	Claims []string `json:"claims,omitempty"`
	// Origin is the tip of the target that a resolver's base brings the author's result to; "": the
	// base of the lease holds nothing of another worker.
	Origin git.OID `json:"origin,omitempty"`
	// Conflicts are the files of a resolver's base in which both sides stand, or the wrong one.
	Conflicts []audit.Path `json:"+conflicts,omitempty"`
	// Review: its result goes to the gate only after a review.
	Review bool `json:"review,omitempty"`
	// Judges is what a verifier looks at, if its base shows that with older instructions; "": its base.
	Judges git.OID `json:"+judges,omitempty"`
	// Looks is the result that a reviewer may give its opinion on; nil: it has no say.
	Looks *ResultOf `json:"looks,omitempty"`
}

// OnlyLooks reports whether a worker reads its tree and has nothing to write there. The agent of a stage
// that verifies is none of these: it runs the checks, and they may build.
func (w *Worker) OnlyLooks() bool {
	return w.Stage != nil && (w.Stage.Role == Reviewer || w.Stage.Role == Verifier)
}

// PlanRun is a plan that was opened.
type PlanRun struct {
	Opening
	Seq      uint64
	Opened   time.Time
	Closed   *Closing // nil: it is open
	ClosedAt time.Time
	Skipped  map[string]Verdict
	Accepted map[string]Verdict
	Again    map[string]int
	Verify   map[string]int                    // how many verifiers the operator allows
	Review   map[string]int                    // how many reviewers the operator allows
	Opinions map[string][]Opinion              // by stage, in their order
	Budgets  map[string]int                    // how often a stage may use its budget; 0: once
	Answers  map[string]map[string]TruthAnswer // by stage and claim
}

// clone is a copy that can be changed.
func (p *PlanRun) clone() *PlanRun {
	c := *p
	c.Skipped, c.Accepted, c.Again, c.Verify = cloneMap(p.Skipped), cloneMap(p.Accepted), cloneMap(p.Again), cloneMap(p.Verify)
	c.Review, c.Opinions, c.Budgets = cloneMap(p.Review), cloneMap(p.Opinions), cloneMap(p.Budgets)
	c.Answers = map[string]map[string]TruthAnswer{}
	for stage, answers := range p.Answers {
		c.Answers[stage] = cloneMap(answers)
	}
	return &c
}

func cloneMap[K comparable, V any](m map[K]V) map[K]V {
	c := make(map[K]V, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// Plan is the last run of a plan, or nil.
func (l *Ledger) Plan(name string) *PlanRun {
	for _, p := range slices.Backward(l.Plans) {
		if p.Plan == name {
			return p
		}
	}
	return nil
}

// StageWorkers are the workers of a run of a plan that have one of these roles, by their stages,
// in the order of their leases. Those that gc has removed are among them, with Removal and without a
// lease.
func (l *Ledger) StageWorkers(p *PlanRun, roles ...Role) map[string][]*Worker {
	found := map[string][]*Worker{}
	add := func(w *Worker) {
		if s := w.Stage; s != nil && s.Plan == p.Plan && s.Run == p.Run && slices.Contains(roles, s.Role) {
			found[s.Stage] = append(found[s.Stage], w)
		}
	}
	for _, gone := range l.memo.Stages {
		add(gone.worker())
	}
	removed := len(found) > 0
	for _, w := range l.Workers {
		add(w)
	}
	for _, list := range found {
		if removed {
			slices.SortStableFunc(list, func(a, b *Worker) int { return a.Created.Compare(b.Created) })
		}
	}
	return found
}

// isPlanEvent reports whether a type of event is about a plan.
func isPlanEvent(typ string) bool {
	switch typ {
	case PlanOpened, PlanClosed, StageSkipped, StageAccepted, StageAgain, TruthAnswered, ReviewGiven:
		return true
	}
	return false
}

// applyPlan folds an event about a plan.
func (l *Ledger) applyPlan(e journal.Event) error {
	switch e.Type {
	case PlanOpened:
		return l.opened(e)
	case PlanClosed:
		var d Closing
		return l.changePlan(e, &d, func() (string, int) { return d.Plan, d.Run }, func(p *PlanRun) { p.Closed, p.ClosedAt = &d, e.Time })
	case TruthAnswered:
		var d TruthAnswer
		return l.changePlan(e, &d, func() (string, int) { return d.Plan, d.Run }, func(p *PlanRun) {
			if p.Answers[d.Stage] == nil {
				p.Answers[d.Stage] = map[string]TruthAnswer{}
			}
			if before, ok := p.Answers[d.Stage][d.Claim]; !ok || before.Worker != "" || d.Worker == "" { // no agent overrules a person
				p.Answers[d.Stage][d.Claim] = d
			}
		})
	case ReviewGiven:
		var d Opinion
		return l.changePlan(e, &d, func() (string, int) { return d.Plan, d.Run }, func(p *PlanRun) {
			d.At = e.Time
			p.Opinions[d.Stage] = append(slices.Clip(p.Opinions[d.Stage]), d)
		})
	}
	var d Verdict
	return l.changePlan(e, &d, func() (string, int) { return d.Plan, d.Run }, func(p *PlanRun) {
		switch e.Type {
		case StageSkipped:
			p.Skipped[d.Stage] = d
		case StageAccepted:
			p.Accepted[d.Stage] = d
		case StageAgain:
			if d.Verifiers > 0 {
				p.Verify[d.Stage] = d.Verifiers
				return
			}
			if d.Budgets > 0 {
				p.Budgets[d.Stage] = d.Budgets
				return
			}
			if d.Reviewers > 0 {
				p.Review[d.Stage] = d.Reviewers
				return
			}
			p.Again[d.Stage]++
		}
	})
}

func (l *Ledger) opened(e journal.Event) error {
	p := &PlanRun{Seq: e.Seq, Opened: e.Time}
	if err := read(e, &p.Opening); err != nil {
		return err
	}
	if before := l.Plan(p.Plan); before != nil && before.Closed == nil || p.Run <= runs(before) {
		return fmt.Errorf("the plan %s is opened twice", p.Plan)
	}
	if plan.Digest([]byte(p.Text)) != p.Digest {
		return fmt.Errorf("the text of the plan %s is not the one that its digest names", p.Plan)
	}
	l.Plans = append(l.Plans, p.clone())
	return nil
}

func runs(p *PlanRun) int {
	if p == nil {
		return 0
	}
	return p.Run
}

// changePlan reads an event, and changes a copy of the plan that it names.
func (l *Ledger) changePlan(e journal.Event, into any, which func() (string, int), change func(*PlanRun)) error {
	if err := read(e, into); err != nil {
		return err
	}
	name, run := which()
	for i, p := range l.Plans {
		if p.Plan == name && p.Run == run {
			now := p.clone()
			change(now)
			l.Plans[i] = now
			return nil
		}
	}
	return fmt.Errorf("no plan %s was opened", name)
}

// InOpenPlan reports whether a worker belongs to a plan that goes on.
func (l *Ledger) InOpenPlan(id lease.ID) bool {
	w := l.byID[id]
	if w == nil || w.Stage == nil {
		return false
	}
	p := l.Plan(w.Stage.Plan)
	return p != nil && p.Run == w.Stage.Run && p.Closed == nil
}
