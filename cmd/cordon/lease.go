package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"cordon/internal/view"
	"cordon/internal/warrant"
)

func (a *app) leaseCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "lease",
		Short: "Show the lease of a worker",
		Long: `A lease binds a policy to one worker, one worktree, one branch, one base commit
and an expiry. Its terms hold everywhere; its place names paths of this machine. Both
are sealed before anything runs and never change.`,
		Example: `  cordon lease show brave-otter
  cordon lease warrant brave-otter > warrant.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(a.leaseShowCommand(), a.leaseWarrantCommand(), a.leaseHooksCommand(), a.leaseSettingsCommand())
	return c
}

func (a *app) leaseShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "show ID",
		Short:             "Print a sealed lease and its hash, as JSON",
		Example:           `  cordon lease show brave-otter | jq .lease.terms.policy.filesystem`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.object(&view.LeaseShow{Lease: w.Lease.Bytes(), Hash: w.Lease.Hash()})
		},
	}
}

func (a *app) leaseWarrantCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "warrant ID",
		Short: "Print the warrant that cordon hook needs to judge a worker's calls",
		Long: `Print the warrant of a worker: its sealed lease, the locations of the operator's
repository and of cordon's state, and the file for decisions. Give it to cordon hook
--lease, and keep it where the worker cannot write.`,
		Example: `  cordon lease warrant brave-otter > warrant.json
  cordon hook --client ` + exampleClient + ` --lease warrant.json < call.json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			ward, err := warrant.Warrant(s.Site, w)
			if err != nil {
				return err
			}
			enc := json.NewEncoder(a.out)
			enc.SetEscapeHTML(false)
			return enc.Encode(ward)
		},
	}
}
