// Package home is the side of a fleet that has the repository. It offers the stages that no node
// has, grants them by its journal, hears beats, and takes results.
//
// The journal is the only truth. A grant is an event, and its number is the fence; a result that
// was taken is an event. When the process, the engine or the machine dies, the next home reads
// the journal and goes on. So it refuses to remember a grant or a result anywhere else, to take
// two results for one stage, and to decide what becomes of a result: the gate does.
package home

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/protocol"
	"cordon/internal/fleet/trial"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/ledger"
	"cordon/internal/legible"
)

// AnyClass is the class of offers that every node may take. Offers for one node have its key.
const AnyClass = "any"

// Stage is a stage that is to run on a node.
type Stage struct {
	Lease     string          // the worker's name
	Terms     json.RawMessage // as the home sealed them
	Hash      string          // of the terms
	Base      string
	On        string // the name of the node that the operator chose; "": any
	Needs     protocol.Needs
	Trial     *trial.Order // what is to be tested; nil: it runs a command
	Withdrawn bool
	Until     time.Time // when its lease expires
	Place     string    // what it was made from: another one is another stage
}

// Source are the stages of a home, by what its journal says about leases.
type Source interface {
	Stages() []Stage
	Stage(lease string) (Stage, bool)
	Returned() ([]protocol.Pack, error) // packs of results that nobody has unpacked yet
	Ticket(id string) (protocol.Ticket, bool)
}

// Bounds are how many stages of a client or of a provider run at the same time, by its name.
type Bounds struct{ Clients, Providers map[string]int }

// Home offers, grants and takes.
type Home struct {
	Engine  engine.Home
	Key     nkeys.KeyPair
	Fleet   string
	Program string
	Source  Source
	Lost    time.Duration // a grant without a beat for so long may go to another node
	Again   time.Duration // how often it offers what no node has
	MaxPack int64
	Packs   *Packs // nil: stages without files
	// Heed takes a report of a node that has the stage, and returns the offset of the next piece and the
	// operator's answers. nil: nobody does.
	Heed func(protocol.Report) (next int64, answers []string, err error)
	// Typed returns what the operator has typed for a stage that a node has. nil: nobody types.
	Typed func(protocol.Listen) []protocol.Stroke
	// Expel ends the connections of a node that was removed. nil: the engine cannot.
	Expel func(key string)
	// AtMost bounds the stages that run at the same time.
	AtMost Bounds
	// BackOffs are until when nothing of a provider is to start, by its name. nil: nobody knows.
	BackOffs func() map[string]time.Time
	// Backlog counts the results that are not judged yet, and with MaxBacklog of them the home grants nothing. nil: nobody counts.
	Backlog    func() int
	MaxBacklog int
	// Waits hears why each stage that no node has waits, by worker. nil: nobody does.
	Waits func(map[string]string)

	book     *book
	expelled map[string]bool
	heard    map[string]Heard     // by key; with the book
	behind   bool                 // too many results are not judged yet; with the book
	backOffs map[string]time.Time // as of the last round; with the book
	turns    int                  // counts the offers to chosen nodes
	counts   counts
}

// Open reads the journal. No other home may run for it until this one is gone.
func (h *Home) Open(log *journal.Journal) (err error) {
	h.expelled, h.heard = map[string]bool{}, map[string]Heard{}
	h.book, err = openBook(log)
	return err
}

// Run answers and offers until ctx ends.
func (h *Home) Run(ctx context.Context) error {
	if err := h.Engine.Answer(h.answer); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := h.look(); err != nil {
			return err
		}
		_ = h.Packs.Sweep(h.holds, h.Source.Returned) // what cannot be removed now is tried again
		h.offerAll(ctx)
		select {
		case <-ctx.Done():
		case <-time.After(h.Again):
		}
	}
	return nil
}

// look reads what the operator has decided about nodes meanwhile. A home whose journal cannot be
// believed ends.
func (h *Home) look() error {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	if err := h.book.refresh(); err != nil {
		return err
	}
	for key, m := range h.book.members {
		if m.Removed && !h.expelled[key] && h.Expel != nil {
			h.Expel(key)
			h.expelled[key] = true
		}
	}
	return nil
}

