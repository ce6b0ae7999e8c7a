// Package plans holds the commands of cordon plan: flags, calls and pages. It refuses to know
// how a plan runs: package conduct does.
package plans

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"cordon/internal/conduct"
	"cordon/internal/ledger"
	"cordon/internal/page"
	"cordon/internal/plan"
	"cordon/internal/post"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/view"
)

// needsPerson is the exit code of a plan that goes no further by itself.
const needsPerson = 5

// Console is what the commands share with the program that they are part of.
type Console struct {
	Open  func(context.Context) (*session.Session, error)
	Page  func() page.Page
	Read  func(file string) ([]byte, error) // a file that the operator names
	Code  func(int) error                   // an error that is only an exit code
	Who   func() string
	Usage func(error) error // an error in how a command was called
	// Post is the directory of a worker's socket; what says what to do where there is none.
	Post   func(verb, what string) (string, error)
	Client string // for examples
	// Consent does something that may need the operator's consent for the repository.
	Consent func(s *session.Session, do func() error) error
}

// New is cordon plan.
func New(a *Console) *cobra.Command {
	c := &cobra.Command{
		Use:   "plan",
		Short: "Run a plan of stages, each in its own worker",
		Long: `A plan is a YAML file, or a Markdown document with one, that lists stages: what each is
to do, what it may change, which stages come before it, and how it is judged. Every stage
runs as a worker with a lease. Stages that do not depend on each other and may not change
the same paths run side by side. A stage is done when its result has landed and passed its
acceptance commands, artifacts and truths on the merged tree.`,
		Example: `  cordon plan check plan.yaml
  cordon plan run plan.yaml --agent ` + a.Client + `
  cordon plan show worktree-isolation`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.newPlan(), a.schema(), a.check(), a.runCommand(), a.showCommand(), a.list(), a.stop(), a.truth(), a.review(),
		a.decide("retry", "Let a stage that needs you try again", ledger.StageAgain),
		a.decide("skip", "Leave a stage out; the stages after it go on without it", ledger.StageSkipped),
		a.decide("accept", "Take a stage as done, on your word", ledger.StageAccepted))
	return c
}

func (a *Console) check() *cobra.Command {
	var agent string
	var fromCommit bool
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a plan and show what each stage may do",
		Long: `Check a plan against the policy of the branch that it is for. Mistakes are reported with
line, column and a correction. A plan may only narrow the policy; a stage that nobody could
satisfy is refused. Nothing runs.`,
		Example: "  cordon plan check plan.yaml\n  cordon plan check --json doc/plan.md",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.Open(cmd.Context())
			if err != nil {
				return err
			}
			d, err := a.document(cmd.Context(), s, args[0], fromCommit)
			if err != nil {
				return err
			}
			checked, err := conduct.Check(cmd.Context(), s.Site, d, agent, false)
			if err != nil {
				return err
			}
			return a.Page().PlanCheck(present.PlanCheckView(checked))
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "the `CLIENT` for stages that name none")
	c.Flags().BoolVar(&fromCommit, "committed", false, "read FILE from the commit that you are on, and not from the disk")
	return c
}

// document reads the file of a plan, which no worker can have written.
func (a *Console) document(ctx context.Context, s *session.Session, file string, fromCommit bool) (conduct.Document, error) {
	if fromCommit {
		return committed(ctx, s, file)
	}
	text, err := a.Read(file)
	if err != nil {
		return conduct.Document{}, err
	}
	abs, err := filepath.Abs(file)
	if err == nil {
		err = s.RefuseWorkersFile("plan", abs)
	}
	return conduct.Document{Name: file, Source: file, Text: text}, err
}

