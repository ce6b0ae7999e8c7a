package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"cordon/internal/conduct"
	"cordon/internal/ledger"
	"cordon/internal/plan"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/view"
)

func (a *app) planCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "plan",
		Short: "Run a plan: stages that depend on each other, each in a worker of its own",
		Long: `A plan is a YAML file, or a Markdown document with one, that lists stages: what each is
to do, what it may change, which stages come before it, and how it is judged. Every stage
runs as a worker with a lease. Stages that do not depend on each other and may not change
the same paths run side by side. A stage is done when its result has landed and passed its
acceptance commands, artifacts and truths on the merged tree.`,
		Example: `  cordon plan check plan.yaml
  cordon plan run plan.yaml --agent ` + exampleClient + `
  cordon plan show worktree-isolation`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.planCheckCommand(), a.planRunCommand(), a.planShowCommand(), a.planLsCommand(), a.planStopCommand(),
		a.planDecideCommand("retry", "Let a stage that needs you try again", ledger.StageAgain),
		a.planDecideCommand("skip", "Leave a stage out; the stages after it go on without it", ledger.StageSkipped),
		a.planDecideCommand("accept", "Take a stage as done, on your word", ledger.StageAccepted))
	return c
}

func (a *app) planCheckCommand() *cobra.Command {
	var agent string
	c := &cobra.Command{
		Use:   "check FILE",
		Short: "Check a plan and show what each stage may do",
		Long: `Check a plan against the policy of the branch that it is for. Mistakes are reported with
line, column and a correction. A plan may only narrow the policy; a stage that nobody could
satisfy is refused. Nothing runs.`,
		Example: "  cordon plan check plan.yaml\n  cordon plan check --json doc/plan.md",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			d, err := planDocument(args[0])
			if err != nil {
				return err
			}
			checked, err := conduct.Check(cmd.Context(), s.Site, d, agent)
			if err != nil {
				return err
			}
			return a.page().PlanCheck(present.PlanCheckView(checked))
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "the `CLIENT` for stages that name none")
	return c
}

// planDocument reads the file of a plan.
func planDocument(file string) (conduct.Document, error) {
	text, err := readNamed(file)
	return conduct.Document{Name: file, Source: file, Text: text}, err
}

func (a *app) planRunCommand() *cobra.Command {
	var agent string
	c := &cobra.Command{
		Use:   "run FILE|PLAN [-- COMMAND [ARG...]]",
		Short: "Run a plan, or go on with one",
		Long: `Run the stages of a plan as far as they go without you, or go on with a PLAN that was run
before. The text of the plan is written to the journal: what happens to the file later does
not change it. If this command is killed, the next one goes on where the journal ends.

Stages that name no agent get the one of --agent, or run COMMAND, which finds its task with
cordon briefing.`,
		Example: "  cordon plan run plan.yaml --agent " + exampleClient + "\n  cordon plan run plan.yaml -- ./agent.sh\n  cordon plan run worktree-isolation",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.planRun(cmd.Context(), args[0], agent, args[1:])
		},
	}
	c.Flags().SetInterspersed(true)
	c.Flags().StringVar(&agent, "agent", "", "the `CLIENT` for stages that name none")
	return c
}

func (a *app) planRun(ctx context.Context, what, agent string, command []string) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	name, err := a.planToRun(ctx, s, what, agent, command)
	if err != nil {
		return err
	}
	conductor := &conduct.Conductor{
		Open: a.open, Who: operator(),
		Drive: func(plan.Stage) session.Drive { return session.Drive{} },
		Say: func(stage, word, text string) {
			if stage != "" {
				word = stage + " " + word
			}
			a.say("%s: %s", word, text)
		},
	}
	report, err := conductor.Run(ctx, name)
	if err != nil {
		return err
	}
	if err := a.page().Plan(present.PlanView(report, false)); err != nil {
		return err
	}
	if !plan.Done(report.All) {
		return codeError(exitPerson)
	}
	return nil
}

// planToRun is the name of a plan that is open, or of one that a file holds.
func (a *app) planToRun(ctx context.Context, s *session.Session, what, agent string, command []string) (string, error) {
	now, err := s.Ledger()
	if err != nil {
		return "", err
	}
	if p := now.Plan(what); p != nil && p.Closed == nil {
		return what, nil
	}
	d, err := planDocument(what)
	if err != nil {
		return "", err
	}
	run, err := conduct.Open(ctx, s.Site, conduct.Request{Document: d, Agent: agent, Command: command, Who: operator()})
	if err != nil {
		return "", err
	}
	return run.Plan, nil
}

func (a *app) planShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show PLAN", Short: "Show where the stages of a plan stand",
		Long:    "Show where each stage of a plan stands, what it waits for, and what to type for the stages that need you.",
		Example: "  cordon plan show worktree-isolation\n  cordon plan show --json worktree-isolation | jq '.stages[].state'",
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.planShow(cmd.Context(), args[0]) },
	}
}

func (a *app) planShow(ctx context.Context, name string) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	report, err := conduct.Look(ctx, s.Site, name)
	if err != nil {
		return err
	}
	return a.page().Plan(present.PlanView(report, s.State.Held(conduct.LockName(name))))
}

func (a *app) planLsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List the plans that were run",
		Long:    "List the plans that were run in this repository, the newest first.",
		Example: "  cordon plan ls",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			now, err := s.Ledger()
			if err != nil {
				return err
			}
			shown := view.Plans{Plans: []view.PlanSummary{}}
			for _, p := range slices.Backward(now.Plans) {
				if now.Plan(p.Plan) != p {
					continue // it was run again
				}
				report, err := conduct.Look(cmd.Context(), s.Site, p.Plan)
				if err != nil {
					return err
				}
				shown.Plans = append(shown.Plans, present.PlanSummaryView(report, s.State.Held(conduct.LockName(p.Plan))))
			}
			return a.page().Plans(&shown)
		},
	}
}

func (a *app) planStopCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stop PLAN", Short: "End a plan before its end",
		Long: `Close a plan that is not done. No further stage starts. Workers that run go on to their
own end; cordon stop ends them. Results that landed stay, and nothing is deleted.`,
		Example: "  cordon plan stop worktree-isolation",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context())
			if err == nil {
				err = conduct.Close(cmd.Context(), s.Site, args[0], operator())
			}
			if err != nil {
				return err
			}
			return a.planShow(cmd.Context(), args[0])
		},
	}
}

// planDecideCommand is one of the decisions about a stage.
func (a *app) planDecideCommand(verb, short, typ string) *cobra.Command {
	var why string
	c := &cobra.Command{
		Use: verb + " PLAN STAGE", Short: short,
		Long:    short + ". The decision is written to the journal with your name; cordon plan run PLAN goes on.",
		Example: "  cordon plan " + verb + " worktree-isolation hooks --why \"…\"",
		Args:    cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.open(cmd.Context())
			if err == nil {
				err = conduct.Decide(cmd.Context(), s.Site, conduct.Decision{Plan: args[0], Stage: args[1], Type: typ, Who: operator(), Why: why})
			}
			if err != nil {
				return err
			}
			return a.planShow(cmd.Context(), args[0])
		},
	}
	c.Flags().StringVar(&why, "why", "", "the reason, for the journal: `TEXT`")
	return c
}
