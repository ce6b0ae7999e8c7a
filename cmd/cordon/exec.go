package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"cordon/internal/cell"
	"cordon/internal/cellnet"
	"cordon/internal/config"
	"cordon/internal/confine"
	"cordon/internal/enclosure"
	"cordon/internal/fault"
	"cordon/internal/foreground"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/terminal"
	"cordon/internal/worksite"
)

type execOptions struct {
	policy string
	write  []string
	ports  []int
	live   bool
	place  string
	drop   string
	dry    bool
	loud   bool
	argv   []string
}

func (a *app) execCommand() *cobra.Command {
	o := &execOptions{}
	c := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARG...]",
		Short: "Run a command confined to the current worktree or directory",
		Long: `Run COMMAND in a cell. It can write only the worktree around the current directory (or
the directory itself, outside a repository), a private copy of your home and a private
/tmp. It sees no secrets and no other processes, and reaches only what the policy's
network section names. There is no lease and no gate. In a repository, its commits go to
a private repository; yours does not change.

COMMAND sees your directory as it is, and what it writes there goes into a private layer.
When it has ended by itself, cordon places that into the directory: not over what you
changed meanwhile, and nothing that your git, shell or editor would run or obey. What is
not placed is kept aside and named. When it is killed, the layer stays, and cordon says
how to place or drop it.

With --live it writes the directory itself, and at once: for watchers, on either side.
Nothing is looked at then, so cordon refuses --live where your git, its hooks or your
PATH lead into the directory.

The command reads its standard input through its own pipe and takes from yours only
what it reads: the rest of a script or list that you feed to a shell stays there. (From
a device it may take up to a page more.)

The policy is the file that --policy names, or the built-in default, which opens no
network. It is never read from the worktree, and your rights bound it. Secrets stay
hidden, including the logins of agent clients: to give a client its own login, start it
with cordon run.`,
		Example: `  cordon exec -- npm test
  cordon exec --write build -- make
  cordon exec --policy ~/npm.yaml -- npm ci   (allowed_domains: ["@npm"])
  cordon exec --live --publish 3000 -- npm run dev   (prints its address)
  cordon exec -- bash`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.place+o.drop != "" {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.place+o.drop != "" {
				return a.settleExecution(o)
			}
			o.argv = args
			return a.exec(cmd.Context(), o)
		},
	}
	f := c.Flags()
	f.SetInterspersed(false)
	f.StringVar(&o.policy, "policy", "", "read the policy from `FILE`")
	f.StringArrayVar(&o.write, "write", nil, "let it write only `DIR` (repeatable; replaces write_roots)")
	f.IntSliceVar(&o.ports, "publish", nil, "publish `PORT` of the command, also as network.publish does; the address is printed (repeatable)")
	f.BoolVar(&o.live, "live", false, "let it write the directory itself, and at once")
	f.StringVar(&o.place, "place", "", "place what an earlier command wrote, by the `NAME` that cordon told you")
	f.StringVar(&o.drop, "drop", "", "drop what an earlier command wrote, by its `NAME`")
	c.MarkFlagsMutuallyExclusive("place", "drop")
	f.BoolVarP(&o.loud, "verbose", "v", false, "report the proven layers and the network use")
	f.BoolVar(&o.dry, "dry-run", false, "print the plan of the cell and run nothing")
	return c
}

