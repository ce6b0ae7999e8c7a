package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/agent"
	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/command/fleets"
	"cordon/internal/config"
	"cordon/internal/dispatch"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/keep"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
	"cordon/internal/present"
	"cordon/internal/seen"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/workspace"
)

type runOptions struct {
	dispatch.Request
	policy string
	tree   string
	hooks  string
	mcp    string
	detach bool
	words  messageFlags
	fleet  fleets.Flags
}

// take reads what to run. A word before any -- names a client.
func (o *runOptions) take(args []string, named bool, in *os.File) error {
	if !named {
		if o.hooks != "" || o.mcp != "" {
			return usage("--hooks and --mcp are for an agent client, named before --")
		}
		o.Command = args
		return nil
	}
	own, err := config.Load()
	if err != nil {
		return err
	}
	args = own.WithClient(args)
	if !clients.Known(args[0]) {
		return usage("%s", clients.Unknown(args))
	}
	asked := &ledger.Agent{Client: args[0], Args: args[1:]}
	if i := slices.Index(args, "--"); i >= 0 {
		asked.Args, asked.Prompt = args[1:i], strings.Join(args[i+1:], " ")
	}
	o.Agent = asked
	switch {
	case o.Options.Interactive:
	case strings.TrimSpace(asked.Prompt) != "":
	case terminal.Is(in):
		o.Options.Interactive = true
	default:
		return usage("%s has nothing to do: cordon run %s -- \"what to do\"", args[0], args[0])
	}
	if err := takeFile("--hooks", o.hooks, &asked.Hooks, client.ParseHooks); err != nil {
		return err
	}
	return takeFile("--mcp", o.mcp, &asked.Servers, agent.ParseServers)
}

// takeFile reads a file of the operator's for a client, if one is named. What parse
// does not understand is refused before anything is leased.
func takeFile[T any](flag, file string, to *json.RawMessage, parse func([]byte) (T, error)) error {
	if file == "" {
		return nil
	}
	text, err := readNamed(file)
	if err == nil {
		_, err = parse(text)
	}
	if err != nil {
		return usage("%s: %v", flag, err)
	}
	*to = text
	return nil
}

// readNamed reads a file that the operator named. It waits for a pipe only where the shell
// makes one, as in <(command): in a tree a worker may have.
func readNamed(file string) ([]byte, error) {
	if strings.HasPrefix(file, "/dev/") {
		return os.ReadFile(file)
	}
	return plainfile.ReadLinked(file, plainfile.Text)
}