func (a *Console) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run FILE|PLAN [--agent CLIENT] [-- COMMAND|ARG...]",
		Short: "Run a plan, or go on with one",
		Long: `Run the stages of a plan as far as they go without you, or go on with a PLAN that was run
before. The text of the plan is written to the journal: what happens to the file later does
not change it. If this command is killed, the next one goes on where the journal ends.
On a terminal, one screen shows the stages; elsewhere, each event is a line.

A result that passed waits for you where gate.land is review, where it is careful and the
result changes tests, CI or build files, and where there are no acceptance commands:
cordon plan review approves it, and cordon plan run PLAN goes on. With land: together, only
the last stage waits, which lands everything. With --merge, results land without waiting for
you. It holds for the stages that start from then on; results that wait go on waiting.

Stages that name no agent get the one of --agent, or run COMMAND, which finds its task with
cordon briefing. With --agent, what stands behind -- are arguments of that client, as
cordon run takes them; it gets them in every stage that it works on.`,
		Example: "  cordon plan run plan.yaml --agent " + a.Client + "\n  cordon plan run plan.yaml --agent " + a.Client + " -- --model opus\n" +
			"  cordon plan run plan.yaml -- ./agent.sh\n  cordon plan run worktree-isolation",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.command = args[1:]
			return a.run(cmd.Context(), args[0], o)
		},
	}
	c.Flags().SetInterspersed(true)
	c.Flags().StringVar(&o.agent, "agent", "", "the `CLIENT` for stages that name none")
	c.Flags().BoolVar(&o.committed, "committed", false, "read FILE from the commit that you are on, and not from the disk")
	c.Flags().BoolVar(&o.merge, "merge", false,
		"land results that pass, even where gate.land or missing acceptance commands keep them for you; stages with a review still need it")
	c.Flags().StringVar(&o.node, "on", "", "run the stages on the fleet node `NAME`")
	c.Flags().BoolVar(&o.fleet, "fleet", false, "run each stage on any node of the fleet")
	c.MarkFlagsMutuallyExclusive("on", "fleet")
	c.Flags().BoolVar(&o.events, "events", false, "with --json: print one object on a line for each event, and the plan at the end")
	return c
}

// runOptions are the flags of cordon plan run.
type runOptions struct {
	agent             string
	command           []string
	committed, events bool
	merge             bool
	node              string
	fleet             bool
}

// on is where the stages run.
func (o runOptions) on() string {
	if o.fleet {
		return ledger.AnyNode
	}
	return o.node
}

func (a *Console) run(ctx context.Context, what string, o runOptions) error {
	s, err := a.Open(ctx)
	if err != nil {
		return err
	}
	name, err := a.named(ctx, s, what, o)
	if err != nil {
		return err
	}
	conductor := &conduct.Conductor{
		Open: a.Open, Who: a.Who(), Merge: o.merge,
		Drive: func(plan.Stage) session.Drive { return session.Drive{} },
		Say: func(stage, word, text string) {
			if o.events && a.Page().JSON {
				_ = a.Page().Line(&view.PlanEvent{Plan: name, Stage: stage, Event: word, Text: text, Time: s.Now()})
			}
			if stage != "" {
				word = stage + " " + word
			}
			a.Page().Say("%s: %s", word, text)
		},
	}
	end, err := a.watched(ctx, conductor, name)
	if err != nil {
		return err
	}
	defer end()
	report, failed := conductor.Run(ctx, name)
	end() // what follows is for the screen below
	if failed != nil && (len(report.All) == 0 || ctx.Err() != nil || a.Page().JSON) {
		return failed
	}
	if v := present.PlanView(report, false); o.events && a.Page().JSON {
		err = a.Page().Line(v)
	} else {
		err = a.Page().Plan(v)
	}
	if err := errors.Join(failed, err); err != nil {
		return err
	}
	if !plan.Done(report.All) {
		return a.Code(needsPerson)
	}
	return nil
}

// named is the name of a plan that is open, or of one that a file holds.
func (a *Console) named(ctx context.Context, s *session.Session, what string, o runOptions) (string, error) {
	now, err := s.Ledger()
	if err != nil {
		return "", err
	}
	if p := now.Plan(what); p != nil && p.Closed == nil {
		return what, nil
	}
	d, err := a.document(ctx, s, what, o.committed)
	if err != nil {
		return "", err
	}
	r := conduct.Request{Document: d, Agent: o.agent, Command: o.command, On: o.on(), Merge: o.merge, Who: a.Who()}
	if o.agent != "" {
		r.Args, r.Command = o.command, nil
	}
	err = a.Consent(s, func() error {
		run, err := conduct.Open(ctx, s.Site, r)
		if err == nil {
			what = run.Plan
		}
		return err
	})
	return what, err
}

