// Package config reads the operator's own configuration, ~/.config/cordon/config.yaml:
// who they are in commits, how results land, which program runs after a landing, how
// they are told that a worker needs them, the most that any repository's policy may
// allow, and what of their own goes into the cells of which repository.
//
// The package is pure, apart from the one reader in file.go and the one writer in
// share_file.go, which changes nothing but what is shared with a repository. The reader refuses a file
// that somebody else could have written: another owner, a mode that lets others write
// it or a directory above it, a place inside a repository. A missing file means the
// defaults; anything else that cannot be read or understood is an error, and never a
// default.
//
// It refuses to know what a repository says: a policy is read by package policy, which
// also has the words of the rights and narrows a policy to them. Nothing in this package runs or sends
// anything.
package config

import (
	"time"

	"cordon/internal/policy"
)

// Version is the only version of the format that this package reads.
const Version = 1

// Config is what the operator decided for all their repositories. The zero value is not
// valid; Default is.
type Config struct {
	Version  int      `json:"version"`
	Identity Identity `json:"identity"`
	Client   string   `json:"client"` // name of an agent client; empty: none
	Signing  Signing  `json:"signing"`
	Land     Land     `json:"land"`
	// Rights are the most that any worker may have, as they are shown. Loaded.Bound narrows policies.
	Rights policy.Rights `json:"rights"`
	// Share is what of the operator's own goes into the cells of a repository.
	Share  Share  `json:"share"`
	Notify Notify `json:"notify"`
	Fleet  Fleet  `json:"fleet"`
}

// Identity is who the operator is in the commits that land. An empty field is taken from
// the operator's git configuration.
type Identity struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Land is how a result becomes part of a branch.
type Land struct {
	As       Form     `json:"as"`
	Author   Author   `json:"author"`
	CoAuthor CoAuthor `json:"coauthor"`
	Hooks    Hooks    `json:"hooks"`
	// Parallel is how many results for one branch are tested at once; 0: as many as there are
	// processors, and at least four.
	Parallel int      `json:"parallel"`
	Then     []string `json:"then"` // argv of the operator's command; empty: none
}

// Notify is how the operator learns that a worker needs them.
type Notify struct {
	Terminal bool     `json:"terminal"` // bell and OSC, for a foreground run on a terminal
	Desktop  bool     `json:"desktop"`  // notify-send
	Command  []string `json:"command"`  // argv; empty: none
	Webhook  Webhook  `json:"webhook"`
	Merged   bool     `json:"merged"` // tell of landings too
	Text     bool     `json:"text"`   // words of the agent may be in it
	// Silent is after how long without a sign of life a running worker is silent.
	Silent policy.Duration `json:"silent"`
}

// Webhook is where notifications are posted.
type Webhook struct {
	URL    string `json:"url"`    // empty: nowhere
	Secret string `json:"secret"` // name of a file in the directory of the configuration
}

// Default returns the configuration of an operator without a file.
func Default() Config {
	rights := policy.AllRights()
	rights.Isolation = policy.Strict
	return Config{
		Version: Version,
		Signing: SignAuto,
		Land:    Land{As: AsPolicy, Author: AgentAuthor, Hooks: SkipHooks, Then: []string{}},
		Rights:  rights,
		Share:   Share{},
		Fleet:   Fleet{AtMost: []string{}, Results: 50, Acceptance: AtHome},
		Notify:  Notify{Terminal: true, Command: []string{}, Silent: policy.Duration(5 * time.Minute)},
	}
}
