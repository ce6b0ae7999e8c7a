package conduct

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/dispatch"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/ledger"
	"cordon/internal/plan"
	"cordon/internal/worksite"
)

// Document is the text of a plan, and where it came from.
type Document struct {
	Name   string // of the file, for messages
	Source string
	Text   []byte
}

// Request is a plan that the operator wants to run.
type Request struct {
	Document
	Agent   string   // for stages that name none
	Args    []string // of Agent
	Command []string // for stages that name neither
	On      string   // the node that runs the stages, or ledger.AnyNode; "": this machine
	Merge   bool     // results land that gate.land keeps for a person
	Who     string
}

// Checked is a plan with what its stages may do.
type Checked struct {
	Plan    plan.Plan
	Target  string
	Base    git.OID
	Permits []plan.Permit
	Tasks   map[string]string // by their file
}

// Pairs are the stages that cannot run at once because of what they may change.
func (c Checked) Pairs() []plan.Pair {
	roots := map[string][]string{}
	for _, p := range c.Permits {
		roots[p.Stage.ID] = p.Roots()
	}
	return c.Plan.Pairs(func(s plan.Stage) []string { return roots[s.ID] })
}

// Check reads a plan and holds it against the policy of the branch that it is for.
func Check(ctx context.Context, site *worksite.Site, d Document, agent string, command bool) (Checked, error) {
	p, err := plan.Parse(d.Name, d.Text)
	if err != nil {
		return Checked{}, &fault.RefusedError{Err: err}
	}
	target, err := targetOf(ctx, site, p)
	if err != nil {
		return Checked{}, err
	}
	base, err := site.Host.Ref(ctx, target)
	if errors.Is(err, git.ErrNoRef) {
		return Checked{}, fault.Refuse("the plan is for the branch %s, which does not exist", strings.TrimPrefix(target, "refs/heads/"))
	}
	if err != nil {
		return Checked{}, err
	}
	in, err := SurroundingsAt(ctx, site, base, agent)
	if err != nil {
		return Checked{}, err
	}
	in.Command = command
	permits, err := p.Permits(d.Name, in)
	if err != nil {
		return Checked{}, &fault.RefusedError{Err: err}
	}
	p.Notes = slices.Concat(p.Notes, lateReports(permits, agent), plan.Doubts(permits))
	tasks, err := tasksAt(ctx, site, p, base)
	return Checked{Plan: p, Target: target, Base: base, Permits: permits, Tasks: tasks}, err
}

// maxTasks is the most that all files of tasks of a plan may hold, in bytes.
const maxTasks = 4 << 20

// tasksAt are the files that stages have for their tasks, at a commit. Only what is a file there
// counts: not where a link leads.
func tasksAt(ctx context.Context, site *worksite.Site, p plan.Plan, base git.OID) (map[string]string, error) {
	tasks, sum := map[string]string{}, 0
	for _, st := range p.Stages {
		if st.TaskFile == "" {
			continue
		}
		text, ok, err := site.Host.FileAt(ctx, base, st.TaskFile)
		switch {
		case errors.Is(err, git.ErrNoFile):
			return nil, fault.Refuse("%s, the task of stage %s, is %v", st.TaskFile, st.ID, git.ErrNoFile)
		case err != nil:
			return nil, err
		case !ok || strings.TrimSpace(string(text)) == "":
			return nil, fault.Refuse("%s has no text in %s, the task of stage %s", base.Short(), st.TaskFile, st.ID)
		case !utf8.Valid(text):
			return nil, fault.Refuse("%s, the task of stage %s, is not text in UTF-8", st.TaskFile, st.ID)
		}
		tasks[st.TaskFile] = string(text)
		if sum += len(text); sum > maxTasks {
			return nil, fault.Refuse("the files of the tasks of the plan hold more than %d MiB", maxTasks>>20)
		}
	}
	return tasks, nil
}

// targetOf is the branch that a plan is for.
func targetOf(ctx context.Context, site *worksite.Site, p plan.Plan) (string, error) {
	if p.Target != "" {
		return "refs/heads/" + strings.TrimPrefix(p.Target, "refs/heads/"), nil
	}
	ref, err := site.Host.HeadBranch(ctx)
	if err == nil && ref == "" {
		err = fault.Refuse("HEAD is detached, so there is no branch for the results: name one in the plan (target)")
	}
	return ref, err
}

