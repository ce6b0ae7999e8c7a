package view

import "encoding/json"

// Document is a JSON object with a schema of its own.
type Document = json.RawMessage

// LeaseShow is cordon.lease.show/1.
type LeaseShow struct {
	Head
	Lease Document `json:"lease" doc:"The sealed lease: terms and place. It and both parts name their own schemas."`
	Hash  string   `json:"hash" doc:"Hash of the lease: SHA-256 of its place, which names the SHA-256 of its terms."`
}

// LeaseSettings is cordon.lease.settings/1.
type LeaseSettings struct {
	Head
	Worker   string `json:"worker" doc:"Name of the worker."`
	Client   string `json:"client" doc:"Name of the agent client."`
	Settings string `json:"settings" doc:"Text of the client's settings."`
}

// Policy is cordon.policy/1.
type Policy struct {
	Head
	Source    string      `json:"source" doc:"Where the policy came from."`
	Policy    Document    `json:"policy" doc:"The policy with every default; cordon policy schema prints its schema."`
	Protected []Protected `json:"protected" doc:"Names that never land unless write_roots names them."`
	Unread    []Unread    `json:"unread" doc:"What @default of deny_read stands for."`
}

// Protected is a built-in deny.
type Protected struct {
	Group  string `json:"group" doc:"Group of the name."`
	Name   string `json:"name" doc:"The name."`
	Reason string `json:"reason" doc:"Why it is protected."`
	Never  bool   `json:"never" doc:"Whether it never lands, whatever write_roots says."`
}

// Unread is an entry of the built-in list of deny_read.
type Unread struct {
	Entry  string `json:"entry" doc:"The path."`
	Reason string `json:"reason" doc:"Why it may not be read."`
}

// PolicyCheck is cordon.policy-check/1.
type PolicyCheck struct {
	Head
	Results []CheckedFile `json:"results" doc:"One result for each file."`
}

// CheckedFile is the result for one policy or configuration.
type CheckedFile struct {
	File    string `json:"file" doc:"Path of the file."`
	OK      bool   `json:"ok" doc:"Whether the file is valid."`
	Error   string `json:"error,omitempty" doc:"The whole message."`
	Line    int    `json:"line,omitempty" doc:"Line of the mistake."`
	Column  int    `json:"column,omitempty" doc:"Column of the mistake."`
	Problem string `json:"problem,omitempty" doc:"The mistake."`
	Hint    string `json:"hint,omitempty" doc:"What to write instead."`
	Warning string `json:"warning,omitempty" doc:"Something to know about a valid file."`
	// Unconfined is set for policies alone.
	Unconfined bool `json:"unconfined,omitempty" doc:"Whether commands run without a cell, with all that you can do."`
}

// Config is cordon.config/1.
type Config struct {
	Head
	File     string    `json:"file" doc:"Path of the operator's configuration."`
	There    bool      `json:"there" doc:"Whether the file exists; without it every value is the default."`
	Config   Document  `json:"config" doc:"The configuration with every default; cordon config schema prints its schema."`
	Settings []Setting `json:"settings" doc:"Every key with its source."`
}

// Setting is a key of the operator's configuration.
type Setting struct {
	Key    string `json:"key" doc:"The key with its section."`
	Value  string `json:"value" doc:"The value as YAML, on one line."`
	Source string `json:"source" doc:"default, or the file and line that sets it, followed by the line of the machine's file that bounds it, if one does."`
}

// ConfigCheck is cordon.config-check/1.
type ConfigCheck struct {
	Head
	Results []CheckedFile `json:"results" doc:"One result for each file."`
}

// Share is cordon.share/1.
type Share struct {
	Head
	File       string   `json:"file" doc:"The operator's configuration."`
	Repository string   `json:"repository" doc:"The repository, as the configuration names it."`
	Shared     []string `json:"shared" doc:"What of the operator's own its workers may get: instructions, skills, agents, commands, mcp:NAME, secret:NAME."`
}

// Presets is cordon.presets/1.
type Presets struct {
	Head
	Presets []Preset `json:"presets" doc:"The presets."`
}

// Preset is a list of domains with a name.
type Preset struct {
	Name    string         `json:"name" doc:"Name, without the @."`
	Version string         `json:"version" doc:"Day on which the list was last compared with the documentation of the service."`
	What    string         `json:"what" doc:"What the preset is for."`
	Domains []PresetDomain `json:"domains" doc:"The domains."`
}

// PresetDomain is a domain of a preset.
type PresetDomain struct {
	Domain string `json:"domain" doc:"The domain."`
	Why    string `json:"why" doc:"What it is needed for."`
}

// Init is cordon.init/1.
type Init struct {
	Head
	Path    string   `json:"path" doc:"Path of the policy file."`
	Written bool     `json:"written" doc:"Whether the file was written; false with --dry-run."`
	Found   []string `json:"found" doc:"Tools of this repository that init recognised."`
	Policy  string   `json:"policy" doc:"Text of the policy."`
}
