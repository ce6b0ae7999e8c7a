// Command cordon-fleet runs stages of cordon's on more than one machine. It is a program of
// its own because of its engine: a server that cordon and its hook must not carry.
//
// It refuses to run a worker, to audit and to land: it asks the cordon beside it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"cordon/internal/fleet/engine/jetstream"
	"cordon/internal/fleet/home"
	"cordon/internal/git"
	"cordon/internal/legible"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends this program at once
	if err := root().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "cordon fleet:", err)
		os.Exit(codeOf(err))
	}
}

// The exit codes.
const (
	exitFailed  = 1
	exitRefused = 3 // the home refuses, or git refuses the repository: trying again is of no use
)

// refusedError is a refusal of the home.
type refusedError struct{ error }

// refuses is the home's refusal, in its words.
func refuses(say string) error {
	return refusedError{fmt.Errorf("the home refuses: %s", legible.PlainLine(say))}
}

func codeOf(err error) int {
	_, refused := errors.AsType[refusedError](err)
	_, foreign := errors.AsType[*git.ForeignError](err)
	if refused || foreign {
		return exitRefused
	}
	return exitFailed
}

func root() *cobra.Command {
	c := &cobra.Command{
		Use: "cordon-fleet", Short: "Run stages on other machines",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "cordon fleet"},
		SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var dir string
	c.PersistentFlags().StringVarP(&dir, "directory", "C", "", "run as if started in `DIR`")
	c.PersistentPreRunE = func(*cobra.Command, []string) error {
		if dir == "" {
			return nil
		}
		return os.Chdir(dir)
	}
	c.CompletionOptions.DisableDefaultCmd = true
	c.AddCommand(homeCommand(), nodeCommand(), joinCommand(), lsCommand(), showCommand(),
		changeCommand("drain", "Let a node finish its stages, and give it no new ones", "gets nothing new", home.Drain),
		changeCommand("resume", "Give stages to a node that was drained", "gets stages again", home.Resume),
		changeCommand("rm", "Remove a node: the home refuses its messages from then on", "was removed", home.Remove),
		versionCommand())
	return c
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version of cordon-fleet and of its engine", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "cordon-fleet %s, engine NATS %s\n", version(), jetstream.Version)
			return err
		},
	}
}

// version is that of this build.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
