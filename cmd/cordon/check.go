package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/guard"
	"cordon/internal/hook"
	"cordon/internal/legible"
	"cordon/internal/present"
	"cordon/internal/view"
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
		return a.checkBatch(s, o)
	}
	d := guard.Decide(s, hook.Typed(o.tool, args[0], o.cwd))
	if err := a.sayDecision(d); err != nil {
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

func checkView(d guard.Decision) *view.Check {
	v := &view.Check{Verdict: string(d.Verdict), Reason: d.Reason, Tried: d.Tried, Instead: d.Instead, Holds: d.Holds, Warned: d.Warned}
	if d.Steps != nil {
		v.Steps = present.Each(d.Steps, present.StepView)
	}
	return v
}

// sayDecision explains a decision.
func (a *app) sayDecision(d guard.Decision) error {
	if a.json {
		return a.object(checkView(d))
	}
	var b strings.Builder
	dir := ""
	for _, s := range checkView(d).Steps {
		if s.Dir != dir {
			dir = s.Dir
			fmt.Fprintf(&b, "in %s\n", legible.Line(dir))
		}
		fmt.Fprintf(&b, "  %-5s %s\n", s.Verdict, legible.Line(stepLine(s)))
	}
	fmt.Fprintf(&b, "%s", d.Verdict)
	if m := d.Message(); m != "" {
		fmt.Fprintf(&b, "\n\n%s\n(%s)\n", strings.TrimRight(m, "\n"), d.Holds)
	} else {
		fmt.Fprintf(&b, " (%s)\n", d.Holds)
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

// stepLine is one thing that a call does.
func stepLine(s view.Step) string {
	line := s.Does
	if s.Path != "" {
		line += " " + s.Path
	}
	if s.Leads != "" && s.Leads != s.Path {
		line += " → " + s.Leads
	}
	if s.Place != "" {
		line += " (" + s.Place + ")"
	}
	if s.Why != "" {
		line += ": " + s.Why
	}
	return line
}

// batchCall is a line of --batch.
type batchCall struct {
	ID      json.RawMessage `json:"id"`
	Tool    string          `json:"tool"`
	Command *string         `json:"command"`
	Cwd     string          `json:"cwd"`
}

type batchAnswer struct {
	ID       json.RawMessage `json:"id"`
	Decision guard.Verdict   `json:"decision"`
	Reason   string          `json:"reason"`
}

// checkBatch answers line by line. A line that is no call is denied: whoever
// counts the answers must not take a mistake for a yes.
func (a *app) checkBatch(s *guard.Scope, o checkOptions) error {
	lines := bufio.NewReader(a.in)
	enc := json.NewEncoder(a.out) // one write a line: whoever asks may wait for the answer
	enc.SetEscapeHTML(false)
	for {
		line, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := enc.Encode(judgeLine(s, o, line)); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func judgeLine(s *guard.Scope, o checkOptions, line []byte) batchAnswer {
	var c batchCall
	if err := json.Unmarshal(line, &c); err != nil {
		return batchAnswer{json.RawMessage("null"), guard.Deny, "the line is not a JSON object with a call: " + err.Error()}
	}
	ans := batchAnswer{ID: c.ID, Decision: guard.Deny}
	if ans.ID == nil {
		ans.ID = json.RawMessage("null")
	}
	if c.Command == nil {
		ans.Reason = "the line has no command"
		return ans
	}
	if c.Tool == "" {
		c.Tool = o.tool
	}
	if c.Cwd == "" {
		c.Cwd = o.cwd
	}
	d := guard.Decide(s, hook.Typed(c.Tool, *c.Command, c.Cwd))
	ans.Decision, ans.Reason = d.Verdict, d.Reason
	return ans
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