func (a *app) exec(ctx context.Context, o *execOptions) error {
	x, err := a.execution(o)
	if err != nil {
		return err
	}
	if o.dry {
		c, notice, err := confine.Exec(ctx, x)
		if err != nil {
			return err
		}
		defer notice(cell.Exit{}) // it leaves nothing behind
		return a.dry(c)
	}
	if hint := foreground.ClientHint(o.argv); hint != "" {
		a.say("cordon: %s", hint)
	}
	var here cell.Command
	foreground.Attach(&here)
	c, notice, err := foreground.Prepare(ctx, x, &here)
	defer here.Seat.Drop()
	if err != nil {
		return err
	}
	c.Stdin, c.Stdout, c.Stderr, c.Terminal, c.Seat = here.Stdin, here.Stdout, here.Stderr, here.Terminal, here.Seat
	var layers []cell.Layer
	if o.live && c.Cell != nil {
		a.say("cordon: --live: cordon does not check what the command writes, and the command can read a file that deny_read hides once you replace it")
	}
	if c.Cell == nil {
		a.say("cordon: %s", ledger.Cell{})
	} else {
		started := c.Started
		c.Started = func(l cell.Launch) error { layers = l.Layers; a.sayLaunch(l, x.Policy, o.loud); return started(l) }
	}
	// No signal that is forwarded may end us before notice has placed what the command
	// wrote. SIGTERM and SIGHUP are caught everywhere. Ctrl-c is forwarded while the command runs; if one
	// was typed before, another one afterwards ends us, and --place places the rest.
	swept := make(chan os.Signal, 1)
	signal.Notify(swept, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(swept)
	exit, err := foreground.Run(ctx, c)
	// Scripts take a command's failure for an answer, and its words for all there are.
	if hint := cellnet.Unreached(x.Policy, layers, exit); hint != "" && (o.loud || terminal.Is(a.err)) {
		a.say("cordon: %s", hint)
	}
	if !exit.OK() {
		a.sayNotice(strings.Join(enclosure.ExplainRefused(x.Policy, exit), "\n"))
	}
	a.sayNotice(notice(exit))
	if confine.Unusable(err) {
		a.say("cordon: the private repository of this checkout cannot be used any more and goes to the trash; try again")
		err = errors.Join(err, confine.Reset(ctx, a.dir))
	}
	return a.execOutcome(x.Policy.Limits, exit, err)
}

// settleExecution places or drops what an earlier command wrote.
func (a *app) settleExecution(o *execOptions) error {
	text, err := confine.Settle(cmp.Or(o.place, o.drop), o.place != "")
	a.sayNotice(text)
	return err
}

// sayNotice says what a command left, a line each.
func (a *app) sayNotice(text string) {
	for line := range strings.Lines(text) {
		a.say("cordon: %s", strings.TrimSpace(line))
	}
}

// execution is what was asked for.
func (a *app) execution(o *execOptions) (confine.Execution, error) {
	x := confine.Execution{Dir: a.dir, Policy: policy.Default(), Source: o.policy, Live: o.live, Argv: o.argv, Loud: o.loud}
	if worker := os.Getenv(cell.Mark); worker != "" {
		return x, &fault.RefusedError{Err: fmt.Errorf("this runs inside worker %s: a cell is not started in a cell", worker)}
	}
	var err error
	if o.policy != "" {
		if x.Policy, err = worksite.ReadPolicy(o.policy, func(string) error { return nil }); err != nil {
			return x, err
		}
	}
	if len(o.ports) > 0 {
		if x.Policy, err = x.Policy.WithPublished(o.ports); err != nil {
			return x, &fault.MistakeError{Err: err}
		}
	}
	if err := a.withinRights(&x.Policy); err != nil {
		return x, err
	}
	x.Published = func(port int, address string) { a.say("cordon: port %d: %s", port, address) }
	x.Write, err = confine.FromHere(o.write)
	return x, err
}

// withinRights narrows a policy to the operator's rights and those of the machine.
func (a *app) withinRights(p *policy.Policy) error {
	own, err := config.Load()
	if err != nil {
		return err
	}
	if p.Limits, err = worksite.LimitsAt(p.Limits, a.dir); err != nil {
		return err
	}
	narrowed, lost := p.Within(own.Bound)
	if len(lost) > 0 {
		a.say("cordon: %s the policy: %s", own.Narrows(), strings.Join(lost, "; "))
	}
	*p = narrowed
	return nil
}

// dry prints the plan of a cell.
func (a *app) dry(c cell.Command) error {
	if c.Cell == nil {
		a.print("{}")
		a.say("cordon: %s", ledger.Cell{})
		return nil
	}
	spec, err := cell.Dry(c)
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.out, spec.String())
	return err
}

// sayLaunch names what is missing, and on demand what is there.
func (a *app) sayLaunch(l cell.Launch, p policy.Policy, loud bool) {
	if loud {
		a.say("cordon: %s; memory limit: %s", ledger.Cell{Layers: l.Layers, Landlock: l.Landlock, Proven: l.Proven}, l.Memory)
		for _, line := range cellnet.Reachable(p, l.Layers) {
			a.say("cordon: network: %s", line)
		}
		if p.Cell.Trace {
			a.say("cordon: processes of the cell may trace each other (cell.trace)")
		}
	}
	for _, m := range l.Missing {
		a.say("cordon: %s", m)
	}
}

// execOutcome passes the command's status on.
func (a *app) execOutcome(limits policy.Limits, exit cell.Exit, err error) error {
	if err != nil {
		var missing *cell.MissingError
		if errors.As(err, &missing) {
			if missing.Layer == cell.CopyView || missing.Layer == cell.Namespaces && missing.Means == "" {
				err = fmt.Errorf("%w\nor let it write the directory itself: cordon exec --live", err)
			}
			return &fault.RefusedError{Err: err}
		}
		a.say("cordon: %v", err)
		return codeError(exit.Code)
	}
	if exit.Reason != cell.Exited && exit.Reason != cell.Interrupted {
		a.say("cordon: the command %s", enclosure.DescribeExit(limits, exit))
	}
	return codeError(exit.Code) // also when it is 0: a signal that it handled is not our end
}
