package home

import (
	"errors"
	"slices"
	"time"

	"cordon/internal/fleet/trial"
	"cordon/internal/journal"
)

// Standing is how a node stands.
type Standing string

// The standings.
const (
	Ready    Standing = "ready"
	Draining Standing = "draining" // it finishes what it has
	Gone     Standing = "removed"
)

// Node is a node, as the journal has it.
type Node struct {
	Name     string
	Key      string
	Standing Standing
	Joined   time.Time
	Holds    []string // workers whose stage it has, or whose result it tests
	Returned int      // results that were taken
	Refused  int      // results that were refused
}

// Nodes are all nodes that ever joined, by name and then by when they joined.
func Nodes(log *journal.Journal) ([]Node, error) {
	b, err := openBook(log)
	if err != nil {
		return nil, err
	}
	var all []Node
	for _, m := range b.sorted() {
		n := Node{Name: m.Name, Key: m.Key, Standing: Ready, Joined: m.joined, Returned: m.returned, Refused: b.refused[m.Key]}
		switch {
		case m.Removed:
			n.Standing = Gone
		case m.Draining:
			n.Standing = Draining
		}
		for stage, h := range b.hands {
			if h.grant.Node == m.Key && h.result == "" && !h.withdrawn && !m.Removed {
				worker, _ := trial.Worker(stage)
				n.Holds = append(n.Holds, worker)
			}
		}
		slices.Sort(n.Holds)
		all = append(all, n)
	}
	return all, nil
}

// ErrNoNode says that no node has a name.
var ErrNoNode = errors.New("the fleet has no node with this name: cordon fleet ls lists them")

// Drain lets a node finish what it has, and gives it nothing new. A home that runs obeys at once.
func Drain(log *journal.Journal, name string) error { return change(log, name, Drained) }

// Resume ends Drain.
func Resume(log *journal.Journal, name string) error { return change(log, name, Resumed) }

// Remove believes a node nothing any more. What it has goes to others.
func Remove(log *journal.Journal, name string) error { return change(log, name, Removed) }

// change records what the operator decides about a node. A change that is there already is none.
func change(log *journal.Journal, name, typ string) error {
	b, err := openBook(log)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.find(name)
	switch {
	case m == nil:
		return ErrNoNode
	case typ == Drained && m.Draining, typ == Resumed && !m.Draining:
		return nil
	}
	_, err = b.append("", typ, Member{Name: m.Name, Key: m.Key}, func() bool {
		now := b.members[m.Key]
		return now != nil && !now.Removed
	})
	if errors.Is(err, errMoved) {
		return ErrNoNode // somebody else has just removed it
	}
	return err
}
