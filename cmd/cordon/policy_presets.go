package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/policy"
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
	shown := view.Presets{Presets: each(list, presetView)}
	if a.json {
		return a.object(&shown)
	}
	for i, p := range shown.Presets {
		if i > 0 {
			a.print("")
		}
		a.print("@%s: %s (%s)", p.Name, p.What, p.Version)
		for _, line := range presetLines(p) {
			a.print("  %s", line)
		}
	}
	return nil
}

func presetView(p policy.Preset) view.Preset {
	domain := func(d policy.PresetDomain) view.PresetDomain { return view.PresetDomain(d) }
	return view.Preset{Name: p.Name, Version: p.Version, What: p.What, Domains: each(p.Domains, domain)}
}

// presetLines are the domains of a preset, each with its reason.
func presetLines(p view.Preset) []string {
	width := 0
	for _, d := range p.Domains {
		width = max(width, len(d.Domain))
	}
	var lines []string
	for _, d := range p.Domains {
		lines = append(lines, fmt.Sprintf("%-*s  %s", width, d.Domain, d.Why))
	}
	return lines
}

// presetComment lists what the presets of a policy stand for, as comments.
func presetComment(p policy.Policy) string {
	var b strings.Builder
	for _, preset := range policy.Presets() {
		if !slices.Contains(p.Network.AllowedDomains, "@"+preset.Name) {
			continue
		}
		fmt.Fprintf(&b, "\n# @%s in allowed_domains, as of %s:\n", preset.Name, preset.Version)
		for _, line := range presetLines(presetView(preset)) {
			b.WriteString("#   " + line + "\n")
		}
	}
	return b.String()
}
