package protocol

import (
	"fmt"
	"slices"
)

// Needs are what a stage needs of a node. The zero value needs nothing that not every node has.
type Needs struct {
	Client   string // agent client; "": a command
	Provider string // of the client's models: every node with the client has it, and the home bounds its stages
	Model    string // that the client is asked for; "": its own choice
	Memory   int64  // bytes that its policy names; 0: as much as there is
}

// Can is what a node says it can run. It is the node's word: a node that lies gets a stage that fails there.
type Can struct {
	Clients []string `json:"clients,omitempty"` // agent clients that it has
	Models  []string `json:"models,omitempty"`  // that its clients may use; none: all
	Memory  int64    `json:"memory,omitempty"`  // bytes for all its stages together; 0: it does not say
	Slots   int      `json:"slots,omitempty"`   // stages at the same time; 0: it does not say
}

// Lacks is what a node lacks for a stage, for a person; "": nothing.
func (c Can) Lacks(n Needs) string {
	switch {
	case n.Client != "" && !slices.Contains(c.Clients, n.Client):
		return "does not have the client " + n.Client
	case n.Model != "" && len(c.Models) > 0 && !slices.Contains(c.Models, n.Model):
		return "does not offer the model " + n.Model
	case c.Memory > 0 && n.Memory > c.Memory:
		return fmt.Sprintf("has %d MiB of memory for stages, and the stage needs %d MiB", c.Memory>>20, n.Memory>>20)
	}
	return ""
}

// The bounds of what a node says.
const (
	maxWords = 100
	maxWord  = 100
	maxSlots = 100000
)

// sane reports whether a node says no more than fits.
func (c Can) sane() bool {
	for _, word := range slices.Concat(c.Clients, c.Models) {
		if word == "" || len(word) > maxWord {
			return false
		}
	}
	return len(c.Clients) <= maxWords && len(c.Models) <= maxWords && c.Memory >= 0 && c.Slots >= 0 && c.Slots <= maxSlots
}
