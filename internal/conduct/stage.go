package conduct

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/dispatch"
	"cordon/internal/fault"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/plan"
	"cordon/internal/session"
	"cordon/internal/stream"
	"cordon/internal/worksite"
)

// permits are what the stages may do. A stage that is not permitted any more does not keep the
// others from going on.
func (r *running) permits(ctx context.Context, report Report) (map[string]plan.Permit, error) {
	list, refused, err := permitted(ctx, r.session.Site, report, &r.known)
	if err != nil {
		return nil, err
	}
	for id, why := range refused {
		if st, _ := find(report.All, id); st.State == plan.StageReady && r.stuck[id] == "" {
			r.stuck[id] = why.Error()
			r.conductor.say(id, "person", "%v", why)
		}
	}
	return list, nil
}

// permitted says what the stages may do, by the policy at the tip of the target, and why some
// are not permitted any more.
func permitted(ctx context.Context, site *worksite.Site, report Report, known *plan.Known) (map[string]plan.Permit, map[string]error, error) {
	base, err := tipOf(ctx, site, report.Run)
	if err != nil {
		return nil, nil, err
	}
	in, err := SurroundingsAt(ctx, site, base, report.Run.Agent)
	if err != nil {
		return nil, nil, err
	}
	in.Sealed, in.Known, in.Command = report.Run.Tasks, known, len(report.Run.Command) > 0
	list, refused, err := report.Plan.PermitEach(report.Run.Name, in)
	if err != nil {
		return nil, nil, &fault.RefusedError{Err: err}
	}
	byID := map[string]plan.Permit{}
	for _, p := range list {
		byID[p.Stage.ID] = p
	}
	return byID, refused, nil
}

// explainRefused says why stages that are ready will not start, of a plan that nobody runs.
// Whoever runs it says so themselves.
func (r Report) explainRefused(ctx context.Context, site *worksite.Site) {
	ready := func(st plan.Standing) bool { return st.State == plan.StageReady && st.Why == "" }
	if r.Run.Closed != nil || !slices.ContainsFunc(r.All, ready) || site.State.Held(LockName(r.Run.Plan)) {
		return
	}
	var known plan.Known
	_, refused, err := permitted(ctx, site, r, &known)
	for i, st := range r.All {
		switch {
		case !ready(st):
		case err != nil:
			r.All[i].Why = err.Error()
		case refused[st.Stage.ID] != nil:
			r.All[i].Why = refused[st.Stage.ID].Error()
		}
	}
}

// SurroundingsAt are what a plan is checked against at a commit.
func SurroundingsAt(ctx context.Context, site *worksite.Site, commit git.OID, agent string) (plan.Surroundings, error) {
	p, err := dispatch.PolicyForPlan(ctx, site, commit, agent)
	if err != nil {
		return plan.Surroundings{}, err
	}
	files, err := site.FilesOf(ctx, commit)
	if err != nil {
		return plan.Surroundings{}, err
	}
	there, links := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		if f.Mode == git.Symlink {
			links[f.Path] = true
		}
		for at := string(f.Path); at != "" && !there[at]; at = at[:max(0, strings.LastIndexByte(at, '/'))] {
			there[at] = true
		}
	}
	return plan.Surroundings{Policy: p, Agent: agent, Reports: reports,
		Has: func(name string) bool { return there[name] }, Link: func(name string) bool { return links[name] }}, nil
}

// reports says what a client reports of its use.
func reports(name string) (tokens, cost, known bool) {
	a, err := clients.Of(client.Name(name))
	if err != nil {
		return false, false, false
	}
	if a.Stream == nil {
		return false, false, true
	}
	return a.Stream.Tokens != stream.Never, a.Stream.Cost != stream.Never, true
}

