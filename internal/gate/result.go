package gate

import (
	"fmt"
	"time"

	"cordon/internal/audit"
	"cordon/internal/git"
)

// Outcome is what the gate decided.
type Outcome string

// The outcomes. Only Merged and Nothing leave no work for a person.
const (
	Merged    Outcome = "merged"
	Nothing   Outcome = "nothing" // the target already holds all of it
	Conflict  Outcome = "conflict"
	Waiting   Outcome = "waiting"    // accepted, but the checkout must not be touched
	Violating Outcome = "violations" // of the merged tree
	Rejected  Outcome = "rejected"   // acceptance failed
)

// Result is an outcome with its evidence.
type Result struct {
	Outcome  Outcome         `json:"outcome"`
	Commit   git.OID         `json:"commit,omitempty"`
	Target   string          `json:"target"`
	Paths    []audit.Path    `json:"paths,omitempty"`    // in conflict
	Findings []audit.Finding `json:"findings,omitempty"` // violations of the merged tree
	Checks   []Check         `json:"checks,omitempty"`
	// Retries is how often acceptance of this result failed before it ran as Checks say.
	Retries  int    `json:"+retries,omitempty"`
	Why      string `json:"why,omitempty"`
	Checkout string `json:"checkout,omitempty"` // where something is left to do
	Signed   bool   `json:"+signed,omitempty"`  // with the operator's signature
	// Cached: acceptance found caches of an earlier landed result.
	Cached bool `json:"+cached,omitempty"`
	// Hooks are the operator's own that ran, in their order.
	Hooks []string `json:"+hooks,omitempty"`
	// InTheWay are the uncommitted changes that keep a checkout from following, if nothing
	// else does.
	InTheWay []Obstacle `json:"+in_the_way,omitempty"`
	// Busy: somebody's git is at work in a checkout.
	Busy bool `json:"+busy,omitempty"`
	// Queue is how it went through the queue of its target.
	Queue *Passage `json:"+queue,omitempty"`
}

// Passage is the way of a result through the queue.
type Passage struct {
	Since time.Time `json:"since"` // it entered
	Tests int       `json:"tests"` // that were begun
	// Ahead are the results that the tree of its last test held and that had not landed.
	Ahead int `json:"ahead"`
}

// Because is the reason of an outcome, to stand behind it; "": there is none.
func (r Result) Because() string {
	if r.Why == "" {
		return ""
	}
	return ": " + r.Why
}

// maxListed is how many paths of a kind the journal keeps of a result.
const maxListed = 200

// Capped is the result with its lists shortened: a worker decides how long they
// are, and an event has to fit into the journal.
func (r Result) Capped() Result {
	if len(r.Paths) > maxListed {
		r.Why = fmt.Sprintf("%d paths, of which %d are listed", len(r.Paths), maxListed)
		r.Paths = r.Paths[:maxListed]
	}
	if len(r.Findings) > maxListed {
		r.Why = fmt.Sprintf("%d violations, of which %d are listed", len(r.Findings), maxListed)
		r.Findings = r.Findings[:maxListed]
	}
	r.InTheWay = r.InTheWay[:min(len(r.InTheWay), maxListed)]
	return r
}

// Check is one acceptance command that ran.
type Check struct {
	Command string        `json:"command"`
	Code    int           `json:"code"`
	Ended   string        `json:"ended,omitempty"` // the limit that ended it, in words; "": it ended by itself
	Took    time.Duration `json:"took_ns"`
	Output  string        `json:"output,omitempty"` // its end
	// Reused: it looks at some paths, and passed on the same before.
	Reused bool `json:"+reused,omitempty"`
	// Names are files of the result that the command names, or that lie in a directory that it names. Others may run
	// the worker's code too.
	Names []audit.Path `json:"+names,omitempty"`
	// Node is the name of the node that ran it, by its word; "": it ran at home.
	Node string `json:"+node,omitempty"`
}

// How says how it ended, after its name.
func (c Check) How() string {
	if c.Ended != "" {
		return c.Ended
	}
	return fmt.Sprintf("ended with %d", c.Code)
}