// alive reports whether a node has been heard of a grant lately.
func (h *Home) alive(g protocol.Grant, now time.Time) bool {
	return g.Node != "" && now.Sub(g.Renewed) < h.Lost
}

// holds reports whether a node has a stage under a fence, and nothing has come of it yet.
func (h *Home) holds(lease string, fence uint64) bool {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	s, ok := h.Source.Stage(lease)
	at := h.book.stage(s)
	return ok && at.Grant.Fence == fence && !at.Over && !at.Withdrawn
}

func (h *Home) offer(ctx context.Context, class string, s Stage) error {
	until := time.Now().Add(10 * h.Lost)
	if s.Until.Before(until) {
		until = s.Until
	}
	raw, err := protocol.Sign(protocol.Offer{
		Header: protocol.Header{Version: protocol.Version, Program: h.Program, Fleet: h.Fleet, Kind: protocol.OfferKind},
		Lease:  s.Lease, Terms: s.Terms, Hash: s.Hash, Until: until.UTC(),
	}, h.Key)
	if err != nil {
		return err
	}
	return h.Engine.Offer(ctx, class, s.Lease, raw)
}

// answer judges a question, writes down what it grants or takes, and answers. Whoever gets no
// answer asks again: without the event there is none.
func (h *Home) answer(sender string, raw []byte) []byte {
	a, j, err := h.decide(sender, raw, unchecked)
	if errors.Is(err, errUnchecked) { // to read the pack takes a while: the book is open to others
		pack := absent
		if h.Packs.has(j.Result.Pack) {
			pack = whole
		}
		a, j, err = h.decide(sender, raw, pack)
	}
	if err != nil {
		return nil
	}
	if (j.Want != nil || j.Fetch != nil || j.Put != nil) && !h.answerPack(j, &a) {
		return nil
	}
	if j.Put != nil && a.Verdict != protocol.Go && h.refuse(sender, a.Verdict) != nil {
		return nil
	}
	if j.Report != nil && h.Heed != nil {
		if a.Next, a.Answers, err = h.Heed(*j.Report); err != nil {
			return nil
		}
	}
	if j.Listen != nil && h.Typed != nil {
		a.Strokes = h.Typed(*j.Listen)
	}
	h.counts.note(a, j)
	said, err := protocol.Sign(a, h.Key)
	if err != nil {
		return nil
	}
	return said
}

// answerPack reads and writes files, with the book open to others. It reports whether there is an answer yet.
func (h *Home) answerPack(j protocol.Judgement, a *protocol.Answer) bool {
	base := ""
	if j.Want != nil {
		s, _ := h.Source.Stage(j.Want.Lease)
		base = s.Base
	}
	err := h.Packs.fill(j, git.OID(base), a)
	switch {
	case errors.Is(err, errNotYet):
		return false
	case errors.Is(err, errTooMany), errors.Is(err, errNoRoom):
		a.Verdict, a.Say = protocol.NoRoom, protocol.NoRoom.Say()
	case err != nil:
		a.Verdict, a.Say = protocol.NoPack, protocol.NoPack.Say()
	}
	return true
}

// tries is how often a home decides anew because others append to the journal meanwhile. A node that
// gets no answer asks again.
const tries = 20

// arrival says whether the pack of a result has arrived.
type arrival int

const (
	unchecked arrival = iota
	absent
	whole
)

var errUnchecked = errors.New("the pack of the result was not looked at")

// decide judges a question with the book in hand, and records what that changes.
func (h *Home) decide(sender string, raw []byte, pack arrival) (a protocol.Answer, j protocol.Judgement, err error) {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	for range tries {
		if err = h.book.refresh(); err != nil {
			return a, j, err
		}
		now := time.Now()
		judge := h.judgeAt(now)
		j = judge.Judge(raw, sender)
		switch r := j.Result; {
		case r == nil || j.Again || r.Commit == "":
		case pack == unchecked:
			return a, j, errUnchecked
		case pack == absent:
			j = protocol.Judgement{Verdict: protocol.NoPack, Key: j.Key, Kind: j.Kind, To: j.To, Program: j.Program}
		}
		h.hear(j, now)
		var fence uint64
		fence, err = h.record(j, sender, raw, now)
		if !errors.Is(err, errMoved) {
			return judge.Answer(j, fence), j, err
		}
	}
	return a, j, err
}

