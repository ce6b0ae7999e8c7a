// Package desks holds cordon ui. It refuses to know what a screen shows and who may see it:
// packages screens and deskweb do.
package desks

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"cordon/internal/deskport"
	"cordon/internal/deskweb"
	"cordon/internal/deskweb/fill"
	"cordon/internal/fault"
	"cordon/internal/page"
	"cordon/internal/session"
)

// Console is what the command shares with the program that it is part of.
type Console struct {
	Open func(context.Context) (*session.Session, error)
	Page func() page.Page
	Code func(int) error // the program ends with this code and says nothing more
}

// New is cordon ui.
func New(a *Console) *cobra.Command {
	var web bool
	c := &cobra.Command{
		Use:   "ui",
		Short: "Open the desk: who needs you and why",
		Long: `Open the desk of this repository in your browser: who needs you and why, the review of each
worker with its verdict first, plans as a list and a graph, and the journal. Screens follow the
journal by themselves. Closing the desk stops no worker.

--web prints an address that opens the desk once, within a minute; the page then holds a key
in its memory. It listens on this machine only, under a name of its own, and answers to no
other name. The page shows and decides nothing: each screen names the commands that do. Over ssh,
forward the port that it prints: ssh -L PORT:127.0.0.1:PORT HOST.

No worker in a cell reaches the desk: a lease that names its port is refused.`,
		Example: "  cordon ui --web\n  xdg-open \"$(cordon ui --web | head -1)\"",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !web {
				return &fault.MistakeError{Err: errors.New("cordon ui: only --web is there yet; cordon ls --watch shows the workers in the terminal")}
			}
			return a.web(cmd.Context())
		},
	}
	c.Flags().BoolVar(&web, "web", false, "in the browser")
	return c
}

// web serves the desk until the operator ends it.
func (a *Console) web(ctx context.Context) error {
	s, err := a.Open(ctx)
	if err != nil {
		return err
	}
	source, err := fill.New(s)
	if err != nil {
		return err
	}
	named, err := ports(s)
	if err != nil {
		return err
	}
	desk, err := deskweb.Open(source, named)
	if err != nil {
		return fmt.Errorf("open the desk: %w", err)
	}
	end, err := deskport.Announce(desk.Port())
	if err != nil {
		return err
	}
	defer end()
	a.Page().Print("%s", desk.Link())
	a.Page().Say("  opens the desk once, within a minute; ctrl-c closes it, and stops no worker")
	if err := desk.Serve(ctx); err != nil {
		return err
	}
	return a.Code(0) // ctrl-c is how it ends
}

// ports knows the ports that leases of this repository's workers open to them.
func ports(s *session.Session) (func(int) bool, error) {
	l, err := s.Ledger()
	if err != nil {
		return nil, err
	}
	return func(port int) bool {
		for _, w := range l.Workers {
			if key, err := deskport.Named(w.Lease.Lease().Policy.Network, uint16(port)); w.Removal == nil && (err != nil || key != "") {
				return true
			}
		}
		return false
	}, nil
}
