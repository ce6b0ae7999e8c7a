package main

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"cordon/internal/config"
	"cordon/internal/present"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show or check your own configuration",
		Long: `Your configuration says who you are in landed commits, how results land, which command
runs after a landing, the most that any worker may have, and how you learn that a worker
needs you. It is ~/.config/cordon/config.yaml, or below XDG_CONFIG_HOME. It is yours and
holds in every repository; a repository's cordon.yaml cannot set any of it.

A missing file means the defaults. cordon refuses a file that others can write or that
lies inside a repository, and anything that it does not understand. No worker can read
or write it.`,
		Example: "  cordon config show\n  cordon config check\n  cordon config schema > config.schema.json",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:     "show",
		Short:   "Print every value and where it came from",
		Long:    "Print every key of your configuration with its value, and where the value came from:\nthe line of the file, or the default.",
		Example: "  cordon config show\n  cordon config show --json | jq .config.land",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return a.configShow() },
	}, &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Check your configuration without using it",
		Long: `Check your configuration, or each FILE. Mistakes are reported with line, column and a
correction. A missing file is an error here only if you name it.`,
		Example: "  cordon config check\n  cordon config check --json draft.yaml",
		RunE:    func(_ *cobra.Command, args []string) error { return a.configCheck(args) },
	}, a.shareCommand(), &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of a configuration",
		Long:    "Print the JSON Schema (2020-12) of a configuration, for editors and other tools.",
		Example: "  cordon config schema > config.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.out.Write(config.Schema())
			return err
		},
	})
	return c
}

func (a *app) configShow() error {
	l, err := config.Load()
	if err != nil {
		return err
	}
	shown, err := present.ConfigView(l)
	if err != nil || a.json {
		return errors.Join(err, a.object(shown))
	}
	if !l.There {
		a.say("there is no %s: every value is the default", l.File)
	}
	terminal.Table(a.out, present.ConfigRows(shown))
	return nil
}

func (a *app) configCheck(files []string) error {
	named := len(files) > 0
	if !named {
		dir, err := config.Dir()
		if err != nil {
			return err
		}
		files = []string{filepath.Join(dir, config.Name)}
	}
	var shown view.ConfigCheck
	worst := error(nil)
	for _, file := range files {
		warning := ""
		text, err := config.ReadOwn(file)
		if err == nil {
			_, _, err = config.Parse(file, text)
		} else if errors.Is(err, fs.ErrNotExist) && !named {
			warning, err = "there is no such file: every value is the default", nil
		}
		shown.Results = append(shown.Results, present.CheckedFile(file, warning, err))
		worst = worse(worst, err)
	}
	return a.checkResults(&shown, shown.Results, worst)
}

// worse is the worst exit code so far.
func worse(worst, err error) error {
	if code := codeOf(err); code > codeOf(worst) {
		return codeError(code)
	}
	return worst
}

// checkResults prints the results of a check.
func (a *app) checkResults(o view.Object, results []view.CheckedFile, worst error) error {
	if a.json {
		return cmp.Or(a.object(o), worst)
	}
	for _, r := range results {
		if !r.OK {
			a.say("%s", r.Error)
			continue
		}
		a.print("%s: ok", r.File)
		if r.Warning != "" {
			a.say("%s: warning: %s", r.File, r.Warning)
		}
	}
	return worst
}
