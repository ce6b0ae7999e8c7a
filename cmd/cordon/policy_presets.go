package main

import (
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/policy"
	"cordon/internal/present"
	"cordon/internal/view"
)

func (a *app) policyPresetsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "presets [NAME]",
		Short: "List the presets of allowed_domains and their domains",
		Long: `List the presets that network.allowed_domains can name, or only NAME: each domain, its
purpose, and the date of the list. Presets contain the servers that clients and tools
need to work, and none that they only report to.

A lease is sealed with the domains, not with the name, so a later version of a preset
does not change an existing lease. Each domain is also a way for data to leave: allow
no more of them than the work needs.`,
		Example: "  cordon policy presets\n  cordon policy presets @npm\n  cordon policy presets --json | jq '.presets[].name'",
		Args:    cobra.MaximumNArgs(1),
		RunE:    func(_ *cobra.Command, args []string) error { return a.policyPresets(args) },
	}
}

func (a *app) policyPresets(names []string) error {
	list := policy.Presets()
	if len(names) > 0 {
		p, ok := policy.PresetNamed("@" + strings.TrimPrefix(names[0], "@"))
		if !ok {
			return usage("no preset is called %q: %q lists them", names[0], "cordon policy presets")
		}
		list = []policy.Preset{p}
	}
	shown := view.Presets{Presets: present.Each(list, present.PresetView)}
	if a.json {
		return a.object(&shown)
	}
	for i, p := range shown.Presets {
		if i > 0 {
			a.print("")
		}
		a.print("@%s: %s (%s)", p.Name, p.What, p.Version)
		for _, line := range present.PresetLines(p) {
			a.print("  %s", line)
		}
	}
	return nil
}
