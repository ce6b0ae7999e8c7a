// Package ports holds cordon open, which prints the addresses of a worker's published ports.
// It refuses to know how they are published: package publish does.
package ports

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/page"
	"cordon/internal/session"
	"cordon/internal/visitor"
)

// Console is what the command shares with the program that it is part of.
type Console struct {
	Worker func(ctx context.Context, name string) (*session.Session, *ledger.Worker, error)
	Page   func() page.Page
	Names  cobra.CompletionFunc // of running workers
}

// Open is cordon open.
func Open(a *Console) *cobra.Command {
	return &cobra.Command{
		Use:   "open ID [PORT]",
		Short: "Print the address of a port that a worker publishes",
		Long: `Print an address with which your browser reaches a server in a running worker. The
policy names the ports (network.publish); without PORT, all of them are printed.

The address is good for one use: it gives the browser a cookie, which every later
request has to show, and leads to the page. Run the command again for another browser.
Other workers, other users of the machine and pages of other sites cannot use it. HTTP
and WebSockets are relayed, so that hot reload works.

The page runs in your browser, with your browser's network. cordon tells the browser to
load and send nothing but to the servers that the lease names; a page can still lead
you away by a link or a redirect.`,
		Example: `  cordon open brisk-otter 3000
  xdg-open "$(cordon open brisk-otter 3000)"
  curl -L -b '' "$(cordon open brisk-otter 3000)"`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.Names,
		RunE: func(cmd *cobra.Command, args []string) error {
			port, err := portOf(args[1:])
			if err != nil {
				return err
			}
			s, w, err := a.Worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			list, err := visitor.Published(s.Site, w, port)
			if err != nil {
				return err
			}
			return a.Page().Open(string(w.ID), list)
		},
	}
}

// portOf is the port that was asked for, or 0 for all.
func portOf(args []string) (int, error) {
	if len(args) == 0 {
		return 0, nil
	}
	port, err := strconv.ParseUint(args[0], 10, 16)
	if err != nil || port == 0 {
		return 0, &fault.MistakeError{Err: fmt.Errorf("%q is not a port", args[0])}
	}
	return int(port), nil
}
