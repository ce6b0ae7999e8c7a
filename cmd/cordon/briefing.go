package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"cordon/internal/briefing"
	"cordon/internal/cell"
	"cordon/internal/launch"
	"cordon/internal/post"
	"cordon/internal/view"
)

func (a *app) briefingCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "briefing [ID]",
		Short: "Print the briefing of a worker",
		Long: `Print the briefing of a worker: where it works, what it may do, what it may not do,
the most common mistakes, and what to do when it needs more. cordon run gives it to
an agent client by the client's own means. It names no path of your machine.

Inside a worker, without an ID, it prints the worker's own briefing.`,
		Example:           "  cordon briefing brisk-otter",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, worker, err := a.briefing(cmd.Context(), args)
			if err != nil {
				return err
			}
			if a.json {
				return a.object(&view.Briefing{Worker: worker, Text: text})
			}
			_, err = fmt.Fprint(a.out, text)
			return err
		},
	}
}

// briefing is the text of a worker's, and whose it is.
func (a *app) briefing(ctx context.Context, args []string) (text, worker string, err error) {
	if len(args) == 0 {
		return ownBriefing()
	}
	_, w, err := a.worker(ctx, args[0])
	if err != nil {
		return "", "", err
	}
	return launch.Briefing(w, w.Agent != nil), string(w.ID), nil
}

// ownBriefing is what lies beside the socket of the worker that asks.
func ownBriefing() (text, worker string, err error) {
	place := os.Getenv(post.Variable)
	if place == "" {
		return "", "", usage("cordon briefing: whose? (cordon ls shows the workers)")
	}
	b, err := os.ReadFile(filepath.Join(place, briefing.File))
	return string(b), os.Getenv(cell.Mark), err
}
