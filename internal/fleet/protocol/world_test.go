package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
)

// world is a home with a journal that is a list, and the keys of everybody.
type world struct {
	t                     *testing.T
	own, alice, bob, evil nkeys.KeyPair // the home; two nodes; somebody who is neither
	now                   time.Time
	events                int // so many are in the journal
	members               map[string]*Member
	stages                map[string]*Stage
	tickets               map[string]*Ticket
	number                int
}

const (
	base   = "1111111111111111111111111111111111111111"
	commit = "2222222222222222222222222222222222222222"
	terms  = `{"schema":"cordon.terms/1"}`
)

var (
	hash = sha(terms)
	pack = Pack{Sum: sha("pack"), Size: 4}
)

func sha(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func newWorld(t *testing.T) *world {
	w := &world{
		t: t, own: newKey(t), alice: newKey(t), bob: newKey(t), evil: newKey(t), now: time.Unix(1e9, 0), events: 7,
		members: map[string]*Member{}, stages: map[string]*Stage{}, tickets: map[string]*Ticket{},
	}
	w.members[w.public(w.alice)] = &Member{Name: "alice", Key: w.public(w.alice)}
	w.members[w.public(w.bob)] = &Member{Name: "bob", Key: w.public(w.bob)}
	w.stages["calm-otter"] = &Stage{Lease: "calm-otter", Hash: hash, Base: base}
	w.tickets["t1"] = &Ticket{Secret: []byte("a secret of the operator's"), Expires: w.now.Add(time.Hour)}
	return w
}

func newKey(t *testing.T) nkeys.KeyPair {
	t.Helper()
	k, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (w *world) public(k nkeys.KeyPair) string {
	p, err := k.PublicKey()
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) home() Home {
	return Home{
		Fleet: "f1", Program: "v1", Now: w.now, Lost: time.Minute, MaxPack: 1 << 20,
		Member: func(key string) (Member, bool) {
			m, ok := w.members[key]
			if !ok {
				return Member{}, false
			}
			return *m, true
		},
		Named: func(name string) bool {
			for _, m := range w.members {
				if m.Name == name {
					return true
				}
			}
			return false
		},
		Stage: func(lease string) (Stage, bool) {
			s, ok := w.stages[lease]
			if !ok {
				return Stage{}, false
			}
			return *s, true
		},
		Ticket: func(id string) (Ticket, bool) {
			t, ok := w.tickets[id]
			if !ok {
				return Ticket{}, false
			}
			return *t, true
		},
	}
}

func (w *world) header(kind Kind) Header {
	w.number++
	return Header{Version: Version, Program: "v1", Fleet: "f1", Kind: kind, Number: fmt.Sprint(w.number)}
}

func (w *world) sign(message any, k nkeys.KeyPair) []byte {
	w.t.Helper()
	raw, err := Sign(message, k)
	if err != nil {
		w.t.Fatal(err)
	}
	return raw
}

func (w *world) ask() Ask { return Ask{Header: w.header(AskKind), Lease: "calm-otter", Hash: hash} }

func (w *world) beat(fence, count uint64) Beat {
	return Beat{Header: w.header(BeatKind), Lease: "calm-otter", Fence: fence, Count: count}
}

func (w *world) result(fence uint64) Result {
	return Result{Header: w.header(ResultKind), Lease: "calm-otter", Fence: fence, Hash: hash, Base: base, Commit: commit, Pack: pack}
}

// report is a report of the stage.
func (w *world) report(fence uint64) Report {
	return Report{
		Header: w.header(ReportKind), Lease: "calm-otter", Fence: fence, Piece: []byte("it begins\n"),
		Questions: []Question{{Text: "which way?", Options: []string{"left", "right"}}},
	}
}

// listen asks what was typed after so many strokes.
func (w *world) listen(fence, heard uint64) Listen {
	return Listen{Header: w.header(ListenKind), Lease: "calm-otter", Fence: fence, Heard: heard}
}

func (w *world) put(fence uint64) Put {
	return Put{Header: w.header(PutKind), Lease: "calm-otter", Fence: fence, Pack: pack, Piece: []byte("pack")}
}

// tell plays a home: it judges a question, writes down what it grants and takes, and answers.
func (w *world) tell(raw []byte, sender nkeys.KeyPair) Answer {
	w.t.Helper()
	h := w.home()
	j := h.Judge(raw, w.public(sender))
	fence := uint64(0)
	switch {
	case j.Ask != nil && j.Fence == 0:
		w.events++
		fence = uint64(w.events)
		w.stages[j.Ask.Lease].Grant = Grant{Fence: fence, Node: j.Key, Hash: j.Ask.Hash, Renewed: w.now}
	case j.Beat != nil:
		g := &w.stages[j.Beat.Lease].Grant
		g.Renewed, g.Beats = w.now, j.Beat.Count
	case j.Result != nil && !j.Again:
		w.events++
		s := w.stages[j.Result.Lease]
		s.Over, s.Result = true, j.To
	case j.Join != nil:
		w.members[j.Key] = &Member{Name: j.Join.Name, Key: j.Key}
		w.tickets[j.Join.Ticket].Used = true
	}
	return h.Answer(j, fence)
}

// say signs and tells a message of a node's.
func (w *world) say(message any, from nkeys.KeyPair) Answer {
	w.t.Helper()
	return w.tell(w.sign(message, from), from)
}

// grant gives the stage to a node.
func (w *world) grant(to nkeys.KeyPair) uint64 {
	w.t.Helper()
	a := w.say(w.ask(), to)
	if a.Verdict != Granted || a.Fence == 0 {
		w.t.Fatalf("the stage was not granted: %+v", a)
	}
	return a.Fence
}