// stage takes the worker of a stage on, or leases one.
func (r *running) stage(ctx context.Context, report Report, job plan.Job, permit plan.Permit) (moved bool, err error) {
	c := r.conductor
	s, err := c.Open(ctx)
	if err != nil {
		return false, err
	}
	if err := s.Begin(ctx); err != nil {
		return false, err
	}
	w, err := worker(s.Site, report.Run, permit.Stage.ID, roles[job]...)
	if err != nil {
		return false, err
	}
	how := c.Drive(permit.Stage)
	how.Who, how.Budget = c.Who, left(report, permit.Stage)
	if job == plan.Amend || job == plan.Admit {
		return r.admit(ctx, s, report, job, permit.Stage.ID, w, how)
	}
	if w != nil && job == plan.Examine {
		author, err := worker(s.Site, report.Run, permit.Stage.ID, doers...)
		if err != nil {
			return false, err
		}
		if !goesOnReviewing(w, author) {
			w = nil
		}
	}
	if w != nil && goesOn(w, job) {
		c.say(permit.Stage.ID, "again", "%s goes on", w.ID)
		after, err := s.Resume(ctx, w, how)
		return after != nil && after.Events > w.Events, err
	}
	var next *ledger.Worker
	switch job {
	case plan.Confirm:
		next, err = c.leaseVerifier(ctx, s, report, permit)
	case plan.Examine:
		next, err = c.leaseReviewer(ctx, s, report, permit)
	case plan.Settle:
		next, err = c.leaseResolver(ctx, s, report, permit, w)
	default:
		next, err = c.lease(ctx, s, report, permit)
	}
	if err != nil {
		return false, err
	}
	c.say(permit.Stage.ID, starts[job], "%s may change %s", next.ID, orNothing(next.Lease.Rules().Roots()))
	after, err := s.Continue(ctx, next.ID, how)
	if err == nil && job == plan.Settle {
		err = superseded(ctx, s, w, after)
	}
	return true, err
}

// roles are who does a job, and starts is how that is told.
var (
	roles = map[plan.Job][]ledger.Role{plan.Perform: {ledger.Author}, plan.Confirm: {ledger.Verifier}, plan.Settle: doers,
		plan.Examine: {ledger.Reviewer}, plan.Amend: doers, plan.Admit: doers}
	starts = map[plan.Job]string{plan.Perform: "start", plan.Confirm: "verify", plan.Settle: "resolve", plan.Examine: "review"}
)

// goesOn reports whether a job is continued by the worker that began it.
func goesOn(w *ledger.Worker, job plan.Job) bool {
	switch {
	case w.Discard != nil:
		return false
	case job == plan.Confirm:
		return w.Gate == nil
	case job == plan.Settle:
		return w.Gate == nil || w.Gate.Outcome != gate.Conflict
	}
	return true
}

func orNothing(roots []string) string {
	if len(roots) == 0 {
		return "nothing"
	}
	return strings.Join(roots, ", ")
}

// lease makes the lease of a stage, from the tip of the target at this moment.
func (c *Conductor) lease(ctx context.Context, s *session.Session, report Report, permit plan.Permit) (*ledger.Worker, error) {
	run, st := report.Run, permit.Stage
	if err := ancestors(ctx, s.Site, report, st); err != nil {
		return nil, err
	}
	task, err := taskOf(ctx, s.Site, run, st)
	if err != nil {
		return nil, err
	}
	p := permit.Policy
	request := dispatch.Request{
		Policy: &p, Source: fmt.Sprintf("stage %s of plan %s", st.ID, run.Plan),
		Stage: &ledger.StageOf{Plan: run.Plan, Run: run.Run, Stage: st.ID, Kind: st.Kind, Artifacts: st.Artifacts, Signal: signal(report, permit, task),
			Review: st.Review != nil},
	}
	if err := aim(ctx, s.Site, report, st, &request); err != nil {
		return nil, err
	}
	request.Options.Merge = c.lands(run, request.Target)
	if st.Kind == plan.Verify {
		request.Stage.Claims = st.Sentences()
		if len(st.Command) == 0 { // a command of the plan obeys no instructions
			if err := disarm(ctx, s, run, &request); err != nil {
				return nil, err
			}
		}
	}
	who := author(run, st)
	if who == nil {
		return nil, fault.Refuse("stage %s names no agent: cordon plan run --agent NAME, or -- COMMAND, gives it one", st.ID)
	}
	who.take(&request, prompt(st, task))
	if mayLeave(st) {
		request.Options.On = run.On
	}
	return dispatch.Lease(ctx, s.Site, request)
}

// lands reports whether a clean result lands on a branch without a person, whatever gate.land says: the operator said so,
// or it is the branch of the plan, which waits as a whole before it lands on the target.
func (c *Conductor) lands(run *ledger.PlanRun, branch string) bool {
	return c.Merge || run.Merge || branch != run.Target
}

// mayLeave reports whether a stage can run on a node of the fleet. A verifier answers to the home's
// journal, and a budget of tokens or cost is held by the home.
func mayLeave(st plan.Stage) bool { return st.Kind != plan.Verify && !st.Budget.Counts() }

// aim says where a worker begins, and where its result lands.
func aim(ctx context.Context, site *worksite.Site, report Report, st plan.Stage, r *dispatch.Request) error {
	run := report.Run
	r.Target = run.Collects()
	if run.Branch == "" {
		return nil
	}
	tip, err := tipOf(ctx, site, run)
	r.Base = string(tip)
	if st.Kind == plan.Deliver {
		r.Target, r.Stage.Origin = run.Target, run.Base
		r.Options.Message = delivered(report)
	}
	return err
}

