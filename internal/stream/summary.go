package stream

import "strings"

// What is in a cell can write into the stream, and what is kept of it is kept by the
// supervisor: nothing here may grow with it.
const (
	maxCalls = 20_000    // that a summary lists
	maxKept  = 4 << 20   // bytes of their texts
	maxLast  = 4 << 10   // bytes of the last words
	MaxName  = 256       // bytes of an ID, of a tool's name, of a model's
	MaxInput = 200       // characters of what is shown of an input
	MaxText  = 256 << 10 // bytes of the words of one item
	maxCost  = 1e9       // US dollars that are believed
)

// collector makes the summary of a stream.
type collector struct {
	sum  Summary
	kept int            // bytes of the texts of Calls
	open map[string]int // where in Calls a call that has not ended is
}

// Kept is the beginning of a text, as one of its own: a part of a text holds all of it.
func Kept(s string, most int) string { return strings.Clone(cut(s, most)) }

// bounded is an item whose texts are no longer than what is kept of any.
func (i Item) bounded() Item {
	i.Text = cut(i.Text, MaxText)
	for _, name := range []*string{&i.Call.ID, &i.Call.Tool, &i.Session, &i.Model, &i.Reason, &i.Under} {
		*name = Kept(*name, MaxName)
	}
	i.Call.Input = Kept(i.Call.Input, 4*MaxInput)
	return i
}

func (c *collector) add(i Item) {
	switch i.Kind {
	case Began:
		c.sum.Session, c.sum.Model = Or(i.Session, c.sum.Session), Or(i.Model, c.sum.Model)
	case Said:
		if i.Under == "" {
			c.sum.Last = Kept(i.Text, maxLast)
		}
	case Called:
		c.called(i.Call)
	case Told:
		c.told(i.Call)
	case Used:
		c.sum.Usage = i.Usage
		if u := &c.sum.Usage; !(u.Cost >= 0 && u.Cost < maxCost) { // no number, too
			u.Cost = 0
		}
	case Over:
		c.sum.Reason, c.sum.Failed = i.Reason, i.Failed
	case Unknown:
		c.sum.Unknown++
	}
}

func (c *collector) called(call Call) {
	if c.full() {
		c.sum.More++ // so that nobody believes the list to be complete
		return
	}
	c.kept += len(call.ID) + len(call.Tool) + len(call.Input)
	if c.open == nil {
		c.open = map[string]int{}
	}
	if at, open := c.open[call.ID]; open {
		c.sum.Calls[at].Ran = true // its end would be taken for that of this one
	}
	c.open[call.ID] = len(c.sum.Calls)
	c.sum.Calls = append(c.sum.Calls, call)
}

func (c *collector) full() bool { return len(c.sum.Calls) >= maxCalls || c.kept >= maxKept }

// told ends a call. One that was never begun is a call all the same.
func (c *collector) told(call Call) {
	at, begun := c.open[call.ID]
	if !begun && c.sum.More > 0 {
		return // it was counted when it began
	}
	if !begun {
		c.called(call)
		delete(c.open, call.ID)
		return
	}
	delete(c.open, call.ID)
	have := &c.sum.Calls[at]
	have.Ended, have.Failed, have.Ran = true, call.Failed, call.Ran
}

// tool is the name of a call that has begun, for those who only tell its ID.
func (c *collector) tool(id string) string {
	if at, ok := c.open[id]; ok {
		return c.sum.Calls[at].Tool
	}
	return ""
}

func Or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
