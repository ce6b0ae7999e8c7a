package main

import (
	"context"

	"github.com/spf13/cobra"

	"cordon/internal/guard"
	"cordon/internal/hook"
	"cordon/internal/warrant"
)

// checkOptions are the flags of cordon check.
type checkOptions struct {
	lease, worktree, host, policy, cwd, tool, mode string
	batch, unconfined                              bool
}

func (a *app) checkCommand() *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check [flags] 'COMMAND'",
		Short: "Explain what the guard says about a tool call",
		Long: `Judge a tool call as the guard of a worker would, and explain the decision step by
step: what would run, in which directory, where each path leads, and which step
decided. Nothing is executed.

--lease names the worker; or --worktree and --host describe one. Without these, the
current repository serves as the worktree. If the worktree does not exist, its paths
are taken as written. COMMAND is a shell command; with --tool it is that tool's input:
the path for Read, Write, Edit and similar tools.

--batch reads JSON lines {"id","tool","command","cwd"} on stdin and writes
{"id","decision","reason"} for each, in order.`,
		Example: `  cordon check 'cd .. && git status'
  cordon check --lease brave-otter 'rm -rf "$BUILD_DIR"'
  cordon check --tool Write ../../README.md
  cordon check --worktree trees/s1 --host . --batch < calls.jsonl`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.check(cmd.Context(), o, args)
		},
	}
	f := c.Flags()
	f.StringVar(&o.lease, "lease", "", "judge for worker `ID`")
	f.StringVar(&o.worktree, "worktree", "", "judge for a worker in `DIR`")
	f.StringVar(&o.host, "host", "", "the repository that the worktree belongs to, a `DIR`")
	f.StringVar(&o.policy, "policy", "", "judge by the policy `FILE`, not the repository's")
	f.StringVar(&o.mode, "mode", "", "judge in `MODE` enforce, warn or strict")
	f.StringVar(&o.cwd, "cwd", "", "the `DIR` in which the call starts")
	f.StringVar(&o.tool, "tool", "Bash", "the client's `NAME` for the tool")
	f.BoolVar(&o.batch, "batch", false, "judge many calls, as JSON lines")
	f.BoolVar(&o.unconfined, "unconfined", false, "judge for a worker without a cell")
	_ = c.RegisterFlagCompletionFunc("lease", a.workerNames)
	return c
}

func (a *app) check(ctx context.Context, o checkOptions, args []string) error {
	if o.batch == (len(args) == 1) {
		return usage("cordon check: give one command, or --batch and the commands on stdin")
	}
	s, err := a.scope(ctx, o)
	if err != nil {
		return err
	}
	if o.batch {
		return warrant.JudgeLines(s, a.typed(), a.out, warrant.Call{Tool: o.tool, Cwd: o.cwd})
	}
	d := guard.Decide(s, hook.Typed(o.tool, args[0], o.cwd))
	if err := a.page().Decision(d); err != nil {
		return err
	}
	return codeOfVerdict(d.Verdict)
}

func codeOfVerdict(v guard.Verdict) error {
	switch v {
	case guard.Allow:
		return nil
	case guard.Ask:
		return codeError(exitPerson)
	}
	return codeError(exitRefused)
}

// scope is who the calls are judged for.
func (a *app) scope(ctx context.Context, o checkOptions) (*guard.Scope, error) {
	switch {
	case o.lease != "" && (o.worktree != "" || o.host != "" || o.policy != "" || o.mode != "" || o.unconfined):
		return nil, usage("cordon check: --lease says everything about the worker; leave out the other flags")
	case o.lease != "":
		s, w, err := a.worker(ctx, o.lease)
		if err != nil {
			return nil, err
		}
		return warrant.Scope(ctx, s.Site, w)
	case o.host != "" && o.worktree == "":
		return nil, usage("cordon check: --host needs --worktree")
	case a.json && o.batch:
		return nil, usage("cordon check: --batch answers in JSON lines; leave out --json")
	}
	return a.imagined(ctx, o)
}

// imagined is the scope of a worker that nobody dispatched.
func (a *app) imagined(ctx context.Context, o checkOptions) (*guard.Scope, error) {
	im := warrant.Hypothetical{Worktree: o.worktree, Host: o.host, Policy: o.policy, Unconfined: o.unconfined}
	if im.Worktree == "" {
		s, err := a.open(ctx)
		if err != nil {
			return nil, err
		}
		if im.Worktree, im.Host = s.Host.Top, s.Host.Top; im.Worktree == "" {
			return nil, usage("cordon check: this repository has no checkout; name one with --worktree")
		}
	}
	if o.mode != "" {
		if err := im.Mode.UnmarshalText([]byte(o.mode)); err != nil {
			return nil, usage("cordon check: --mode: %v", err)
		}
	}
	s, note, err := warrant.HypotheticalScope(ctx, im)
	if note != "" {
		a.say("%s", note)
	}
	return s, err
}
