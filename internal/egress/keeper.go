package egress

import (
	"io"
	"net/netip"
)

// Keeper writes records down, one line each, and counts them.
type Keeper struct{}

// NewKeeper keeps records in a file; nil only counts them.
func NewKeeper(w io.Writer) *Keeper { return &Keeper{} }

// Record keeps one.
func (k *Keeper) Record(r Record) {}

// Tally is what was kept so far.
func (k *Keeper) Tally() Tally { return Tally{} }

// Close writes down what was only counted.
func (k *Keeper) Close() error { return nil }

// Tally sums up what a worker tried.
type Tally struct {
	Allowed  int     `json:"allowed"`
	Refused  int     `json:"refused"`
	Failed   int     `json:"failed,omitempty"`
	Sent     int64   `json:"sent"`
	Received int64   `json:"received"`
	Tried    []Tried `json:"tried,omitempty"` // the most frequent first
	More     int     `json:"more,omitempty"`  // others that are not in Tried
}

// Tried is one thing that a worker tried, however often.
type Tried struct {
	Name     string  `json:"name,omitempty"` // or the address
	Port     uint16  `json:"port,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Reason   string  `json:"reason,omitempty"`
	Count    int     `json:"count"`
	Sent     int64   `json:"sent,omitempty"`
	Received int64   `json:"received,omitempty"`
}

// Lines are what a person is told of it at the end of a run.
func (t Tally) Lines() []string { return nil }

// Suggest are entries of allowed_domains that would let pass what was refused.
func (t Tally) Suggest() []string { return nil }

// ReadRecords reads what a Keeper wrote.
func ReadRecords(r io.Reader, each func(Record)) (Tally, error) { return Tally{}, nil }

// Owner finds the process of a cell that has a socket, by the cell's first process.
func Owner(pid int) func(from, to netip.AddrPort) string {
	return func(netip.AddrPort, netip.AddrPort) string { return "" }
}
