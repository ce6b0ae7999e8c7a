package main

import (
	"errors"

	"github.com/spf13/cobra"

	"cordon/internal/hook"
	"cordon/internal/hookrun"
)

// hookCommand is for the help. A client that comes here has called the hook in
// another way than it is called, with a flag before it or with nothing behind it;
// what it is told must be a denial too, so that no flag is read.
func (a *app) hookCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "hook --client NAME --lease FILE",
		Short: "Answer an agent client's question whether a tool call may run",
		Long: `Read a client's hook input on stdin, judge the tool call against a lease, and answer in
the client's dialect. Clients call it before each tool call; people do not. FILE is a
warrant that cordon lease warrant wrote. Keep it where the worker cannot write.

Every failure is a denial: bad input, an unknown client, a missing or expired lease, a
deadline, a crash, a closed stdout. If the warrant names a journal, each decision is
appended to it; a decision that cannot be recorded is a denial too.

With --interactive, clients that can ask their user do so when the guard says "ask".
Otherwise "ask" is a refusal.`,
		Example: `  cordon lease warrant brave-otter > warrant.json
  cordon hook --client ` + exampleClient + ` --lease warrant.json < call.json`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if hookrun.WantsHelp(args) {
				return cmd.Help()
			}
			return a.hookMiscalled()
		},
	}
	var o hookrun.Options
	c.Flags().StringVar(&o.Client, "client", "", "the `NAME` of the client that asks: "+clientList())
	c.Flags().StringVar(&o.Lease, "lease", "", "the `FILE` with the warrant of the worker's lease")
	c.Flags().BoolVar(&o.Interactive, "interactive", false, "a person is present and can be asked")
	return c
}

// hookMiscalled denies.
func (a *app) hookMiscalled() error {
	hookrun.SurviveSilence()
	r := hook.Refuse(hook.Question{}, errors.New("the hook is called as cordon hook --client NAME --lease FILE, with nothing before it"))
	return codeError(hookrun.Say(r.Answer, a.out, a.err))
}
