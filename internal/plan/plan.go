// Package plan reads plans and reasons about them: which stages there are, what each may
// write, what it waits for, and how it is judged.
//
// The package is pure. Bytes come in, values go out; it starts nothing, reads no file and
// asks no clock. It is as strict as the policy: an unknown key, a cycle, a stage that nobody
// can satisfy is an error with a position. A plan narrows the policy of its repository and
// never widens it.
//
// Package policy decides what a worker may do; package session takes the worker of a stage
// through the pipeline.
package plan

import (
	"crypto/sha256"
	"encoding/hex"
)

// Version is the only version of plans that this package reads.
const Version = 1

// Plan is a set of stages toward one goal.
type Plan struct {
	Version  int     `json:"version"`
	ID       string  `json:"plan"`
	Target   string  `json:"target,omitempty"` // a branch; "": the one that the operator is on
	Land     Landing `json:"land"`
	Parallel int     `json:"parallel"` // the most stages at once
	Narrow   Narrow  `json:"narrow,omitzero"`
	Stages   []Stage `json:"stages"`
	// Notes are things in the document that have no effect or look like a mistake, in sentences.
	Notes []string `json:"notes,omitempty"`
}

// Stage is one step of a plan: a worker with a lease, and the checks that decide whether it
// is done. All its paths begin at the top of the tree.
type Stage struct {
	ID         string     `json:"id"`
	Name       string     `json:"name,omitempty"` // for people; "": its ID
	Kind       Kind       `json:"kind"`
	After      []Link     `json:"after,omitempty"`
	Dir        string     `json:"dir"` // where acceptance commands run; "." is the top
	Task       string     `json:"task,omitempty"`
	TaskFile   string     `json:"task_file,omitempty"` // in the base commit, instead of Task
	Agent      string     `json:"agent,omitempty"`     // a client; "": the one that plan run names
	Model      string     `json:"model,omitempty"`
	Command    []string   `json:"command,omitempty"` // instead of an agent
	Write      []string   `json:"write,omitempty"`   // write_roots of its lease
	Reads      []Link     `json:"reads,omitempty"`   // stages whose results go into its briefing
	Acceptance []Check    `json:"acceptance,omitempty"`
	Artifacts  []Artifact `json:"artifacts,omitempty"`
	Truths     []Truth    `json:"truths,omitempty"`
	Retries    Retries    `json:"retries,omitzero"`
	Budget     Budget     `json:"budget,omitzero"`
	Review     *Review    `json:"review,omitempty"`

	at Position
}

// Title is the stage's name for people.
func (s Stage) Title() string {
	if s.Name != "" {
		return s.Name
	}
	return s.ID
}

// Writes reports whether the stage may change files.
func (s Stage) Writes() bool { return s.Kind != Verify && len(s.Write) > 0 }

// Position is a place in the text of a plan.
type Position struct{ Line, Column int }

// Link names another stage.
type Link struct {
	ID string
	at Position
}

func (l Link) MarshalText() ([]byte, error) { return []byte(l.ID), nil }

func (l *Link) UnmarshalText(text []byte) error {
	l.ID = string(text)
	return nil
}

// Landing is when results reach the target.
type Landing string

const (
	Each     Landing = "each"     // each result as its stage is done
	Together Landing = "together" // all of them, when the last stage is done
)

// Kind is what a stage does.
type Kind string

const (
	Worktree Kind = "worktree" // changes files
	Survey   Kind = "survey"   // reads everything and writes what it learned
	Verify   Kind = "verify"   // changes nothing, checks and reports
	Resolve  Kind = "resolve"  // cordon makes it when a landing conflicts
	Deliver  Kind = "land"     // cordon adds it to land: together: takes the branch of the plan to the target
)

// DeliverID is the name of the stage that cordon adds to land: together.
const DeliverID = "land"

// deliver adds the last stage of a plan whose results land together. It waits for all others,
// and changes nothing by itself.
func (p *Plan) deliver() error {
	if p.Land != Together {
		return nil
	}
	last := Stage{ID: DeliverID, Name: "Land the results together", Kind: Deliver, Dir: ".", Command: []string{"true"}, Retries: Retries{Lost: DefaultLost}}
	for _, s := range p.Stages {
		if s.ID == DeliverID {
			return s.at.fault("the name land is cordon's in a plan whose results land together", "choose another")
		}
		last.After = append(last.After, Link{ID: s.ID, at: s.at})
	}
	p.Stages = append(p.Stages, last)
	return nil
}

// Check is an acceptance command. Paths are what it looks at; nil: everything.
type Check struct {
	Run   string   `json:"run"`
	Paths []string `json:"paths,omitempty"`
}

// Artifact is a file that a stage promises.
type Artifact struct {
	Path     string   `json:"path"`
	Contains []string `json:"contains,omitempty"`
	Not      []string `json:"not,omitempty"`
	// Optional marks what an older cordon promised of files in conflict. The gate knows these by itself.
	Optional bool `json:"optional,omitempty"`

	at Position
}

// Truth is a claim about the result. Without Run it is a sentence, and only an answer of a
// verifier or a person makes it green.
type Truth struct {
	Claim  string `json:"claim"`
	Run    string `json:"run,omitempty"`
	Exit   int    `json:"exit,omitempty"`
	Stdout string `json:"stdout,omitempty"` // part of what it prints; "": anything
}

// DefaultLost is how often a worker is started again whose supervisor died, unless a plan says otherwise.
const DefaultLost = 3

// Retries are how often a stage starts again by itself, for each way in which it can end.
type Retries struct {
	Failed   int `json:"failed,omitempty"`   // the agent ended with an error
	Rejected int `json:"rejected,omitempty"` // acceptance, an artifact or a truth failed
	Lost     int `json:"lost,omitempty"`     // its supervisor died
}

// Narrow is what a plan takes from the policy of its repository.
type Narrow struct {
	DenyRead  []string `json:"deny_read,omitempty"`
	DenyWrite []string `json:"deny_write,omitempty"`
	// Domains are all that remain of allowed_domains; nil: those of the policy.
	Domains []string `json:"allowed_domains"`

	domains Position
}

// Digest is the hash of a plan's text. The journal keeps it.
func Digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Stage finds a stage by its ID.
func (p Plan) Stage(id string) (Stage, bool) {
	for _, s := range p.Stages {
		if s.ID == id {
			return s, true
		}
	}
	return Stage{}, false
}
