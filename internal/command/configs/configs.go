// Package configs holds the commands of cordon config: what of the operator's configuration
// holds, and what they share with a repository. It refuses to change anything of the
// configuration but that.
package configs

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"cordon/internal/config"
	"cordon/internal/page"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/terminal"
)

// Console is what the commands share with the program that they are part of.
type Console struct {
	Open  func(context.Context) (*session.Session, error)
	Page  func() page.Page
	Check func(files []string) error // without files: the configuration in use
}

// New is cordon config.
func New(a *Console) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show or check your own configuration",
		Long: `Your configuration says who you are in landed commits, how results land, which command
runs after a landing, the most that any worker may have, and how you learn that a worker
needs you. It is ~/.config/cordon/config.yaml, or below XDG_CONFIG_HOME. It is yours and
holds in every repository; a repository's cordon.yaml cannot set any of it.

/etc/cordon/config.yaml holds rights for everybody on a machine, in the same format. It
belongs to root; your own rights narrow them and cannot widen them.

A missing file means the defaults. cordon refuses a file that others can write or that
lies inside a repository, and anything that it does not understand. No worker can read
or write it.`,
		Example: "  cordon config show\n  cordon config check\n  cordon config schema > config.schema.json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:   "show",
		Short: "Print every value and where it came from",
		Long: "Print every key of your configuration with its value, and where the value came from:\nthe line of the file, or the default, " +
			"and the line of /etc/cordon/config.yaml that bounds it.",
		Example: "  cordon config show\n  cordon config show --json | jq .config.land",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.show() },
	}, &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Check your configuration without using it",
		Long: `Check your configuration and that of the machine, or each FILE. Mistakes are reported
with line, column and a correction. A missing file is an error here only if you name it.`,
		Example: "  cordon config check\n  cordon config check --json draft.yaml",
		RunE:    func(_ *cobra.Command, args []string) error { return a.Check(args) },
	}, a.shareCommand(), &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of a configuration",
		Long:    "Print the JSON Schema (2020-12) of a configuration, for editors and other tools.",
		Example: "  cordon config schema > config.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Page().Out.Write(config.Schema())
			return err
		},
	})
	return c
}

func (a *Console) show() error {
	l, err := config.Load()
	if err != nil {
		return err
	}
	shown, err := present.ConfigView(l)
	if err != nil || a.Page().JSON {
		return errors.Join(err, a.Page().Object(shown))
	}
	if !l.There {
		a.Page().Say("there is no %s: every value is the default", l.File)
	}
	terminal.Table(a.Page().Out, present.ConfigRows(shown))
	return nil
}