// judgeAt is what the home decides from. The book is locked.
func (h *Home) judgeAt(now time.Time) protocol.Home {
	b := h.book
	return protocol.Home{
		Fleet: h.Fleet, Program: h.Program, Now: now, Lost: h.Lost, MaxPack: h.MaxPack,
		Named: func(name string) bool { return b.find(name) != nil },
		Member: func(key string) (protocol.Member, bool) {
			if m := b.members[key]; m != nil {
				return m.Member, true
			}
			return protocol.Member{}, false
		},
		Stage: func(lease string) (protocol.Stage, bool) {
			s, ok := h.Source.Stage(lease)
			if !ok {
				return protocol.Stage{}, false
			}
			return b.stage(s), true
		},
		Room: func(key string, c protocol.Can, s protocol.Stage) bool { return h.full(key, c, s, now) == "" },
		Ticket: func(id string) (protocol.Ticket, bool) {
			t, ok := h.Source.Ticket(id)
			t.Used = t.Used || b.used[id]
			return t, ok
		},
	}
}

// record writes down what a judgement changes, and returns the fence of a new grant. It fails with
// errMoved if the judgement is another by then.
func (h *Home) record(j protocol.Judgement, sender string, raw []byte, now time.Time) (fence uint64, err error) {
	b := h.book
	same := func() bool { return h.judgeAt(now).Judge(raw, sender).Verdict == j.Verdict }
	switch {
	case j.Ask != nil && j.Fence == 0:
		return b.appendFor(j.Ask.Lease, Granted, Grant{Node: j.Key, Name: b.members[j.Key].Name, Terms: j.Ask.Hash}, same)
	case j.Beat != nil:
		g := &b.hand(j.Beat.Lease).grant
		g.Renewed, g.Beats = now, j.Beat.Count
	case j.Result != nil && !j.Again:
		r := j.Result
		_, err = b.appendFor(r.Lease, Returned, Return{
			Node: j.Key, Fence: j.Fence, Sum: j.To, Manifest: raw,
			Base: git.OID(r.Base), Commit: git.OID(r.Commit), Pack: r.Pack, Exit: r.Exit, Ending: legible.PlainLine(r.Ending[:min(len(r.Ending), maxEnding)]),
			Verdict: r.Verdict,
			Limited: r.Limited,
		}, same)
	case j.Join != nil && b.members[j.Key] == nil:
		_, err = b.append("", Joined, Member{Name: j.Join.Name, Key: j.Key, Ticket: j.Join.Ticket}, same)
	case refusedResult(j) && b.members[j.Key] != nil:
		err = errors.Join(b.refuse(sender, j.Verdict), h.endTrial(j))
	case j.Verdict == protocol.Unsigned && b.members[sender] != nil:
		err = b.refuse(sender, j.Verdict)
	}
	return 0, err
}

// endTrial withdraws a trial whose node returned a verdict that was refused: the session that waits for it tests the tree itself.
// The book is locked.
func (h *Home) endTrial(j protocol.Judgement) error {
	s, ok := h.Source.Stage(j.Lease)
	at := h.book.stage(s)
	if !ok || s.Trial == nil || at.Grant.Node != j.Key || at.Over || at.Withdrawn {
		return nil
	}
	why := "the verdict of " + h.book.members[j.Key].Name + " is refused: " + j.Verdict.Say()
	_, err := h.book.appendFor(s.Lease, ledger.Withdrawn, ledger.Withdrawal{Why: why}, func() bool { return true })
	return err
}

// refuse writes down that the pack of a node's result was not taken.
func (h *Home) refuse(node string, why protocol.Verdict) error {
	h.book.mu.Lock()
	defer h.book.mu.Unlock()
	return h.book.refuse(node, why)
}

// maxEnding bounds what a node says about how its command ended.
const maxEnding = 200

// refusedResult reports whether a judgement refuses a result or its pack, which a node sends first. Other refusals change
// nothing and may come from anybody.
func refusedResult(j protocol.Judgement) bool {
	result := j.Kind == protocol.ResultKind || j.Kind == protocol.PutKind
	return result && j.Result == nil && j.Put == nil && j.Verdict != protocol.Unknown && j.Verdict != protocol.OtherSender
}