func (a *Console) showCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show PLAN", Short: "Show where the stages of a plan stand",
		Long:    "Show where each stage of a plan stands, what it waits for, and what to type for the stages that need you.",
		Example: "  cordon plan show worktree-isolation\n  cordon plan show --json worktree-isolation | jq '.stages[].state'",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.show(cmd.Context(), args[0]) },
	}
}

func (a *Console) show(ctx context.Context, name string) error {
	s, err := a.Open(ctx)
	if err != nil {
		return err
	}
	report, err := conduct.Look(ctx, s.Site, name)
	if err != nil {
		return err
	}
	return a.Page().Plan(present.PlanView(report, s.State.Held(conduct.LockName(name))))
}

func (a *Console) list() *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List the plans that were run",
		Long:    "List the plans that were run in this repository, the newest first.",
		Example: "  cordon plan ls",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.Open(cmd.Context())
			if err != nil {
				return err
			}
			all, err := conduct.Reports(cmd.Context(), s.Site, func(*ledger.PlanRun) bool { return true })
			if err != nil {
				return err
			}
			shown := view.Plans{Plans: []view.PlanSummary{}}
			for _, report := range slices.Backward(all) {
				shown.Plans = append(shown.Plans, present.PlanSummaryView(report, s.State.Held(conduct.LockName(report.Run.Plan))))
			}
			return a.Page().Plans(&shown)
		},
	}
}

func (a *Console) stop() *cobra.Command {
	return &cobra.Command{
		Use: "stop PLAN", Short: "End a plan before its end",
		Long: `Close a plan that is not done. No further stage starts. Workers that run go on to their
own end; cordon stop ends them. Results that landed stay, and nothing is deleted.`,
		Example: "  cordon plan stop worktree-isolation",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.Open(cmd.Context())
			if err == nil {
				err = conduct.Close(cmd.Context(), s.Site, args[0], a.Who())
			}
			if err != nil {
				return err
			}
			return a.show(cmd.Context(), args[0])
		},
	}
}

// truth is the answer of a person to a claim.
func (a *Console) truth() *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: "truth PLAN STAGE NUMBER yes|no", Short: "Answer a claim that no command can show",
		Long: `Answer a claim about the result of a stage that is only a sentence. A stage with such a
claim is done when a verifier or a person confirmed it. The answer of a verifier is shown as
an agent's evidence; yours counts more, and no agent can change it. cordon plan show lists
the claims.`,
		Example: "  cordon plan truth worktree-isolation verify 1 yes --why \"I tried it\"",
		Args:    cobra.ExactArgs(4),
		RunE: func(cmd *cobra.Command, args []string) error {
			number, yes, err := post.ReadAnswer(args[2], args[3])
			if err != nil {
				return a.Usage(err)
			}
			s, err := a.Open(cmd.Context())
			if err == nil {
				err = conduct.AnswerTruth(cmd.Context(), s.Site, conduct.Truth{Plan: args[0], Stage: args[1], Number: number, Yes: yes, Who: a.Who(), Why: why})
			}
			if err != nil {
				return err
			}
			return a.show(cmd.Context(), args[0])
		},
	}
	c.Flags().StringVar(&why, "why", "", "the reason, for the journal: `TEXT`")
	return c
}

// decide is one of the decisions about a stage.
func (a *Console) decide(verb, short, typ string) *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: verb + " PLAN STAGE", Short: short,
		Long:    short + ". The decision is written to the journal with your name; cordon plan run PLAN goes on.",
		Example: "  cordon plan " + verb + " worktree-isolation hooks --why \"…\"",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.Open(cmd.Context())
			if err == nil {
				err = conduct.Decide(cmd.Context(), s.Site, conduct.Decision{Plan: args[0], Stage: args[1], Type: typ, Who: a.Who(), Why: why})
			}
			if err != nil {
				return err
			}
			return a.show(cmd.Context(), args[0])
		},
	}
	c.Flags().StringVar(&why, "why", "", "the reason, for the journal: `TEXT`")
	return c
}
