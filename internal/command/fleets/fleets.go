// Package fleets holds the command cordon fleet. It hands over to the program cordon-fleet,
// which has the engine of a fleet, so that no start of cordon pays for it. It refuses to know
// anything else about fleets.
package fleets

import (
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"cordon/internal/companion"
	"cordon/internal/gitfile"
	"cordon/internal/state"
)

// Console is what the command shares with the program that it is part of.
type Console struct {
	Refuse func() error // refuses what only the operator may do
}

// New is cordon fleet.
func New(a *Console) *cobra.Command {
	return &cobra.Command{
		Use:   "fleet [COMMAND]",
		Short: "Run stages on other machines (cordon-fleet)",
		Long: `Hand over to cordon-fleet, a program of its own: it is found beside cordon, then on PATH, as
git finds its subcommands. cordon fleet --help shows its commands.`,
		Example:            "  cordon fleet --help\n  cordon fleet version",
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.Refuse(); err != nil {
				return err
			}
			self, err := os.Executable()
			if err != nil {
				return err
			}
			at, err := companion.Find(self, companion.Fleet, append(state.Written(), gitfile.CheckoutsAround(".")...))
			if err != nil {
				return err
			}
			return syscall.Exec(at, append([]string{companion.Fleet}, args...), os.Environ())
		},
	}
}
