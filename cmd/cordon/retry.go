package main

import (
	"github.com/spf13/cobra"

	"cordon/internal/ledger"
	"cordon/internal/seen"
)

func (a *app) retryCommand() *cobra.Command {
	var saw string
	c := &cobra.Command{
		Use:   "retry ID",
		Short: "Run the acceptance commands of a quarantined result again",
		Long: `Run the acceptance commands of a quarantined result again, and nothing else: the stored
result is merged with its target as it is now and tested, and lands if it passes. It is for a result whose only
fault is failed acceptance, for example because of a flaky test. A violation is never
waived. A result that passes on a retry is marked as such. gate.retries in the policy
makes cordon retry by itself.`,
		Example:           "  cordon retry brisk-otter",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.quarantinedNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := a.saw(cmd.Context(), s, w, saw, seen.ForLanding, ""); err != nil {
				return err
			}
			after, err := s.Retry(cmd.Context(), w, operator(), a.drive(ledger.Options{}))
			return a.outcome(cmd.Context(), a.out, s, w, after, err)
		},
	}
	seenFlag(c, &saw)
	return c
}