// Open writes a plan to the journal, or finds it there. A plan that is open goes on with the
// text that it was opened with.
func Open(ctx context.Context, site *worksite.Site, r Request) (*ledger.PlanRun, error) {
	checked, err := Check(ctx, site, r.Document, r.Agent, len(r.Command) > 0)
	if err != nil {
		return nil, err
	}
	if err := takes(r.Agent, r.Args); err != nil {
		return nil, err
	}
	if err := site.Begin(ctx); err != nil {
		return nil, err
	}
	now, err := site.Ledger()
	if err != nil {
		return nil, err
	}
	if err := dispatch.CheckNode(now, r.On); err != nil {
		return nil, err
	}
	digest := plan.Digest(r.Text)
	before := now.Plan(checked.Plan.ID)
	if before != nil && before.Closed == nil {
		return before, sameText(before, digest)
	}
	run := 1
	if before != nil {
		run = before.Run + 1
	}
	data := ledger.Opening{
		Plan: checked.Plan.ID, Run: run, Text: string(r.Text), Name: r.Name, Digest: digest, Source: r.Source, Target: checked.Target,
		Tasks: checked.Tasks, Who: r.Who, Agent: r.Agent, Args: r.Args, Command: r.Command, On: r.On, Base: checked.Base,
		Merge: r.Merge,
	}
	if checked.Plan.Land == plan.Together {
		if data.Branch, err = branchFor(ctx, site, now, checked.Plan.ID, run); err != nil {
			return nil, err
		}
	}
	err = site.AppendIf("", ledger.PlanOpened, data, func(now *ledger.Ledger) error {
		if p := now.Plan(data.Plan); p != nil && (p.Closed == nil || p.Run >= run) {
			return errOpened
		}
		return nil
	})
	if err != nil && !errors.Is(err, errOpened) {
		return nil, err
	}
	if now, err = site.Ledger(); err != nil {
		return nil, err
	}
	opened := now.Plan(data.Plan)
	return opened, sameText(opened, digest)
}

// takes refuses arguments that a client would not start with.
func takes(name string, args []string) error {
	if name == "" {
		return nil
	}
	a, err := clients.Of(client.Name(name))
	if err == nil {
		err = a.Accept(args)
	}
	if err != nil {
		return &fault.RefusedError{Err: err}
	}
	return nil
}

// branchFor is the branch on which the results of a plan collect. The first of them creates it.
func branchFor(ctx context.Context, site *worksite.Site, now *ledger.Ledger, name string, run int) (string, error) {
	branch := "cordon/plan/" + name
	if run > 1 {
		branch += fmt.Sprintf("-%d", run)
	}
	for _, p := range now.Plans {
		if p.Closed == nil && p.Branch == "refs/heads/"+branch {
			return "", fault.Refuse("the results of the plan collect on the branch %s, which the plan %s uses: give this plan another name", branch, p.Plan)
		}
	}
	_, err := site.Host.Ref(ctx, "refs/heads/"+branch)
	if err == nil {
		return "", fault.Refuse("the results of the plan collect on the branch %s, which exists: git branch -m %s OTHER", branch, branch)
	}
	if !errors.Is(err, git.ErrNoRef) {
		return "", err
	}
	return "refs/heads/" + branch, nil
}

// tipOf is where the branch is on which the results of a plan collect.
func tipOf(ctx context.Context, site *worksite.Site, run *ledger.PlanRun) (git.OID, error) {
	tip, err := site.Host.Ref(ctx, run.Collects())
	if errors.Is(err, git.ErrNoRef) && run.Branch != "" {
		return run.Base, nil // no result has landed yet
	}
	return tip, err
}

var errOpened = errors.New("the plan was opened meanwhile")

// sameText refuses to go on with a plan whose file has changed.
func sameText(run *ledger.PlanRun, digest string) error {
	if run.Digest == digest {
		return nil
	}
	return fault.Refuse("the plan %s is open with another text: cordon plan run %s goes on with that one, and after cordon plan stop %s this one can run",
		run.Plan, run.Plan, run.Plan)
}
