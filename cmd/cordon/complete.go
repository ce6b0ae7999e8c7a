package main

import (
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/agent/clients"
	"cordon/internal/ledger"
)

// completion offers words for what is typed so far.
type completion = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective)

// workerNames offers the workers that are still there.
func (a *app) workerNames(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return a.workersThat(cmd, args, prefix, func(*ledger.Worker) bool { return true })
}

// liveNames offers the workers that run.
func (a *app) liveNames(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return a.workersThat(cmd, args, prefix, func(w *ledger.Worker) bool { return w.Start != nil && w.Exit == nil })
}

// quarantinedNames offers the workers that were quarantined.
func (a *app) quarantinedNames(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return a.workersThat(cmd, args, prefix, func(w *ledger.Worker) bool { return w.Quarantine != nil })
}

func (a *app) workersThat(cmd *cobra.Command, args []string, prefix string, wanted func(*ledger.Worker) bool) ([]string, cobra.ShellCompDirective) {
	s, err := a.open(cmd.Context())
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	l, err := s.Ledger()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, w := range l.Workers {
		if w.Removal == nil && w.Discard == nil && strings.HasPrefix(string(w.ID), prefix) && wanted(w) {
			names = append(names, string(w.ID))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// clientNames offers the clients as the first argument.
func clientNames(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	var names []string
	for _, n := range clients.Names() {
		names = append(names, string(n))
	}
	return names, cobra.ShellCompDirectiveDefault
}

// flagValues are the flags with a few possible values, under the same name in every
// command.
var flagValues = map[string]completion{
	"tree": cobra.FixedCompletions([]string{"auto", "overlay", "copy"}, cobra.ShellCompDirectiveNoFileComp),
	"mode": cobra.FixedCompletions([]string{"enforce", "warn", "strict"}, cobra.ShellCompDirectiveNoFileComp),
	"client": func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return clientNames(c, nil, prefix)
	},
}

// completeFlags registers them.
func completeFlags(c *cobra.Command) {
	for name, values := range flagValues {
		if c.Flags().Lookup(name) != nil {
			_ = c.RegisterFlagCompletionFunc(name, values) // it is registered once
		}
	}
}
