package present

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/policy"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// withSizes is a policy as YAML that says what "auto" is on this machine at the moment.
func WithSizes(p policy.Policy) string {
	text := string(p.YAML())
	here, err := worksite.LimitsHere(p.Limits)
	if err != nil {
		return text // a run says why
	}
	for key, size := range map[string]policy.Bytes{"memory": here.Memory, "disk": here.Disk} {
		text = strings.Replace(text, "\n  "+key+": auto\n", fmt.Sprintf("\n  %s: auto  # %s here\n", key, size), 1)
	}
	return text
}

func ProtectedRows() []view.Protected {
	var rows []view.Protected
	for _, p := range policy.Protected() {
		rows = append(rows, view.Protected{Group: p.Group, Name: p.Name, Reason: p.Reason, Never: p.Never})
	}
	return rows
}

// protectedComment lists the built-in denies by group, as comments.
func ProtectedComment() string {
	var b strings.Builder
	b.WriteString("\n# Built in: these names never land, at any depth and in any case, unless an\n" +
		"# entry of write_roots names them (those marked ! not even then).\n")
	group := ""
	for _, p := range ProtectedRows() {
		if p.Group != group {
			group = p.Group
			fmt.Fprintf(&b, "#\n# %s:\n", group)
		}
		mark := " "
		if p.Never {
			mark = "!"
		}
		fmt.Fprintf(&b, "# %s %-46s %s\n", mark, p.Name, p.Reason)
	}
	return b.String()
}

func UnreadRows() []view.Unread {
	var rows []view.Unread
	for _, u := range policy.UnreadByDefault() {
		rows = append(rows, view.Unread(u))
	}
	return rows
}

// unreadComment lists by reason what @default stands for, when it is there.
func UnreadComment(p policy.Policy) string {
	if !slices.Contains(p.Filesystem.DenyRead, policy.DefaultUnread) {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n# @default in deny_read: these may not be read, with everything below, unless an\n" +
		"# entry of read_roots names them.\n")
	reason, line := "", ""
	flush := func(end string) {
		if line != "" {
			b.WriteString(line + end + "\n")
		}
		line = ""
	}
	for _, u := range UnreadRows() {
		if u.Reason != reason {
			flush("")
			reason = u.Reason
			fmt.Fprintf(&b, "#\n# %s:\n", reason)
		}
		switch {
		case line == "":
			line = "#   " + u.Entry
		case len(line)+len(u.Entry) > 76:
			flush(",")
			line = "#   " + u.Entry
		default:
			line += ", " + u.Entry
		}
	}
	flush("")
	return b.String()
}

func PresetView(p policy.Preset) view.Preset {
	domain := func(d policy.PresetDomain) view.PresetDomain { return view.PresetDomain(d) }
	return view.Preset{Name: p.Name, Version: p.Version, What: p.What, Domains: Each(p.Domains, domain)}
}

// presetLines are the domains of a preset, each with its reason.
func PresetLines(p view.Preset) []string {
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
func PresetComment(p policy.Policy) string {
	var b strings.Builder
	for _, preset := range policy.Presets() {
		if !slices.Contains(p.Network.AllowedDomains, "@"+preset.Name) {
			continue
		}
		fmt.Fprintf(&b, "\n# @%s in allowed_domains, as of %s:\n", preset.Name, preset.Version)
		for _, line := range PresetLines(PresetView(preset)) {
			b.WriteString("#   " + line + "\n")
		}
	}
	return b.String()
}
