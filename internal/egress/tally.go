package egress

import (
	"cmp"
	"math"
	"slices"
)

// How much is counted apart.
const (
	maxTried = 4096
	maxOpen  = 1 << 16 // connections at once of which the end is awaited
)

// Tally sums up what a worker tried.
type Tally struct {
	Allowed  int     `json:"allowed"`
	Refused  int     `json:"refused"`
	Failed   int     `json:"failed,omitempty"`
	Sent     int64   `json:"sent"`
	Received int64   `json:"received"`
	Tried    []Tried `json:"tried,omitempty"`   // the most frequent first
	More     int     `json:"more,omitempty"`    // others that are not in Tried
	Damaged  int     `json:"damaged,omitempty"` // lines that could not be read
}

// Tried is one thing that a worker tried, however often.
type Tried struct {
	Kind     Kind    `json:"kind,omitempty"`
	Name     string  `json:"name,omitempty"` // or the address
	Port     uint16  `json:"port,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Reason   string  `json:"reason,omitempty"`
	Allow    string  `json:"allow,omitempty"` // as in a Record
	Count    int     `json:"count"`
	Sent     int64   `json:"sent,omitempty"`
	Received int64   `json:"received,omitempty"`
}

// Top is the tally with only its first entries.
func (t Tally) Top(n int) Tally {
	if n < 0 || len(t.Tried) <= n {
		return t
	}
	for _, left := range t.Tried[n:] {
		t.More = addInt(t.More, left.Count)
	}
	t.Tried = slices.Clip(t.Tried[:n])
	return t
}

// triedKey is what things that are counted together have in common.
type triedKey struct {
	kind    Kind
	name    string
	port    uint16
	verdict Verdict
	reason  string
}

func keyOf(r Record) triedKey {
	return triedKey{r.Kind, cmp.Or(r.Name, r.Address), r.Port, r.Verdict, r.Reason}
}

// counts is a tally that grows. Its zero value is empty.
type counts struct {
	sum     Tally
	tried   map[triedKey]*Tried
	open    map[int64]Record // connections that have no end yet
	damaged int
}

// add counts a record. The end of a connection comes back with what is known of
// its beginning, so that it can stand alone.
func (c *counts) add(r Record) Record {
	if r.Kind == End {
		return c.end(r)
	}
	c.count(r)
	if r.Verdict == Allowed && r.ID != 0 && len(c.open) < maxOpen {
		if c.open == nil {
			c.open = map[int64]Record{}
		}
		c.open[r.ID] = Record{Kind: r.Kind, Name: r.Name, Address: r.Address, Port: r.Port, Verdict: r.Verdict, Reason: r.Reason}
	}
	return r
}

// end adds the bytes of a connection to what it was, and counts why it was cut.
func (c *counts) end(r Record) Record {
	began, ok := c.open[r.ID]
	if ok && r.ID != 0 {
		delete(c.open, r.ID)
		r.Name, r.Address, r.Port = cmp.Or(r.Name, began.Name), cmp.Or(r.Address, began.Address), cmp.Or(r.Port, began.Port)
	} else {
		began = r
		began.Kind, began.Verdict, began.Reason = Connect, Allowed, ""
	}
	c.sum.Sent = addInt(c.sum.Sent, r.Sent)
	c.sum.Received = addInt(c.sum.Received, r.Received)
	if t := c.tried[keyOf(began)]; t != nil {
		t.Sent, t.Received = addInt(t.Sent, r.Sent), addInt(t.Received, r.Received)
	}
	if r.Verdict != Allowed {
		cut := r
		cut.Kind = Connect
		c.count(cut)
	}
	return r
}

func (c *counts) count(r Record) {
	n := r.times()
	switch r.Verdict {
	case Allowed:
		c.sum.Allowed = addInt(c.sum.Allowed, n)
	case Failed:
		c.sum.Failed = addInt(c.sum.Failed, n)
	default:
		c.sum.Refused = addInt(c.sum.Refused, n)
	}
	key := keyOf(r)
	t := c.tried[key]
	if t == nil && len(c.tried) >= maxTried {
		c.sum.More = addInt(c.sum.More, n)
		return
	}
	if t == nil {
		if c.tried == nil {
			c.tried = map[triedKey]*Tried{}
		}
		t = &Tried{Kind: key.kind, Name: key.name, Port: key.port, Verdict: key.verdict, Reason: key.reason}
		c.tried[key] = t
	}
	t.Allow = cmp.Or(t.Allow, r.Allow)
	t.Count = addInt(t.Count, n)
}

func (c *counts) tally() Tally {
	t := c.sum
	t.Damaged = c.damaged
	for _, one := range c.tried {
		t.Tried = append(t.Tried, *one)
	}
	connected := t.connected()
	for _, one := range t.Tried {
		if one.Verdict == Refused && one.Kind == Resolve && connected[one.Name] {
			t.Refused -= one.Count // its connections are counted
		}
	}
	slices.SortFunc(t.Tried, func(a, b Tried) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Port, b.Port),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Reason, b.Reason))
	})
	return t
}

// addInt adds numbers that are not negative, and stays at the largest one.
func addInt[T int | int64](a, b T) T {
	if sum := a + b; sum >= a {
		return sum
	}
	return T(math.MaxInt)
}
