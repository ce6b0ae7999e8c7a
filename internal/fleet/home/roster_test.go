package home

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/protocol"
	"cordon/internal/journal"
)

// one is a source with one stage.
type one struct{ none }

var theStage = Stage{Lease: "calm-otter", Hash: "h", Base: "b", Until: time.Now().Add(time.Hour)}

func (one) Stage(lease string) (Stage, bool) { return theStage, lease == theStage.Lease }

// TestOperatorDecides: what an operator's command writes into the journal counts for the next
// question that a running home is asked.
func TestOperatorDecides(t *testing.T) {
	dir := t.TempDir()
	running, command := openJournal(t, dir), openJournal(t, dir)
	names := []string{"alice", "bob", "carol"}
	keys, publics := map[string]nkeys.KeyPair{}, map[string]string{}
	for _, name := range names {
		k, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		keys[name] = k
		if publics[name], err = k.PublicKey(); err != nil {
			t.Fatal(err)
		}
		if _, err := command.Append("", Joined, Member{Name: name, Key: publics[name], Ticket: name}); err != nil {
			t.Fatal(err)
		}
	}
	var expelled []string
	h := &Home{Key: keys["alice"], Fleet: "f1", Source: one{}, Lost: time.Hour, Expel: func(key string) { expelled = append(expelled, key) }}
	if err := h.Open(running); err != nil {
		t.Fatal(err)
	}
	number := 0
	say := func(name string, message func(protocol.Header) any) protocol.Answer {
		t.Helper()
		number++
		raw, err := protocol.Sign(message(protocol.Header{Version: protocol.Version, Fleet: "f1", Number: string(rune('a' + number))}), keys[name])
		if err != nil {
			t.Fatal(err)
		}
		a, err := protocol.Node{Fleet: "f1", Home: publics["alice"], Key: publics[name]}.Heed(h.answer(publics[name], raw), raw)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	hello := func(name string) protocol.Verdict {
		return say(name, func(h protocol.Header) any { h.Kind = protocol.HelloKind; return protocol.Hello{Header: h} }).Verdict
	}
	ask := func(name string) protocol.Verdict {
		return say(name, func(h protocol.Header) any {
			h.Kind = protocol.AskKind
			return protocol.Ask{Header: h, Lease: theStage.Lease, Hash: theStage.Hash}
		}).Verdict
	}
	expect := func(what string, got, want protocol.Verdict) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, not %s", what, got, want)
		}
	}
	do := func(act func(*journal.Journal, string) error, name string) {
		t.Helper()
		if err := act(command, name); err != nil {
			t.Fatal(err)
		}
	}
	expect("hello", hello("bob"), protocol.Go)
	do(Drain, "bob")
	do(Drain, "bob") // once more changes nothing
	expect("a draining node says hello", hello("bob"), protocol.Draining)
	expect("a draining node asks", ask("bob"), protocol.Draining)
	do(Resume, "bob")
	expect("it says hello again", hello("bob"), protocol.Go)
	do(Remove, "carol")
	expect("a removed node asks", ask("carol"), protocol.Removed)
	expect("a removed node says hello", hello("carol"), protocol.Removed)
	expect("another asks", ask("bob"), protocol.Granted) // the control
	do(Drain, "bob")
	expect("a draining node asks for what it has", ask("bob"), protocol.Granted)
	do(Remove, "bob")
	expect("a removed node asks for what it has", ask("bob"), protocol.Removed)
	if err := h.look(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(expelled)
	want := []string{publics["bob"], publics["carol"]}
	slices.Sort(want)
	if !slices.Equal(expelled, want) {
		t.Errorf("expelled are %v", expelled)
	}
	for _, name := range []string{"bob", "nobody"} {
		if err := Remove(command, name); !errors.Is(err, ErrNoNode) {
			t.Errorf("%s: %v", name, err)
		}
	}
	nodes, err := Nodes(openJournal(t, dir))
	if err != nil || len(nodes) != 3 || nodes[0].Standing != Ready || nodes[1].Standing != Gone || nodes[2].Standing != Gone {
		t.Errorf("%+v, %v", nodes, err)
	}
	events, err := command.Events()
	if err != nil || len(events) != 9 {
		t.Errorf("the journal has %d events: %v", len(events), err)
	}
	if heard := h.Heard(); heard[publics["bob"]].At.IsZero() || !heard[publics["carol"]].At.IsZero() {
		t.Errorf("heard: %+v", heard)
	}
}

func openJournal(t *testing.T, dir string) *journal.Journal {
	t.Helper()
	log, err := journal.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return log
}