// delivered is the message of the commit that lands the results of a plan together.
func delivered(report Report) string {
	text := fmt.Sprintf("Plan %s\n\n", report.Plan.ID)
	for _, s := range report.All {
		if s.Stage.Kind != plan.Deliver {
			text += fmt.Sprintf("- %s: %s (%s)\n", s.Stage.ID, legible.Line(s.Stage.Title()), s.State)
		}
	}
	return text
}

// performer is who works on a stage: a client, or a command.
type performer struct {
	client  string
	args    []string // of the client
	command []string
}

// take makes a request one for this performer.
func (p performer) take(r *dispatch.Request, prompt string) {
	if len(p.command) > 0 {
		r.Command = p.command
		return
	}
	r.Agent = &ledger.Agent{Client: p.client, Args: p.args, Prompt: prompt}
}

// author is who does the task of a stage; nil: nobody was named.
func author(run *ledger.PlanRun, st plan.Stage) *performer {
	switch {
	case len(st.Command) > 0:
		return &performer{command: st.Command}
	case st.Agent != "":
		return named(run, st.Agent, st.Model)
	case run.Agent != "":
		return named(run, run.Agent, st.Model)
	case len(run.Command) > 0:
		return &performer{command: run.Command}
	}
	return nil
}

// verifier is who can look at the result of a stage: the client or the command that plan run
// names, or the client of the stage. A stage's own command does its task and nothing else.
func verifier(run *ledger.PlanRun, st plan.Stage) *performer {
	switch {
	case run.Agent != "":
		return named(run, run.Agent, "")
	case len(run.Command) > 0:
		return &performer{command: run.Command}
	case st.Agent != "":
		return named(run, st.Agent, st.Model)
	}
	return nil
}

// named is a client with the arguments that plan run gave it. The model of a stage stands
// behind them, and wins; every client takes it so.
func named(run *ledger.PlanRun, name, model string) *performer {
	p := &performer{client: name}
	if name == run.Agent {
		p.args = slices.Clone(run.Args)
	}
	if model != "" {
		p.args = append(p.args, "--model", model)
	}
	return p
}

// ancestors refuses a stage whose dependencies are not in the target: a stage may only
// build on what has landed.
func ancestors(ctx context.Context, site *worksite.Site, report Report, st plan.Stage) error {
	for _, l := range st.After {
		if report.Run.Accepted[l.ID].Who != "" || report.Run.Skipped[l.ID].Who != "" {
			continue // the operator's word
		}
		w, err := worker(site, report.Run, l.ID, doers...)
		if err != nil {
			return err
		}
		in := false
		if w != nil && w.Gate != nil && w.Gate.Commit != "" {
			if in, err = collected(ctx, site, report.Run, w.Gate.Commit); err != nil {
				return err
			}
		}
		if !in {
			return fault.Refuse("stage %s waits for %s, whose result is not in %s", st.ID, l.ID, strings.TrimPrefix(report.Run.Collects(), "refs/heads/"))
		}
	}
	return nil
}

// collected reports whether a commit is in the branch on which the results of a plan collect.
func collected(ctx context.Context, site *worksite.Site, run *ledger.PlanRun, commit git.OID) (bool, error) {
	tip, err := tipOf(ctx, site, run)
	if err != nil || tip == commit {
		return err == nil, err
	}
	return site.Host.IsAncestor(ctx, commit, tip)
}

// taskOf is the text of a stage's task. Files of tasks are read when a plan is opened: no worker can
// change the task of another. Plans that earlier versions opened have no such texts.
func taskOf(ctx context.Context, site *worksite.Site, run *ledger.PlanRun, st plan.Stage) (string, error) {
	if st.TaskFile == "" {
		return st.Task, nil
	}
	if text := run.Tasks[st.TaskFile]; text != "" {
		return text, nil
	}
	base, err := tipOf(ctx, site, run)
	if err != nil {
		return "", err
	}
	text, ok, err := site.Host.FileAt(ctx, base, st.TaskFile)
	if err == nil && !ok {
		err = fault.Refuse("%s has no file %s, the task of stage %s", base.Short(), st.TaskFile, st.ID)
	}
	return string(text), err
}

// prompt is what the agent of a stage is told to do.
func prompt(st plan.Stage, task string) string {
	if strings.TrimSpace(task) == "" {
		return "Verify what your briefing says about this stage, change nothing, and report."
	}
	return task
}
