// Package record keeps what became of everything that a worker tried to reach: one
// line for each decision, a tally of all of them, and the lines that a person is shown
// at the end of a run.
//
// It decides nothing and reaches nothing. It refuses to trust what it keeps: names
// and reasons hold words of the worker, so that it cuts them, makes them printable
// and bounds how many it counts apart; a file that it reads may have been written by
// somebody else.
package record

import (
	"time"
)

// Verdict is what became of something that a worker tried.
type Verdict string

// The verdicts.
const (
	Allowed Verdict = "allow"
	Refused Verdict = "refuse"
	Failed  Verdict = "fail" // it was allowed, and the other side did not answer
)

// Kind is what a worker tried.
type Kind string

// The kinds.
const (
	Connect Kind = "connect" // TCP
	Resolve Kind = "resolve" // a name: it was refused, or looked up outside
	Packet  Kind = "packet"  // anything else
	End     Kind = "end"     // of a connection that was allowed
)

// Record is one decision as it is kept.
type Record struct {
	Time     time.Time `json:"time"`
	Kind     Kind      `json:"kind"`
	ID       int64     `json:"id,omitempty"`      // of the connection: its End has the same
	Name     string    `json:"name,omitempty"`    // as the worker resolved it
	Address  string    `json:"address,omitempty"` // the real one
	Port     uint16    `json:"port,omitempty"`
	Verdict  Verdict   `json:"verdict"`
	Reason   string    `json:"reason,omitempty"`
	Various  bool      `json:"various,omitempty"` // it stands for others with another reason, too
	Allow    string    `json:"allow,omitempty"`   // the entry of allowed_domains, or :port of host_ports, that would let it pass
	Process  string    `json:"process,omitempty"`
	Sent     int64     `json:"sent,omitempty"`     // bytes, by the worker
	Received int64     `json:"received,omitempty"` // bytes, by the worker
	Millis   int64     `json:"ms,omitempty"`       // of the connection
	Count    int       `json:"count,omitempty"`    // how many alike this line stands for; 0 is one
}
