// Package desks holds cordon ui. It refuses to know what a screen shows and who may see it:
// packages deskterm, screens and deskweb do.
package desks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"cordon/internal/deskport"
	"cordon/internal/deskweb"
	webfill "cordon/internal/deskweb/fill"
	"cordon/internal/fault"
	"cordon/internal/page"
	"cordon/internal/session"
)

// Console is what the command shares with the program that it is part of.
type Console struct {
	Open func(context.Context) (*session.Session, error)
	Page func() page.Page
	Code func(int) error // the program ends with this code and says nothing more
	Who  func() string
	In   *os.File
	Out  io.Writer
}

// New is cordon ui.
func New(a *Console) *cobra.Command {
	var web, plain, trust, still bool
	c := &cobra.Command{
		Use:   "ui",
		Short: "Open the desk: who needs you and why",
		Long: `Open the desk of this repository: who needs you and why, the review of each worker with its
verdict first, plans, and the journal. Screens follow the journal by themselves. Closing the desk
stops no worker.

In the terminal, ? lists the keys. Nothing is decided by one key: each decision shows what will
happen and its command. --plain prints lines and never redraws them, for screen readers; a
terminal that cannot move its cursor (TERM=dumb) gets the same lines. cordon without a command
opens the desk if there are workers, unless CI or CORDON_NO_UI is set.

--web prints a link that works once, within a minute. The page exchanges it for a key, which it
keeps for its tab. The desk listens on this machine only and answers only to its own host name.
Over ssh, forward the port in the link: ssh -L PORT:127.0.0.1:PORT HOST.

You decide on the page of a worker: each form says what will happen and shows the command that does
the same. A decision is about what you saw; if that has changed, it is refused and the page says how.
While a worker without a cell runs, the page decides nothing, because such a worker could use
it as you; --trust-unconfined allows it.

--web --no-script is for browsers that run no scripts. It prints an address and a key, and the
browser asks for the key as a password. Each screen is a whole page, which shows the state at the
time when you load it and decides nothing. The key is good until you close the desk, and the browser
keeps it until you close the browser.

No worker in a cell reaches the desk: a lease that names its port is refused.`,
		Example: "  cordon ui\n  cordon ui --plain\n  cordon ui --web\n  cordon ui --web --no-script\n  xdg-open \"$(cordon ui --web | head -1)\"",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case web && plain:
				return &fault.MistakeError{Err: errors.New("cordon ui: --web and --plain cannot be used together")}
			case still && !web:
				return &fault.MistakeError{Err: errors.New("cordon ui: --no-script needs --web")}
			case still && trust:
				return &fault.MistakeError{Err: errors.New("cordon ui: --no-script and --trust-unconfined cannot be used together")}
			case web:
				return a.web(cmd.Context(), webfill.Options{Trust: trust, NoScript: still})
			case plain:
				return a.plain(cmd.Context())
			}
			return a.Terminal(cmd.Context())
		},
	}
	c.Flags().BoolVar(&plain, "plain", false, "print lines and never redraw them, for screen readers")
	c.Flags().BoolVar(&web, "web", false, "open the desk in the browser")
	c.Flags().BoolVar(&trust, "trust-unconfined", false, "with --web: let the page decide while workers without a cell run")
	c.Flags().BoolVar(&still, "no-script", false, "with --web: for browsers that run no scripts, to read only")
	return c
}

// web serves the desk until the operator ends it.
func (a *Console) web(ctx context.Context, how webfill.Options) error {
	s, err := a.Open(ctx)
	if err != nil {
		return err
	}
	source, err := webfill.New(s, a.Who(), how)
	if err != nil {
		return err
	}
	named, err := ports(s)
	if err != nil {
		return err
	}
	desk, key, err := open(source, named, how)
	if err != nil {
		return fmt.Errorf("open the desk: %w", err)
	}
	end, err := deskport.Announce(desk.Port())
	if err != nil {
		return err
	}
	defer end()
	if how.NoScript {
		a.Page().Print("%s\n%s", desk.Address(), key)
		a.Page().Say("  the browser asks for a user name (any) and a password (the second line); ctrl-c closes the desk, and stops no worker")
	} else {
		a.Page().Print("%s", desk.Link())
		a.Page().Say("  opens the desk once, within a minute; ctrl-c closes it, and stops no worker")
	}
	if err := desk.Serve(ctx); err != nil {
		return err
	}
	return a.Code(0) // ctrl-c is how it ends
}

// open opens the desk in the way that was asked for. The key is that of a desk without scripts.
func open(source *webfill.Source, named func(int) bool, how webfill.Options) (s *deskweb.Server, key string, err error) {
	if how.NoScript {
		return deskweb.OpenReader(source, named)
	}
	s, err = deskweb.Open(source, named)
	return s, "", err
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
