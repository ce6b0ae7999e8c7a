package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"cordon/internal/fleet/protocol"
	"cordon/internal/fleet/trial"
	"cordon/internal/journal"
	"cordon/internal/ledger"
)

// The types of event. Each is additive: a cordon that knows no fleets skips them.
const (
	Joined   = ledger.NodeJoined
	Drained  = ledger.NodeDrained
	Resumed  = ledger.NodeResumed
	Removed  = ledger.NodeRemoved
	Granted  = ledger.Granted   // Grant of a worker; the number of the event is the fence
	Returned = ledger.Returned  // Return of a worker: its result was taken
	Refused  = "+fleet.refused" // Refusal: a result, or its pack, was not taken
)

// Member is the data of Joined, Drained, Resumed and Removed, Grant that of Granted, and Return that of Returned.
type (
	Member = ledger.Member
	Grant  = ledger.Grant
	Return = ledger.Return
)

// Refusal is the data of Refused.
type Refusal struct {
	Node string           `json:"node"` // as the engine names it
	Why  protocol.Verdict `json:"why"`
}

// book is what a journal says about a fleet, and the beats, which no journal holds. The running
// home appends grants and results; the operator's commands append the others, also while a home
// runs. So each reads what is new before it decides.
type book struct {
	mu   sync.Mutex
	log  *journal.Journal
	view *journal.View
	folded
}

// folded is the fold of the journal.
type folded struct {
	members map[string]*member // by key
	used    map[string]bool    // tickets
	hands   map[string]*hand   // by the name of the stage
	refused map[string]int     // refusals in the journal, by node
	grants  int
	returns int
}

// member is a node.
type member struct {
	protocol.Member
	joined   time.Time
	returned int
}

// maxRefusals is how many results of a node are refused in the journal: a node that goes on is not
// to fill the disk.
const maxRefusals = 100

// hand is where a stage is.
type hand struct {
	grant     protocol.Grant
	result    string // sum of the manifest that was taken; "": none
	withdrawn bool
}

// openBook reads a journal. Grants that it finds are taken to be renewed now: nobody heard
// beats while no home ran.
func openBook(log *journal.Journal) (*book, error) {
	b := &book{log: log}
	b.view = log.View("", &b.folded)
	return b, b.refresh()
}

// refresh reads what is new. The book is locked.
func (b *book) refresh() error { return b.view.Refresh(nil) }

// errMoved says that the journal does not say any more what was decided from.
var errMoved = errors.New("the journal has changed")

// append writes an event and folds it, if the condition holds when nobody else can append. The
// book is locked.
func (b *book) append(worker, typ string, data any, holds func() bool) (uint64, error) {
	e, err := b.log.AppendIf(worker, typ, data, b.view, func() error {
		if !holds() {
			return errMoved
		}
		return nil
	})
	return e.Seq, err
}

// appendFor is append for a stage: the event is about its worker, whose command it runs or whose result it tests.
func (b *book) appendFor(stage, typ string, data any, holds func() bool) (uint64, error) {
	if worker, ok := trial.Worker(stage); ok {
		return b.append(worker, ledger.TrialType(typ), data, holds)
	}
	return b.append(stage, typ, data, holds)
}

// refuse writes down that a result of a node was not taken, unless there are many of it. The book is locked.
func (b *book) refuse(node string, why protocol.Verdict) error {
	if b.refused[node] >= maxRefusals {
		return nil
	}
	_, err := b.append("", Refused, Refusal{Node: node, Why: why}, func() bool { return true })
	return err
}

func (f *folded) hand(worker string) *hand {
	if f.hands[worker] == nil {
		f.hands[worker] = &hand{}
	}
	return f.hands[worker]
}

// Restore is that of journal.Fold: it begins anew.
func (f *folded) Restore([]byte) error {
	*f = folded{members: map[string]*member{}, used: map[string]bool{}, hands: map[string]*hand{}, refused: map[string]int{}}
	return nil
}

// Wants is that of journal.Fold. There are no checkpoints of a book.
func (f *folded) Wants(string, string) bool { return false }

// Memo is that of journal.Fold.
func (f *folded) Memo() ([]byte, error) { return []byte("{}"), nil }

// Apply is that of journal.Fold.
func (f *folded) Apply(e journal.Event) error {
	var err error
	stage, typ := e.Worker, e.Type
	of, tests := ledger.OfTrial(typ)
	if tests {
		stage, typ = trial.Name(e.Worker), of
	}
	switch typ {
	case Joined, Drained, Resumed, Removed:
		err = f.applyMember(e)
	case ledger.Offered, ledger.Attempted: // whatever was granted or returned before counts no more
		f.hands[stage] = &hand{}
	case ledger.Withdrawn, ledger.Discarded:
		f.hand(stage).withdrawn = true
	case Granted:
		var g Grant
		err = json.Unmarshal(e.Data, &g)
		f.grants++
		f.hand(stage).grant = protocol.Grant{Fence: e.Seq, Node: g.Node, Hash: g.Terms, Renewed: time.Now()}
	case Returned:
		var r Return
		err = json.Unmarshal(e.Data, &r)
		f.hand(stage).result = r.Sum
		if tests { // a verdict is no result
			break
		}
		f.returns++
		if m := f.members[r.Node]; m != nil {
			m.returned++
		}
	case Refused:
		var r Refusal
		err = json.Unmarshal(e.Data, &r)
		f.refused[r.Node]++
	}
	if err != nil {
		return fmt.Errorf("event %d: %w", e.Seq, err)
	}
	return nil
}

func (f *folded) applyMember(e journal.Event) error {
	var m Member
	if err := json.Unmarshal(e.Data, &m); err != nil {
		return err
	}
	if e.Type == Joined {
		f.members[m.Key] = &member{Member: protocol.Member{Name: m.Name, Key: m.Key}, joined: e.Time}
		f.used[m.Ticket] = true
		return nil
	}
	known := f.members[m.Key]
	if known == nil {
		return nil
	}
	switch e.Type {
	case Drained:
		known.Draining = true
	case Resumed:
		known.Draining = false
	case Removed:
		known.Removed = true
	}
	return nil
}

// stage completes what the source says of a stage.
func (f *folded) stage(s Stage) protocol.Stage {
	h := f.hand(s.Lease)
	return protocol.Stage{
		Lease: s.Lease, Hash: s.Hash, Base: s.Base, On: s.On, Needs: s.Needs, Trial: s.Trial, Withdrawn: s.Withdrawn || h.withdrawn,
		Over: h.result != "", Result: h.result, Grant: h.grant,
	}
}

// find is the node that has a name.
func (f *folded) find(name string) *member {
	for _, m := range f.members {
		if m.Name == name && !m.Removed {
			return m
		}
	}
	return nil
}

// sorted are all nodes, by name and then by when they joined.
func (f *folded) sorted() (all []*member) {
	for _, m := range f.members {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *member) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return a.joined.Compare(b.joined)
	})
	return all
}
