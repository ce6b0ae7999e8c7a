// Package policy turns an operator's YAML into an immutable Policy, and a
// Policy into Rules that put every path of a worktree into one class: it may
// land, it is scratch, or it is a violation.
//
// The package is pure. It reads no file, runs no program, asks no clock and no
// environment: bytes and a Location come in, values go out, so the same policy
// always judges a path the same way and a lease can be checked again years
// later. For that reason it refuses to look at the disk: whether a write root
// is a symlink, and where a link leads, is the audit's business, and what a
// worker can reach while it runs is the cell's.
//
// It also refuses to guess. A key it does not know, a value of another type, a
// list that is there but null, a pattern that cannot mean what it says: each is
// an *Error with a position and the words that would be right, and never a
// default. A missing key has its documented default; an explicit empty list
// allows nothing. The zero Policy and the zero Rules allow nothing.
package policy

import (
	"bytes"
	"time"
)

// Version is the only policy version this package reads.
const Version = 1

// Policy is what one worker may do. It is immutable by convention: nothing in
// cordon writes to a Policy after Parse or Default returned it. The JSON form
// uses the names of the YAML form, so that a lease can embed it.
type Policy struct {
	Version    int        `json:"version"`
	Filesystem Filesystem `json:"filesystem"`
	Network    Network    `json:"network"`
	Secrets    []string   `json:"secrets"`
	Git        Git        `json:"git"`
	Limits     Limits     `json:"limits"`
	Isolation  Isolation  `json:"isolation"`
	Cell       Cell       `json:"cell,omitzero"`
	Guard      Guard      `json:"guard,omitzero"`
	Agent      Agent      `json:"agent,omitzero"`
	Acceptance []string   `json:"acceptance"`
	// AcceptancePaths are the paths that some of these commands look at. A command that is
	// not in it looks at all of the tree, as in leases from before there was this key.
	AcceptancePaths   map[string][]string `json:"acceptance_paths,omitempty"`
	Setup             []string            `json:"setup"`
	Gate              Gate                `json:"gate,omitzero"`
	PreserveOnFailure bool                `json:"preserve_on_failure"`
	Expires           Duration            `json:"expires"`
}

// Filesystem holds the path patterns. Each covers what it matches and
// everything below that.
type Filesystem struct {
	WriteRoots []string `json:"write_roots"`
	ReadRoots  []string `json:"read_roots"`
	DenyRead   []string `json:"deny_read"`
	DenyWrite  []string `json:"deny_write"`
	Scratch    []string `json:"scratch"`
	// Absent from a lease that was sealed before there was this key, and then
	// deny. It must stay absent when such a lease is encoded again.
	Outside Outside `json:"outside,omitempty"`
	// Absent from older leases too, and then any name may land.
	Names Names `json:"names,omitempty"`
	// Absent from older leases too, and then workers share no caches.
	Cache Caching `json:"cache,omitempty"`
}

// Git is how the worker's private repository is set up.
type Git struct {
	Branch   string   `json:"branch"` // contains {id}
	Identity Identity `json:"identity"`
	Pin      bool     `json:"pin"`
}

// Identity signs the worker's own commits.
type Identity struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Cell is what processes in the cell may do to each other. Zero is the strict value, and
// what older leases have.
type Cell struct {
	Trace bool `json:"trace,omitempty"`
}

// Limits bound one run. Zero means no limit, except for Time, which always has
// one. A lease holds no Auto: For replaces it before the lease is sealed.
type Limits struct {
	Time      Duration `json:"time"`
	Memory    Bytes    `json:"memory"`
	Processes int      `json:"processes"`
	Files     int      `json:"files,omitempty"` // per process; absent from older leases
	Disk      Bytes    `json:"disk"`
}

// Default returns the policy that applies where none is given: the whole tree
// minus the built-in denies, no network, no secret, strict isolation. Every
// missing key of a policy file takes its value from here.
func Default() Policy {
	return Policy{
		Version: Version,
		Filesystem: Filesystem{
			WriteRoots: []string{"."},
			ReadRoots:  []string{"/"},
			DenyRead:   []string{DefaultUnread},
			DenyWrite:  []string{},
			Scratch:    []string{},
			Outside:    DenyOutside,
			Names:      PortableNames,
			Cache:      LandedCaches,
		},
		Network: Network{
			AllowedDomains: []string{},
			Via:            Transparent,
			Observe:        ObserveWorkers,
			Limits:         NetworkLimits{Connections: DefaultConnections, Queries: DefaultQueries},
		},
		Secrets: []string{},
		Git: Git{
			Branch:   "cordon/{id}",
			Identity: Identity{Name: "cordon worker", Email: "worker@cordon.invalid"},
		},
		// Processes stops a fork bomb and no build. Memory and disk depend on the
		// machine, so that any number would be wrong somewhere.
		Limits:    Limits{Time: Duration(4 * time.Hour), Memory: Auto, Processes: 4096, Disk: Auto},
		Isolation: Strict,
		Guard:     Guard{Mode: GuardEnforce, UnknownRead: AnswerAllow, OpaqueCode: AnswerAllow},
		Agent: Agent{
			Login: CopyLogin, Proof: ProofRequired, Within: DefaultWithin,
			Instructions: []string{PartUser}, Skills: []string{PartProject, PartUser}, Agents: []string{PartProject, PartUser},
			Commands: []string{PartProject, PartUser}, MCP: []string{PartUser},
		},
		Acceptance:        []string{},
		Setup:             []string{},
		Gate:              Gate{Land: landFor(nil), As: Squash, Attempts: DefaultAttempts, Cache: NoCaches},
		PreserveOnFailure: true,
		Expires:           Duration(7 * 24 * time.Hour),
	}
}

// Equal reports whether two policies say the same in the same order: whether
// their canonical forms are the same.
func (p Policy) Equal(q Policy) bool { return bytes.Equal(p.YAML(), q.YAML()) }

// Validate reports whether p could have come from Parse. Use it on a policy
// that arrived in another way, such as inside a lease. The hosts in a lease from
// before there was a way to them are left alone: some could be written then that
// are refused now, and Reach refuses them.
func (p Policy) Validate() error {
	if p.Network.Older() {
		p.Network.AllowedDomains = nil
	}
	text := p.YAML()
	q, err := Parse("policy", text)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, q.YAML()) {
		return &Error{Name: "policy", Problem: "the policy is not in its canonical form"}
	}
	return nil
}
