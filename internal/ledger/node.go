package ledger

import (
	"slices"
	"time"

	"cordon/internal/journal"
)

// The types of event about the nodes of a fleet. They name no worker.
const (
	NodeJoined  = "+fleet.joined"  // Member
	NodeDrained = "+fleet.drained" // Member: it gets nothing new
	NodeResumed = "+fleet.resumed" // Member: it does again
	NodeRemoved = "+fleet.removed" // Member: it is believed nothing any more
)

// Member is the data of these events.
type Member struct {
	Name   string `json:"name"`
	Key    string `json:"key"`
	Ticket string `json:"ticket,omitempty"` // with which it joined
}

// Node is a machine that runs stages, as the journal has it.
type Node struct {
	Name     string
	Key      string
	Joined   time.Time
	Draining bool
	Removed  bool
}

func isNodeEvent(typ string) bool {
	return slices.Contains([]string{NodeJoined, NodeDrained, NodeResumed, NodeRemoved}, typ)
}

// applyNode folds an event about a node.
func (l *Ledger) applyNode(e journal.Event) error {
	var m Member
	if err := read(e, &m); err != nil {
		return err
	}
	if e.Type == NodeJoined {
		l.Nodes = append(slices.Clone(l.Nodes), Node{Name: m.Name, Key: m.Key, Joined: e.Time})
		return nil
	}
	i := slices.IndexFunc(l.Nodes, func(n Node) bool { return n.Key == m.Key })
	if i < 0 {
		return nil
	}
	l.Nodes = slices.Clone(l.Nodes) // somebody may be looking at the list before
	switch n := &l.Nodes[i]; e.Type {
	case NodeDrained:
		n.Draining = true
	case NodeResumed:
		n.Draining = false
	case NodeRemoved:
		n.Removed = true
	}
	return nil
}

// Node is the node that has a name. One that was removed has none.
func (l *Ledger) Node(name string) (Node, bool) {
	for _, n := range l.Nodes {
		if n.Name == name && !n.Removed {
			return n, true
		}
	}
	return Node{}, false
}
