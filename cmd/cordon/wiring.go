package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/guard"
)

// wiringOptions are the flags of cordon lease hooks.
type wiringOptions struct{ client, warrant, with, plugin string }

func (a *app) leaseHooksCommand() *cobra.Command {
	var o wiringOptions
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
	f.StringVar(&o.client, "client", "", "the `NAME` of the client: "+clientList())
	f.StringVar(&o.warrant, "warrant", "", "the `FILE` that cordon lease warrant printed")
	f.StringVar(&o.with, "with", "", "your own hooks, a JSON `FILE`")
	f.StringVar(&o.plugin, "plugin", "", "for a client with a plugin: write it to `FILE`")
	return c
}

func (a *app) wire(o wiringOptions) error {
	w, err := o.wiring()
	if err != nil {
		return err
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

// wiring reads what the flags name. A warrant that the hook would refuse is
// refused here already.
func (o wiringOptions) wiring() (client.Wiring, error) {
	var w client.Wiring
	known, err := clients.Of(client.Name(o.client))
	if err != nil {
		return w, usage("cordon lease hooks: --client: %v", err)
	}
	switch plugin := known.Dialect.Plugin != nil; {
	case plugin && o.plugin == "":
		return w, usage("cordon lease hooks: --plugin FILE is needed for %s", known.Name)
	case !plugin && o.plugin != "":
		return w, usage("cordon lease hooks: %s has no plugin: leave --plugin out", known.Name)
	}
	if o.warrant == "" {
		return w, usage("cordon lease hooks: --warrant FILE is needed: cordon lease warrant prints it")
	}
	b, err := os.ReadFile(o.warrant)
	if err != nil {
		return w, err
	}
	ward, err := guard.ReadWarrant(b)
	if err != nil {
		return w, fmt.Errorf("%s: %w", o.warrant, err)
	}
	scope, err := ward.Scope(time.Now())
	if err != nil {
		return w, fmt.Errorf("%s: %w", o.warrant, err)
	}
	w.Client = known.Dialect
	if w.Binary, err = os.Executable(); err != nil {
		return w, err
	}
	if w.Lease, err = filepath.Abs(o.warrant); err != nil {
		return w, err
	}
	if scope.Inside(w.Lease) {
		return w, usage("cordon lease hooks: %s is in the worker's tree, where the worker can change it", o.warrant)
	}
	if o.plugin != "" {
		if w.Plugin, err = filepath.Abs(o.plugin); err != nil {
			return w, err
		}
	}
	w.Label = label()
	w.Extra, err = o.extra()
	return w, err
}

// extra are the operator's hooks.
func (o wiringOptions) extra() (client.Hooks, error) {
	if o.with == "" {
		return nil, nil
	}
	b, err := os.ReadFile(o.with)
	if err != nil {
		return nil, err
	}
	h, err := client.ParseHooks(b)
	if err != nil {
		return nil, usage("%s: %v", o.with, err)
	}
	return h, nil
}

// label is a name that a worker cannot guess, and so cannot switch off.
func label() string {
	b := make([]byte, 12)
	rand.Read(b)
	return "cordon-" + hex.EncodeToString(b)
}