func (a *app) runCommand() *cobra.Command {
	o := &runOptions{}
	c := &cobra.Command{
		Use:   "run [flags] CLIENT [ARG...] -- PROMPT | run [flags] -- COMMAND [ARG...]",
		Short: "Start a worker and take its result through the gate",
		Long: `Make a lease, create a private worktree and repository, run an agent client or a COMMAND
there, audit the result against the lease, and merge it or quarantine it.

CLIENT is ` + clientList() + `. Its hooks ask cordon before each
tool call, it gets a briefing with the rules of its lease, and it runs without
permission prompts, because the cell is the boundary. Without PROMPT it is interactive.
If your configuration names a default client, a PROMPT alone is enough.
A client that is named after -- is an ordinary command, without hooks.

--mcp names MCP servers for the client: {"mcpServers": {"NAME": {"command": "…",
"args": […], "env": {…}}}}, or "url" and "headers" instead. They run in the cell, with
the files and the network of the lease, and the guard judges their tools. The content
of the file is kept with the worker, keys included, and a client that reads no file
for them gets it on its command line.

The policy is cordon.yaml at the top of the base commit, or the file that --policy
names, or the default that "cordon policy show" prints. It is never read from the
worker's tree. A cordon.yaml in your checkout that is not committed is refused: commit it,
or use it with --policy cordon.yaml.

What the repository's policy opens needs your consent, once for each repository and
value: a weaker isolation, domains, ports of this machine, hidden files, secrets. On a
terminal cordon asks; otherwise it refuses with the line to type (cordon config share).
A policy that you name with --policy needs none, except for secrets.

A clean result lands by itself where the policy has acceptance commands, and they pass,
unless it changes tests, CI or build files (gate.land: auto lands those too). Otherwise,
and after every interactive run, the run ends with the status review: look at the result
with cordon diff, and land it with cordon merge. --merge, --review and --no-merge decide
for one run.

The standard output of the worker is that of cordon run, so that another program can
read it; of a client it is the readable form of its stream. The worker's standard error
and everything that cordon says go to standard error. With --json, standard output has
the one object and the worker's output goes to standard error too; with -d it has the
name of the worker, and cordon logs shows the output.`,
		Example: `  cordon run ` + exampleClient + ` -- "add a test for the parser"
  cordon run --write src ` + exampleClient + ` --model opus -- "fix the build"
  cordon run -i ` + exampleClient + `
  cordon run -- ./agent.sh "add a test for the parser"
  cordon run --write src --write docs -- ./agent.sh
  cordon run --merge --write docs -- ./agent.sh "fix the typos"
  cordon run --no-merge --base v1.2 -- make port
  cordon run --no-merge -- go test -json ./... | tee results.json
  cordon run --adopt ../repo-wt -- aider
  cordon run --on build-1 ` + exampleClient + ` -- "add a test for the parser"`,
		ValidArgsFunction: clientNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(a.inBackground(), o.fleet.Apply(&o.Request, args)); err != nil {
				return err
			}
			if o.fleet.Assigned() {
				return a.run(cmd.Context(), o)
			}
			if m := o.Options; m.Merge && m.NoMerge || m.Review && (m.Merge || m.NoMerge) {
				return usage("use only one of --merge, --no-merge and --review")
			}
			if err := o.take(args, cmd.ArgsLenAtDash() < 0, a.in); err != nil {
				return err
			}
			if m := &o.Options; m.Interactive && !m.Merge && !m.NoMerge {
				m.Review = true // whoever leaves a terminal has not said that the work is done
			}
			return a.run(cmd.Context(), o)
		},
	}
	f := c.Flags()
	f.SetInterspersed(false)
	f.StringVar(&o.policy, "policy", "", "read the policy from `FILE` instead of the base commit")
	f.StringArrayVar(&o.Write, "write", nil, "let it write only `ROOT` (repeatable; replaces write_roots)")
	f.StringArrayVar(&o.MaxWrite, "max-write", nil, "of the write_roots, allow only what lies in `ROOT` (repeatable)")
	f.StringVar(&o.Base, "base", "", "start from `REV` instead of the target's tip")
	f.StringVar(&o.Target, "target", "", "merge into `BRANCH` instead of your current branch; a new one is created when the result lands")
	f.StringVar(&o.Adopt, "adopt", "", "work in `DIR`, an existing worktree that another tool created")
	f.StringVar(&o.tree, "tree", os.Getenv("CORDON_TREE"), "`KIND` of worktree: auto, overlay (copied on write) or copy; default $CORDON_TREE")
	f.StringVar(&o.hooks, "hooks", "", "give the client the hooks in `FILE` as well as cordon's (in the form of Claude's settings)")
	f.StringVar(&o.mcp, "mcp", "", "give the client the MCP servers of `FILE` (kept with the worker)")
	f.BoolVar(&o.Exclusive, "exclusive", false, "refuse if the write_roots overlap with those of a live worker")
	f.BoolVar(&o.Options.NoMerge, "no-merge", false, "stop after the audit, with the status finished; cordon merge continues later")
	f.BoolVar(&o.Options.Review, "review", false, "end a clean result with the status review, although gate.land is auto")
	f.BoolVar(&o.Options.Merge, "merge", false, "land the result if it passes, although gate.land is review")
	o.words.on(f)
	o.fleet.Add(f)
	f.StringVar(&o.Options.LandAs, "land-as", "", landAsHelp)
	f.BoolVar(&o.Options.KeepHistory, "keep-history", false, "the same as --land-as history")
	f.BoolVar(&o.Options.OperatorWorks, "operator-active", false,
		"without a strict cell: you work in the repository meanwhile, so report changes that cannot be attributed, but do not quarantine for them")
	f.BoolVarP(&o.Options.Interactive, "interactive", "i", false, "hand the terminal over to the worker")
	f.BoolVarP(&o.detach, "detach", "d", false, "run it in the background; with -i, cordon attach joins its terminal")
	return c
}

