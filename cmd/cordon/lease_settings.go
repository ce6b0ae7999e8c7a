package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/launch"
	"cordon/internal/view"
)

func (a *app) leaseSettingsCommand() *cobra.Command {
	var name string
	c := &cobra.Command{
		Use:   "settings ID --client NAME",
		Short: "Print the permissions of a worker in the form of an agent client",
		Long: `Print the part of a lease that an agent client's own permission settings can express,
in the form that this client really honours: the files it may write, those it may not
write or read, and the hosts it may reach. cordon run gives the client the same
settings, without the built-in list of deny_read where the cell hides all of it. They make
the client refuse early and say why; the boundary is the cell and the audit.`,
		Example:           "  cordon lease settings brave-otter --client " + exampleClient,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if name == "" {
				return usage("cordon lease settings: --client is needed, one of %v", clients.Names())
			}
			known, err := clients.Of(client.Name(name))
			if err != nil {
				return usage("cordon lease settings: --client: %v", err)
			}
			_, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			text, err := known.Settings(launch.AgentRules(w.Lease))
			if err != nil {
				return err
			}
			if a.json {
				return a.object(&view.LeaseSettings{Worker: string(w.ID), Client: string(known.Name), Settings: string(text)})
			}
			_, err = fmt.Fprintf(a.out, "%s\n", bytes.TrimRight(text, "\n"))
			return err
		},
	}
	c.Flags().StringVar(&name, "client", "", "the `NAME` of the client: "+clientList())
	return c
}
