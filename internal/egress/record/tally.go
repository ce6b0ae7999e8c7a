package record

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
)

// How much is counted apart.
const (
	maxTried = 2048    // of a kind and a verdict: many of one leave the others their room
	maxOpen  = 1 << 16 // connections at once of which the end is awaited
)

// Tally sums up what a worker tried.
type Tally struct {
	Allowed  int     `json:"allowed"` // connections
	Refused  int     `json:"refused"`
	Failed   int     `json:"failed,omitempty"`
	Sent     int64   `json:"sent"`
	Received int64   `json:"received"`
	Resolved int     `json:"resolved,omitempty"` // names that were looked up outside and not connected to
	Tried    []Tried `json:"tried,omitempty"`    // what has a name first, and of that the most frequent
	More     int     `json:"more,omitempty"`     // allowed, refused and failed ones that are not in Tried
	Left     int     `json:"left,omitempty"`     // names and addresses that were refused and are not in Tried
	Crowded  bool    `json:"crowded,omitempty"`  // there are more than Left says: nobody could count so many
	Damaged  int     `json:"damaged,omitempty"`  // lines that could not be read
	Digest   string  `json:"digest,omitempty"`   // SHA-256 of the file that it was read from; journals before it have none
}

// Tried is one thing that a worker tried, however often.
type Tried struct {
	Kind     Kind    `json:"kind,omitempty"`
	Name     string  `json:"name,omitempty"` // or the address
	Port     uint16  `json:"port,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Reason   string  `json:"reason,omitempty"`  // the first
	Various  bool    `json:"various,omitempty"` // there were others
	Allow    string  `json:"allow,omitempty"`   // as in a Record
	Count    int     `json:"count"`
	Sent     int64   `json:"sent,omitempty"`
	Received int64   `json:"received,omitempty"`
}

// Top is the tally with only its first entries. Half of them are for what was
// refused: much that was allowed does not hide that.
func (t Tally) Top(n int) Tally {
	if n < 0 || len(t.Tried) <= n {
		return t
	}
	taken := map[int]bool{}
	take := func(most int, which func(Tried) bool) {
		for i, one := range t.Tried {
			if len(taken) < most && which(one) {
				taken[i] = true
			}
		}
	}
	take((n+1)/2, func(one Tried) bool { return one.Verdict == Refused && one.particular() })
	take(n, func(Tried) bool { return true })
	top, before := t, t.refusedNames()
	top.Tried = nil
	for i, one := range t.Tried {
		if taken[i] {
			top.Tried = append(top.Tried, one)
		}
	}
	top.Left = addInt(top.Left, len(before)-len(top.refusedNames()))
	top.More = top.untoldAll()
	return top
}

// untold is how many of a verdict are not in Tried.
func (t Tally) untold(v Verdict) int {
	n := map[Verdict]int{Allowed: t.Allowed, Refused: t.Refused, Failed: t.Failed}[v]
	for _, one := range t.Tried {
		if one.Verdict == v && !one.lookup() {
			n = max(n-one.Count, 0)
		}
	}
	return n
}

func (t Tally) untoldAll() int {
	return addInt(t.untold(Allowed), addInt(t.untold(Refused), t.untold(Failed)))
}

// refusedNames are the names and addresses in Tried that were refused.
func (t Tally) refusedNames() map[string]bool {
	names := map[string]bool{}
	for _, one := range t.Tried {
		if one.Verdict == Refused && one.particular() {
			names[one.Name] = true
		}
	}
	return names
}

// particular reports whether it is about something that the worker named. A limit is
// about how much it tried.
func (t Tried) particular() bool { return t.Name != "" && !IsLimit(t.Reason) }

// names is how many names were looked up. Those that have none here had no room.
func (t Tried) names() int {
	switch {
	case !t.lookup():
		return 0
	case t.Name == "":
		return t.Count
	}
	return 1
}

// lookup reports whether it is a name that was looked up.
func (t Tried) lookup() bool { return t.Kind == Resolve && t.Verdict == Allowed }

// IsLimit reports whether a reason is that there was too much. No reason begins with
// what a worker wrote but for a name.
func IsLimit(reason string) bool {
	return strings.HasPrefix(reason, "more than ") || strings.HasPrefix(reason, ErrSpent.Error())
}

// triedKey is what things that are counted together have in common. The reason is no
// part of it: some have the words of the worker in them, which can all be different.
type triedKey struct {
	kind    Kind
	name    string
	port    uint16
	verdict Verdict
	limit   bool
}

func keyOf(r Record) triedKey {
	return triedKey{r.Kind, cmp.Or(r.Name, r.Address), r.Port, r.Verdict, IsLimit(r.Reason)}
}

// class is what shares its room in a tally.
type class struct {
	kind    Kind
	verdict Verdict
}

// counts is a tally that grows. Its zero value is empty.
type counts struct {
	sum     Tally
	tried   map[triedKey]*Tried
	apart   map[class]int    // of tried
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
		c.open[r.ID] = Record{Kind: r.Kind, Name: r.Name, Address: r.Address, Port: r.Port, Verdict: r.Verdict}
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
	switch {
	case r.Verdict == Allowed && r.Kind == Resolve: // no connection
	case r.Verdict == Allowed:
		c.sum.Allowed = addInt(c.sum.Allowed, n)
	case r.Verdict == Failed:
		c.sum.Failed = addInt(c.sum.Failed, n)
	default:
		c.sum.Refused = addInt(c.sum.Refused, n)
	}
	t := c.entry(r)
	if t == nil {
		c.crowd(r)
		return
	}
	t.Various = t.Various || r.Various || t.Reason != r.Reason
	t.Allow = cmp.Or(t.Allow, r.Allow)
	t.Count = addInt(t.Count, n)
}

// entry is where a record is counted; nil: there is no room to count it apart.
func (c *counts) entry(r Record) *Tried {
	key, of := keyOf(r), class{r.Kind, r.Verdict}
	if t := c.tried[key]; t != nil || c.apart[of] >= maxTried {
		return t
	}
	if c.tried == nil {
		c.tried, c.apart = map[triedKey]*Tried{}, map[class]int{}
	}
	t := &Tried{Kind: key.kind, Name: key.name, Port: key.port, Verdict: key.verdict, Reason: r.Reason}
	c.tried[key] = t
	c.apart[of]++
	return t
}

// crowd notes that a record is not counted apart.
func (c *counts) crowd(r Record) {
	switch {
	case r.Verdict == Refused:
		c.sum.Crowded = true
	case r.Verdict == Allowed && r.Kind == Resolve:
		c.sum.Resolved = addInt(c.sum.Resolved, r.times())
	}
}

func (c *counts) tally() Tally {
	t := c.sum
	t.Damaged = c.damaged
	connected := c.connected()
	for _, one := range c.tried {
		// What was resolved and connected to is told by its connections.
		switch told := one.Kind == Resolve && connected[one.Name]; {
		case told && one.Verdict == Refused:
			t.Refused = max(t.Refused-one.Count, 0)
		case !told:
			t.Tried = append(t.Tried, *one)
			t.Resolved = addInt(t.Resolved, one.names())
		}
	}
	slices.SortFunc(t.Tried, compareTried)
	t.More = t.untoldAll()
	return t
}

// connected are the names to which connections were tried.
func (c *counts) connected() map[string]bool {
	names := map[string]bool{}
	for key := range c.tried {
		if key.kind == Connect && key.name != "" {
			names[key.name] = true
		}
	}
	return names
}

// compareTried puts what is about something in particular first.
func compareTried(a, b Tried) int {
	vague := func(t Tried) int {
		if t.particular() {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(vague(a), vague(b)), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Port, b.Port),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Reason, b.Reason))
}

// addInt adds numbers that are not negative, and stays at the largest one.
func addInt[T int | int64](a, b T) T {
	if sum := a + b; sum >= a {
		return sum
	}
	return T(math.MaxInt)
}

// ErrSpent is the reason of everything that is refused once the bytes of a launch are used up.
var ErrSpent = errors.New("the bytes of this launch are used up")