func (a *app) run(ctx context.Context, o *runOptions) error {
	var err error
	if o.Options.Message, err = o.words.read(a.typed(), o.detach); err != nil {
		return err
	}
	if _, err := landForm(o.Options.LandAs, o.Options.KeepHistory); err != nil {
		return err
	}
	if o.detach && a.background == nil {
		return a.detach(ctx, o.Options.Interactive)
	}
	if o.Options.Interactive && o.Options.On != "" && a.background == nil {
		return usage("an interactive worker on a node runs in the background: cordon run -d -i --on NODE, and cordon attach joins its terminal")
	}
	if o.Options.Interactive && !terminal.Is(a.in) {
		return usage("--interactive needs a terminal")
	}
	kind, err := workspace.ParseTreeKind(o.tree)
	if err != nil {
		return usage("--tree: %v", err)
	}
	o.Tree = kind
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	if o.policy != "" {
		p, source, err := s.PolicyFile(o.policy)
		if err != nil {
			return err
		}
		o.Policy, o.Source, o.Named = &p, source, true
	}
	var w *ledger.Worker
	if err := a.withConsent(s, func() (err error) { w, err = dispatch.Lease(ctx, s.Site, o.Request); return err }); err != nil {
		return err
	}
	if err := a.leased(s, w); err != nil {
		return err
	}
	if err := a.announce(ctx, s, w); err != nil {
		return err
	}
	before, how := w, a.drive(o.Options)
	if o.fleet.Trial() {
		w, err = s.TryBase(ctx, w.ID, how.Output)
		return a.outcome(ctx, a.err, s, before, w, err)
	}
	how.Waits.AsLeased = true
	w, err = s.Continue(ctx, w.ID, how)
	if blocked := (*git.BlockedError)(nil); errors.As(err, &blocked) && w != nil && w.Start == nil {
		// It cannot start before somebody removes the file: it does not wait for that.
		err = errors.Join(err, keep.Discard(ctx, s.Site, w, ledger.Discard{Who: operator(), Why: "it never ran: " + blocked.Error()}))
	}
	return a.outcome(ctx, a.err, s, before, w, err)
}

// drive is how a worker of this terminal's is run.
func (a *app) drive(o ledger.Options) session.Drive {
	d := session.Drive{Output: terminal.ForScreen(a.err)}
	if a.background == nil && !a.json && !terminal.Same(a.out, a.err) {
		d.Stdout = terminal.ForScreen(a.out)
	}
	if a.background == nil && !a.json && terminal.Is(a.err) {
		d.Screen = a.err
	}
	if o.Interactive {
		d.Terminal = a.in
		if a.background != nil {
			d.Outer = a.background.Outer
		}
	}
	return d
}

// announce says what a worker was given.
func (a *app) announce(ctx context.Context, s *session.Session, w *ledger.Worker) error {
	l := w.Lease.Lease()
	roots := strings.Join(w.Lease.Rules().Roots(), ", ")
	if roots == "" {
		roots = "nothing"
	}
	target := present.Branch(l.Target)
	if w.Options.NewTarget {
		target = "new branch " + target
	}
	s.Voice.Step(w.ID, "leased", fmt.Sprintf("base %s, for %s, may write %s (policy: %s)", l.Base.Short(), target, roots, l.Source))
	if len(w.Overlap) > 0 {
		s.Voice.Step(w.ID, "overlap", "may write what "+strings.Join(w.Overlap, ", ")+" may write too: a conflict is possible")
	}
	warning, err := workspace.Revealed(ctx, s.Site, l.Policy, l.Base)
	if warning != "" {
		s.Voice.Step(w.ID, "warning", warning)
	}
	return err
}

