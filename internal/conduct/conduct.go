// Package conduct runs plans: it asks package plan what is next, leases a worker for each
// stage that may start, and lets package session take it through the pipeline.
//
// All state is in the journal. A plan that was killed at any moment goes on when somebody
// runs it again: what landed has landed, and a worker whose supervisor died continues where
// the journal says it was. The package refuses to decide whether a stage is done: the gate
// does, on the merged tree.
package conduct

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/plan"
	"cordon/internal/session"
	"cordon/internal/worksite"
)

// Conductor runs plans of one repository.
type Conductor struct {
	// Open opens the repository for one stage: stages that run at once share nothing.
	Open func(context.Context) (*session.Session, error)
	// Drive says with what the worker of a stage runs.
	Drive func(plan.Stage) session.Drive
	// Say tells the operator what happens; nil: nobody.
	Say func(stage, word, text string)
	// Waits is told why stages wait that are ready; nil: nobody is.
	Waits func(map[string]string)
	Who   string
	// Merge: the operator lets results land that gate.land keeps for them, in this run of the plan.
	Merge bool

	mutex sync.Mutex
}

func (c *Conductor) say(stage, word, format string, args ...any) {
	if c.Say == nil {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.Say(stage, word, legible.Line(fmt.Sprintf(format, args...)))
}

// Report is a plan with where its stages stand.
type Report struct {
	Run  *ledger.PlanRun
	Plan plan.Plan
	All  []plan.Standing
	Wait map[string]string // why stages that are ready wait, and why no node has one that runs on a node
	// Claims are what the agents of the stages say that they did. Nobody believes them.
	Claims map[string]string
	// Verifiers and Reviewers are how many of them each stage had.
	Verifiers, Reviewers map[string]int
	// Used is what the clients of each stage say that they used.
	Used map[string]plan.Used
	// Began is when the first worker of each stage was made.
	Began map[string]time.Time
}

// ended is a stage whose worker came to an end.
type ended struct {
	stage string
	moved bool // the journal says more about it than before
	err   error
}

// Run takes a plan as far as it goes without a person. Only one process runs a plan at a
// time; another waits for its turn.
func (c *Conductor) Run(ctx context.Context, name string) (Report, error) {
	s, err := c.Open(ctx)
	if err != nil {
		return Report{}, err
	}
	if err := s.Begin(ctx); err != nil {
		return Report{}, err
	}
	release, err := c.lead(ctx, s, name)
	if err != nil {
		return Report{}, err
	}
	defer release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &running{conductor: c, session: s, name: name, active: map[string]bool{}, stuck: map[string]string{},
		waiting: map[string]string{}, short: map[string]bool{}, ends: make(chan ended)}
	report, err := r.loop(ctx)
	cancel()
	r.drain()
	return report, err
}

// lead makes this process the one that runs the plan.
func (c *Conductor) lead(ctx context.Context, s *session.Session, name string) (func(), error) {
	lock := LockName(name)
	if s.State.Held(lock) {
		c.say("", "plan", "another cordon process runs %s; this one goes on when it ends", name)
	}
	return s.State.Await(ctx, lock)
}

// running is a plan under way.
type running struct {
	conductor *Conductor
	session   *session.Session
	name      string
	active    map[string]bool   // stages that this process works on
	stuck     map[string]string // why stages did not go on that should have
	waiting   map[string]string // the back-offs that were told
	short     map[string]bool   // the stages whose wait for memory was reported
	failed    error             // the first error of a stage that is cordon's own
	known     plan.Known        // permits of earlier turns
	ends      chan ended
}

// loop asks again and again what is next.
func (r *running) loop(ctx context.Context) (Report, error) {
	for {
		report, err := Look(ctx, r.session.Site, r.name)
		if err != nil {
			return report, err
		}
		if report.Run.Closed != nil {
			r.drain() // its workers go on to their own end
			return report, ctx.Err()
		}
		if ctx.Err() != nil {
			return report, ctx.Err()
		}
		if plan.Done(report.All) {
			return r.close(report)
		}
		started, wake, err := r.start(ctx, &report)
		if err != nil {
			return report, err
		}
		if started == 0 && len(r.active) == 0 && wake.IsZero() {
			r.explain(report)
			return report, r.failed // everything that is left needs a person
		}
		if err := r.await(ctx, wake); err != nil {
			return report, err
		}
	}
}

// start begins the stages that may start now.
func (r *running) start(ctx context.Context, report *Report) (started int, wake time.Time, err error) {
	permits, err := r.permits(ctx, *report)
	if err != nil {
		return 0, wake, err
	}
	roots := func(s plan.Stage) []string { return permits[s.ID].Roots() }
	next, waits := report.Plan.Next(report.All, roots, report.Plan.Parallel-len(r.active))
	next, wake = r.backOff(*report, next, waits)
	next, again := r.hasRoom(next, waits)
	if wake.IsZero() || !again.IsZero() && again.Before(wake) {
		wake = again
	}
	maps.Copy(report.Wait, waits)
	if w := r.conductor.Waits; w != nil {
		w(waits)
	}
	for _, s := range next {
		id := s.Stage.ID
		if r.active[id] || r.stuck[id] != "" {
			continue
		}
		r.active[id] = true
		started++
		go func() {
			moved, err := r.stage(ctx, *report, s.Job, permits[id])
			r.ends <- ended{id, moved, err}
		}()
	}
	return started, wake, nil
}

// await waits until a stage ends, or until a back-off is over.
func (r *running) await(ctx context.Context, wake time.Time) error {
	var e ended
	if wake.IsZero() {
		e = <-r.ends
	} else {
		over := time.NewTimer(wake.Sub(r.session.Now()))
		defer over.Stop()
		select {
		case e = <-r.ends:
		case <-over.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	delete(r.active, e.stage)
	if err := r.judge(ctx, e); err != nil {
		return err
	}
	return r.tellEnd(ctx, e.stage)
}

// tellEnd says where a stage stands after its worker ended.
func (r *running) tellEnd(ctx context.Context, stage string) error {
	report, err := Look(ctx, r.session.Site, r.name)
	if err != nil {
		return err
	}
	if st, ok := find(report.All, stage); ok {
		text := st.Why
		if text == "" {
			text = st.Worker
		}
		r.conductor.say(stage, string(st.State), "%s", text)
	}
	return nil
}

// judge says how a stage ended. What the journal shows is no error of the plan, and an error of
// one stage does not end the others: a worker must not be able to stop them.
func (r *running) judge(ctx context.Context, e ended) error {
	var person *fault.PersonError
	var refused *fault.RefusedError
	switch {
	case e.err == nil && !e.moved:
		r.stuck[e.stage] = "its worker did not go on"
		return nil
	case e.err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	r.conductor.say(e.stage, "person", "%v", e.err)
	needsPerson := errors.As(e.err, &person)
	if !e.moved || !needsPerson {
		r.stuck[e.stage] = e.err.Error()
	}
	if !needsPerson && !errors.As(e.err, &refused) && r.failed == nil {
		r.failed = fmt.Errorf("stage %s: %w", e.stage, e.err)
	}
	return nil
}

// explain says why stages that are ready did not start: nothing waits without a reason.
func (r *running) explain(report Report) {
	for i, st := range report.All {
		if why := r.stuck[st.Stage.ID]; why != "" && st.State == plan.StageReady {
			report.All[i].Why = why
		}
	}
}

// drain waits for the stages that still run.
func (r *running) drain() {
	for len(r.active) > 0 {
		e := <-r.ends
		delete(r.active, e.stage)
	}
}

// close writes the end of a plan.
func (r *running) close(report Report) (Report, error) {
	run := report.Run
	data := ledger.Closing{Plan: run.Plan, Run: run.Run, Who: r.conductor.Who, Done: true}
	err := r.session.AppendIf("", ledger.PlanClosed, data, stillOpen(run))
	if err == nil {
		now := *run
		now.Closed, report.Run = &data, &now
	}
	return report, err
}

// stillOpen refuses to change a plan that was closed meanwhile.
func stillOpen(run *ledger.PlanRun) func(*ledger.Ledger) error {
	return func(now *ledger.Ledger) error {
		if p := now.Plan(run.Plan); p == nil || p.Run != run.Run || p.Closed != nil {
			return fault.Refuse("the plan %s is not open any more", run.Plan)
		}
		return nil
	}
}

// Look says where a plan stands.
func Look(ctx context.Context, site *worksite.Site, name string) (Report, error) {
	now, err := site.Ledger()
	if err != nil {
		return Report{}, err
	}
	run := now.Plan(name)
	if run == nil {
		return Report{}, fault.Refuse("there is no plan %s: cordon plan ls lists those that were run", name)
	}
	p, err := plan.Parse(run.Name, []byte(run.Text))
	if err != nil {
		return Report{}, fmt.Errorf("the plan in the journal cannot be read: %w", err)
	}
	facts, err := factsOf(ctx, site, now, run, p)
	if err != nil {
		return Report{}, err
	}
	report := Report{Run: run, Plan: p, All: p.Standings(facts), Claims: map[string]string{}, Verifiers: map[string]int{}, Reviewers: map[string]int{},
		Used: map[string]plan.Used{}, Began: map[string]time.Time{}, Wait: map[string]string{}}
	for stage, f := range facts {
		report.Verifiers[stage], report.Used[stage] = len(f.Verifiers), f.Used
	}
	for stage, list := range now.StageWorkers(run, ledger.Reviewer) {
		report.Reviewers[stage] = len(list)
	}
	for stage, list := range now.StageWorkers(run, doers...) {
		report.Began[stage] = list[0].Created
		w := list[len(list)-1]
		if w.Claim != nil {
			report.Claims[stage] = w.Claim.Text
		}
		if w.Away != nil && w.Away.Grant == nil {
			report.Wait[stage] = site.WhereAway(now, w)
		}
	}
	report.explainRefused(ctx, site)
	return report, nil
}

// doers are the roles whose results are the stage's.
var doers = []ledger.Role{ledger.Author, ledger.Resolver}

// worker is the last worker of a stage that has one of these roles, or nil.
func worker(site *worksite.Site, run *ledger.PlanRun, stage string, roles ...ledger.Role) (*ledger.Worker, error) {
	now, err := site.Ledger()
	if err != nil {
		return nil, err
	}
	list := now.StageWorkers(run, roles...)[stage]
	if len(list) == 0 {
		return nil, nil
	}
	return list[len(list)-1], nil
}
