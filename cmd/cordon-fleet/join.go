package main

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/fleet/files"
	"cordon/internal/fleet/protocol"
)

func joinCommand() *cobra.Command {
	expires := time.Hour
	c := &cobra.Command{
		Use: "join", Short: "Print the line to paste on a machine that is to become a node", Args: cobra.NoArgs,
		Long: `Print the line to paste on a machine that is to become a node.

The line holds a token that is good for one node and for a while. Whoever has it can become a node: it
sees what the stages that it is given need. Treat it as a password until it is used.`,
		Example: "  cordon fleet join\n  cordon fleet join | ssh build2 sh   # with cordon and cordon-fleet on its PATH",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, _, err := findHome(cmd.Context())
			if err != nil {
				return err
			}
			token, err := newToken(p, expires)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "cordon fleet node "+token.String())
			fmt.Fprintf(cmd.ErrOrStderr(), "good for one node, until %s\n", time.Now().Add(expires).Format(time.DateTime))
			return err
		},
	}
	c.Flags().DurationVar(&expires, "expires", expires, "how long the token is good")
	return c
}

func newToken(p homePlace, expires time.Duration) (protocol.Token, error) {
	reach, err := p.files.Reach()
	if err != nil {
		return protocol.Token{}, errors.New("no home has run yet: start it with cordon fleet home")
	}
	if err := checkReach(reach); err != nil {
		return protocol.Token{}, err
	}
	if expires <= 0 {
		return protocol.Token{}, errors.New("--expires must be more than 0")
	}
	if err := p.identify(); err != nil {
		return protocol.Token{}, err
	}
	public, err := p.key.PublicKey()
	if err != nil {
		return protocol.Token{}, err
	}
	id, secret, err := p.files.NewTicket(time.Now().Add(expires))
	return protocol.Token{Address: reach.URL, Cert: reach.Cert, Home: public, Fleet: p.fleet, Ticket: id, Secret: secret}, err
}

// checkReach refuses the address of no machine in particular.
func checkReach(r files.Reach) error {
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil // several, with commas
	}
	if ip, err := netip.ParseAddr(u.Hostname()); u.Hostname() == "" || err == nil && ip.IsUnspecified() {
		return fmt.Errorf("nodes cannot reach %s: start the home with --address HOST:PORT", r.URL)
	}
	return nil
}
