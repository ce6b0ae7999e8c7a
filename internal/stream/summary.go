package stream

const (
	maxCalls = 100_000   // that a summary lists
	maxLast  = 64 << 10  // bytes of the last words
	maxInput = 200       // characters of what is shown of an input
	maxText  = 256 << 10 // bytes of the words of one item
)

// collector makes the summary of a stream.
type collector struct {
	sum  Summary
	open map[string]int // where in Calls a call that has not ended is
}

func (c *collector) add(i Item) {
	switch i.Kind {
	case Began:
		c.sum.Session, c.sum.Model = or(i.Session, c.sum.Session), or(i.Model, c.sum.Model)
	case Said:
		if i.Under == "" {
			c.sum.Last = cut(i.Text, maxLast)
		}
	case Called:
		c.called(i.Call)
	case Told:
		c.told(i.Call)
	case Used:
		c.sum.Usage = i.Usage
	case Over:
		c.sum.Reason, c.sum.Failed = i.Reason, i.Failed
	case Unknown:
		c.sum.Unknown++
	}
}

func (c *collector) called(call Call) {
	if len(c.sum.Calls) >= maxCalls {
		c.sum.Unknown++ // so that nobody believes the list to be complete
		return
	}
	if c.open == nil {
		c.open = map[string]int{}
	}
	c.open[call.ID] = len(c.sum.Calls)
	c.sum.Calls = append(c.sum.Calls, call)
}

// told ends a call. One that was never begun is a call all the same.
func (c *collector) told(call Call) {
	at, begun := c.open[call.ID]
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

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