// outcome says what became of a worker, what to type next, and what it tried to
// reach meanwhile. The status goes to a.err where the worker may have printed to a.out.
func (a *app) outcome(ctx context.Context, to io.Writer, s *session.Session, before, w *ledger.Worker, err error) error {
	defer a.sayReached(s, before, w)
	late := errors.Is(err, session.ErrStillInTheWay)
	if err != nil && !late {
		a.sayUnreached(before, w, err)
		switch canceled := w != nil && errors.Is(err, context.Canceled); {
		case canceled && w.Gate != nil && w.Gate.Outcome == gate.Waiting:
			a.say("%s waits as before; cordon merge %s lands it when nothing is in the way", w.ID, w.ID)
		case canceled:
			a.say("%s is kept; cordon resume %s continues, cordon show %s tells more", w.ID, w.ID, w.ID)
		}
		return err
	}
	standings, err := s.Standings(ctx, []*ledger.Worker{w})
	if err != nil {
		return err
	}
	status := standings[w.ID].Status
	code := codeFor(status)
	if late {
		a.say("cordon: %v", session.ErrStillInTheWay)
		code = codeError(exitTimeout)
	}
	if a.json {
		return cmp.Or(a.object(&view.OneWorker{Worker: present.WorkerView(s, w, standings[w.ID])}), code)
	}
	printStatus(to, w, status)
	for _, line := range present.Advice(w, status) {
		a.say("  %s", line)
	}
	if status == ledger.Failed {
		a.sayUnreached(before, w, nil)
	}
	return code
}

func (a *app) resumeCommand() *cobra.Command {
	var interactive, comments bool
	var words, saw string
	c := &cobra.Command{
		Use:   "resume ID [-- COMMAND [ARG...] | -- PROMPT]",
		Short: "Continue a worker that stopped or asked a question",
		Long: `Continue a worker that a crash, a signal, a limit or a question stopped. A command that
did not succeed runs again in the same tree; with COMMAND, that command runs instead. An
agent client continues its conversation and gets your answers and PROMPT. Then audit and
gate follow, as in run.

After failed acceptance, a violation or a conflict, or when you send back a result that
is in review or waits, the worker makes another attempt with the same rights: in a fresh
repository with the part of its work that was inside its lease. (A worktree that was
adopted stays as it is.) It is told what was wrong, with the end of the failing output; a
command finds that in the file that CORDON_FEEDBACK names. The evidence of the earlier
attempt is kept, and gate.attempts in the policy bounds the attempts.

--say gives your words to either kind of worker: an agent gets them as PROMPT, a command
runs again and finds them in the same file. --comments adds the comments on lines that
you collected with cordon comments or at a desk.`,
		Example: "  cordon resume brisk-otter\n  cordon resume brisk -- \"take the second way\"\n  cordon resume calm-yak --say \"also cover tabs\"\n" +
			"  cordon resume calm-yak -- make port",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := a.saw(cmd.Context(), s, w, saw, seen.ForResult, ""); err != nil {
				return err
			}
			if w.Agent != nil && w.Options.Interactive && len(args) == 1 && terminal.Is(a.in) {
				interactive = true // as it was started
			}
			how := a.drive(ledger.Options{Interactive: interactive})
			if how.Command = args[1:]; w.Agent != nil {
				how.Command, how.Prompt = nil, strings.Join(args[1:], " ")
			}
			if words != "" {
				how.Prompt = strings.TrimSpace(how.Prompt + "\n" + words)
			}
			if comments {
				if err := a.withComments(cmd.Context(), s, w, &how); err != nil {
					return err
				}
			}
			how.Who, how.Chose, how.Waits.AsLeased = operator(), ledger.ChoseResume, true
			after, err := s.Resume(cmd.Context(), w, how)
			return a.outcome(cmd.Context(), a.err, s, w, after, err)
		},
	}
	c.Flags().BoolVarP(&interactive, "interactive", "i", false, "hand the terminal over to the worker")
	seenFlag(c, &saw)
	c.Flags().BoolVar(&comments, "comments", false, "tell the worker the comments that you collected (cordon comments)")
	c.Flags().StringVar(&words, "say", "", "tell the worker `TEXT`: your comments on its result, or how to go on")
	c.Flags().BoolVar(&a.active, "operator-active", false, "treat changes to your repository since the interruption as your own")
	return c
}

