package ledger

import (
	"cmp"
	"time"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/egress/record"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/guard"
	"cordon/internal/lease"
	"cordon/internal/plan"
)

// Worker is everything the journal says of one worker. A nil part has not
// happened, or has to happen again.
type Worker struct {
	ID         lease.ID
	Lease      lease.Sealed
	Command    []string
	Options    Options
	Overlap    []string
	Agent      *Agent   // nil: a command
	Stage      *StageOf // nil: it is for no plan
	Signal     string   // the place in a plan on another machine, for its briefing
	Memory     int64    // bytes that its policy asks for; 0: it names no size
	Opens      []string // what the repository's policy opens, with the operator's consent
	Limits     int      // how often it failed because its provider was asked too often
	Limited    bool     // the last launch did
	Failures   int      // how often its command ended with an error, by itself
	Losses     int      // how often it was started again because cordon or the machine had died
	Wiring     *Wiring
	Proof      *Proof    // of the last launch
	Stream     *Stream   // of the last launch
	Used       plan.Used // by its client, in all launches
	Questions  []Inquiry
	RateLimits []RateLimit // that its client has met
	Claim      *Claim      // of the last launch
	Doubts     []string    // of launches before that: why not to believe that they were under their guard
	Tree       *Tree
	Away       *Away    // nil: its command is not offered to a node, or what the node returned was unpacked
	Makers     []string // keys of the nodes that have returned a result of it
	Trial      *Trial   // nil: no node is to test its result
	Refusal    *Refusal // of the last launch; nil: it was not refused, or something has happened since
	Start      *Start
	Attended   bool // a launch of its work had a terminal, at which a person sits
	TreeSeq    uint64
	StartSeq   uint64
	StartTime  time.Time
	EndSeq     uint64
	Stop       *Stop // the last one
	StopSeq    uint64
	StopTime   time.Time
	Private    []cell.PrivateLayer // of every launch: a layer outlives the one that made it
	Visits     int                 // of the last launch
	Guard      *guard.Tally        // of all launches
	Net        *record.Tally       // of all launches
	Exit       *cell.Exit
	Audit      *Audit
	AuditEntry string // seq:hash of the audit's event
	Intent     *gate.Landing
	Gate       *gate.Result
	Wait       *Wait     // for the obstacles that Gate names; as long as somebody works on it
	Then       *Then     // the operator's command after the landing
	Notices    []string  // what the operator was told of since the last launch
	Proposal   *Proposal // its result, as it is to be reviewed
	Amended    int       // attempts that answer a review
	Rejections int       // how often acceptance of this result has failed
	Waived     []Cause   // of this result, by releases
	Quarantine *Quarantine
	Release    *Release
	Attempts   int          // after the first
	Origin     git.OID      // of the last attempt: its base without what was carried over; "": the base
	Conflicts  []audit.Path // that its last attempt is to resolve
	Feedback   string       // what the last attempt is told; "": it is the first
	Earlier    string       // how it described its work in earlier attempts
	Inherited  []Doubt      // faults of earlier attempts that stay
	Discard    *Discard
	Removal    *Removal
	Created    time.Time
	Changed    time.Time // of its last event
	DiscardAt  time.Time
	Events     int
	Decisions  int           // how often somebody decided about it
	Last       *LastDecision // nil: nobody has decided yet
}

// Began is the commit that all of a worker's work is held against.
func (w *Worker) Began() git.OID { return cmp.Or(w.Origin, w.Lease.Lease().Base) }
