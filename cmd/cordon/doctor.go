package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/doctor"
	"cordon/internal/legible"
	"cordon/internal/terminal"
)

func (a *app) doctorCommand() *cobra.Command {
	var probe, calls bool
	var o probeOptions
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether cordon works on this machine and in this repository",
		Long: `Check git, cordon's state directory, the current repository, the kernel and the agent
clients on PATH, one line each:

  ok     as it should be
  warn   cordon works, but you should know something
  fail   cordon cannot run, or would refuse to, in this state
  info   for information only

doctor starts a real, empty cell and proves its layers. For a missing layer it names
what would provide it. It asks agent clients for their version, without your secrets
in their environment, and looks up in the journal of this repository when the hooks of
each client last reported.

The last lines say whether cordon works here and what to type next.

With --probe, doctor runs cordon-probe, which is installed next to cordon and tries to
escape. It makes only attempts that are harmless on a machine in use: each first without
cordon, where it must succeed, and then with cordon. An attempt that is impossible on
this machine counts as not tested, with the reason. The verdict comes first, then the
attempts that need your attention, or with --all every attempt. The exit code is 1 if a
check fails, if an attempt escapes, or if one dies before its attack, because that
shows nothing.`,
		Example: "  cordon doctor\n  cordon doctor --probe\n  cordon doctor --json | jq '.checks[] | select(.status != \"ok\")'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !probe && o != (probeOptions{}) {
				return usageError{errors.New("--all and --only are about --probe")}
			}
			if calls {
				return a.page().RefusedCalls()
			}
			if probe {
				return a.probe(cmd.Context(), o)
			}
			return a.doctor(cmd.Context())
		},
	}
	c.Flags().BoolVar(&calls, "calls", false, "list the system calls that a cell refuses, with reasons")
	c.Flags().BoolVar(&probe, "probe", false, "try to escape from a cell, and report the result")
	c.Flags().BoolVar(&o.all, "all", false, "with --probe: list every attempt, not only those that need attention")
	c.Flags().StringVar(&o.only, "only", "", "with --probe: make only the attempts whose name matches `PATTERN`")
	return c
}

func (a *app) doctor(ctx context.Context) error {
	shown, failed, err := doctor.Examine(ctx, a.dir)
	if err != nil {
		return err
	}
	var code error
	if failed {
		code = codeError(exitFailed)
	}
	if a.json {
		return cmp.Or(a.object(&shown), code)
	}
	rows := [][]string{}
	for _, c := range shown.Checks {
		rows = append(rows, []string{c.Status, c.Name, doctor.Line(c)})
	}
	terminal.WrappedTable(a.out, rows)
	a.print("")
	for _, line := range append([]string{shown.Verdict}, shown.Next...) {
		a.print("%s", strings.Join(legible.Wrap(line, terminal.Width(a.out)), "\n"))
	}
	return code
}

// probeOptions are the flags of doctor --probe.
type probeOptions struct {
	all  bool   // list every attempt
	only string // a pattern of names; "": all
}

// probe lets cordon-probe try to escape from this cordon's cells.
func (a *app) probe(ctx context.Context, o probeOptions) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"--cordon", self, "--only", o.only}
	if o.all {
		args = append(args, "--all")
	}
	if a.json {
		args = append(args, "--json")
	}
	code, err := doctor.RunProbe(ctx, self, args, a.in, a.out, a.err)
	if code > 0 {
		return codeError(code)
	}
	return err
}