func (a *app) mergeCommand() *cobra.Command {
	var history, edit, inside bool
	var waits session.Waits
	var as, saw string
	var words messageFlags
	c := &cobra.Command{
		Use:   "merge ID",
		Short: "Audit a worker's tree and take it through the gate",
		Long: `Audit the current tree of a worker and take it through the gate. Use it for workers
that wait for your review, that ran with --no-merge, that failed, that had a conflict, or
whose checkout was in the way.
Every check runs again.

The message of the commit comes from the agent: its report (cordon done), else its own
commits, else the first line of the prompt. -m and -F replace it; -e opens your editor.

--inside lands only the changes inside the lease, also of a quarantined result: the rest
stays in the evidence. The reduced tree is judged and tested like any other.

--when-clean waits if your uncommitted changes are in the way, and lands the result when
you have committed, stashed or reverted them. Any other obstacle ends the command at once.
Ctrl-C ends the waiting and changes nothing. gate.wait in the policy lets each run wait so.`,
		Example: "  cordon merge brisk-otter\n  cordon merge -e brisk\n  cordon merge -m 'parser: tabs' brisk\n" +
			"  cordon merge --inside brisk\n  cordon merge --when-clean brisk",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if waits.Within < 0 || waits.Within > 0 && !waits.Always {
				return usage("--timeout is a length of time such as 10m, and belongs to --when-clean")
			}
			s, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := a.saw(cmd.Context(), s, w, saw, seen.ForLanding, ""); err != nil {
				return err
			}
			how := a.drive(ledger.Options{})
			if how.As, err = landForm(as, history); err != nil {
				return err
			}
			if how.Message, err = words.read(a.typed(), false); err != nil {
				return err
			}
			if edit && !terminal.Is(a.in) {
				return usage("--edit needs a terminal: name the message with -m or -F")
			}
			if edit {
				how.Editor = a.in
			}
			how.Inside, how.Who, how.Chose, how.Waits = inside, operator(), ledger.ChoseMerge, waits
			after, err := s.Merge(cmd.Context(), w, how)
			return a.outcome(cmd.Context(), a.out, s, w, after, err)
		},
	}
	c.Flags().BoolVar(&a.active, "operator-active", false, "treat changes to your repository since the run as your own")
	seenFlag(c, &saw)
	words.on(c.Flags())
	c.Flags().BoolVarP(&edit, "edit", "e", false, "edit the message of the commit in your editor, as git chooses it")
	c.Flags().StringVar(&as, "land-as", "", landAsHelp)
	c.Flags().BoolVar(&history, "keep-history", false, "the same as --land-as history")
	c.Flags().BoolVar(&inside, "inside", false, "land only the changes inside the lease and leave the rest behind")
	c.Flags().BoolVar(&waits.Always, "when-clean", false, "wait until your uncommitted changes are out of the way, then land it")
	c.Flags().DurationVar(&waits.Within, "timeout", 0, "wait at most this `DURATION`, such as 10m, then exit with code 124")
	return c
}
