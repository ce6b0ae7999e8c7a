package policy

import (
	"strings"

	"cordon/internal/agent/facts"
)

// Preset is a list of domains under one name. A policy writes @ and the name.
type Preset struct {
	Name    string         `json:"name"`
	Version string         `json:"version"` // the day it was last held against what its owner documents
	What    string         `json:"what"`
	Domains []PresetDomain `json:"domains"`
}

// PresetDomain is an entry of a preset, and what it is needed for.
type PresetDomain struct {
	Domain string `json:"domain"`
	Why    string `json:"why"`
}

// presets hold what tools need to work, and nothing that they only report to. A
// change of a list is a change of its version. Those of the clients' models come from
// package facts.
var presets = []Preset{
	{"github", "2026-11-15", "repositories, releases and the API of GitHub, over HTTPS", []PresetDomain{
		{"github.com", "git, and links to releases"},
		{"api.github.com", "the API"},
		{"codeload.github.com", "archives of repositories"},
		{"raw.githubusercontent.com", "single files"},
		{"objects.githubusercontent.com", "files of releases"},
		{"release-assets.githubusercontent.com", "files of releases"},
	}},
	{"npm", "2026-11-15", "packages of npm, pnpm, yarn and bun", []PresetDomain{
		{"registry.npmjs.org", "the registry"},
		{"registry.yarnpkg.com", "the registry, as yarn's lock files name it"},
	}},
	{"go", "2026-11-15", "modules and toolchains of Go", []PresetDomain{
		{"proxy.golang.org", "the module proxy"},
		{"sum.golang.org", "the checksum database"},
		{"storage.googleapis.com", "the proxy's archives, and everyone else's"},
	}},
	{"crates", "2026-11-15", "crates of Rust", []PresetDomain{
		{"index.crates.io", "the index"},
		{"static.crates.io", "the crates"},
	}},
	{"pypi", "2026-11-15", "packages of Python", []PresetDomain{
		{"pypi.org", "the index"},
		{"files.pythonhosted.org", "the packages"},
	}},
	{"debian", "2026-11-15", "packages of Debian", []PresetDomain{
		{"deb.debian.org", "the packages"},
		{"security.debian.org", "security updates"},
	}},
}

// Presets are the lists that a policy can name, models first.
func Presets() []Preset {
	var list []Preset
	for _, c := range facts.All() {
		p := Preset{Name: c.Models.Preset, Version: c.Models.Version, What: c.Models.What}
		for _, d := range c.Models.Domains {
			p.Domains = append(p.Domains, PresetDomain{d.Name, d.Why})
		}
		list = append(list, p)
	}
	for _, p := range presets {
		p.Domains = append([]PresetDomain(nil), p.Domains...)
		list = append(list, p)
	}
	return list
}

// PresetNamed is the preset of an entry, which begins with an @.
func PresetNamed(entry string) (Preset, bool) {
	name, found := strings.CutPrefix(entry, "@")
	for _, p := range Presets() {
		if found && p.Name == name {
			return p, true
		}
	}
	return Preset{}, false
}

func presetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, "@"+p.Name)
	}
	return names
}
