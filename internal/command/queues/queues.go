// Package queues holds the command cordon queue. It refuses to change a queue: package gate does,
// for results that land.
package queues

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/page"
	"cordon/internal/present"
	"cordon/internal/queue/line"
	"cordon/internal/session"
)

// Console is what the command shares with the program that it is part of.
type Console struct {
	Open func(context.Context) (*session.Session, error)
	Page func() page.Page
}

// New is cordon queue.
func New(a *Console) *cobra.Command {
	return &cobra.Command{
		Use:   "queue",
		Short: "Show the results that wait for their landing",
		Long: `Show the results that wait for their landing, by branch, in the order in which they land.
Several are tested at once, each on the tree that the branch will have when those ahead of
it have landed. One that fails leaves its place, and is tested once more when those ahead of
it have landed. land.parallel of your configuration bounds how many are tested at once.`,
		Example: "  cordon queue\n  cordon queue --json | jq '.branches[].results[] | {worker, state}'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.Open(cmd.Context())
			if err != nil {
				return err
			}
			lines, err := line.All(s.State)
			if err != nil {
				return err
			}
			return a.Page().Queue(present.QueueView(lines), time.Now())
		},
	}
}
