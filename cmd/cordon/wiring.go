package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"cordon/internal/client"
	"cordon/internal/warrant"
)

func (a *app) leaseHooksCommand() *cobra.Command {
	var o warrant.Hooks
	c := &cobra.Command{
		Use:   "hooks --client NAME --warrant FILE",
		Short: "Print the hook configuration of an agent client",
		Long: `Print the configuration that makes an agent client ask cordon before each tool call, in
the form that the client reads:

` + hookForms() + `

--with adds your own hooks, from a JSON file in Claude Code's form
{"hooks": {"PreToolUse": [{"matcher": "…", "hooks": [...]}]}}. cordon's hooks come
first, and each hook can block on its own.`,
		Example: `  cordon lease warrant brave-otter > warrant.json
  cordon lease hooks --client ` + exampleClient + ` --warrant warrant.json
  cordon lease hooks --client ` + exampleClient + ` --warrant warrant.json --with mine.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.wire(o) },
	}
	f := c.Flags()
	f.StringVar(&o.Client, "client", "", "the `NAME` of the client: "+clientList())
	f.StringVar(&o.File, "warrant", "", "the `FILE` that cordon lease warrant printed")
	f.StringVar(&o.With, "with", "", "your own hooks, a JSON `FILE`")
	f.StringVar(&o.Plugin, "plugin", "", "for a client with a plugin: write it to `FILE`")
	return c
}

func (a *app) wire(o warrant.Hooks) error {
	w, err := o.Wiring()
	if err != nil {
		return asUsage(err)
	}
	config, err := client.Config(w)
	if err != nil {
		return usageError{err}
	}
	if w.Client.Plugin != nil {
		text, err := w.Client.Plugin(w)
		if err != nil {
			return usageError{err}
		}
		if err := os.WriteFile(w.Plugin, []byte(text), 0o600); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(a.out, "%s\n", bytes.TrimRight(config, "\n"))
	return err
}
