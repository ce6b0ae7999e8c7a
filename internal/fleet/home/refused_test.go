package home

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"cordon/internal/fleet/pack"
	"cordon/internal/fleet/protocol"
	"cordon/internal/journal"
)

// none is a source without stages.
type none struct{}

func (none) Stages() []Stage                       { return nil }
func (none) Stage(string) (Stage, bool)            { return Stage{}, false }
func (none) Returned() ([]protocol.Pack, error)    { return nil, nil }
func (none) Ticket(string) (protocol.Ticket, bool) { return protocol.Ticket{}, false }

// Results that are refused are in the journal, but a node cannot fill it with them, and a stranger
// puts nothing there. The count survives the home.
func TestRefusalsAreBounded(t *testing.T) {
	key, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	member, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	log, err := journal.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append("", Joined, Member{Name: "one", Key: member}); err != nil {
		t.Fatal(err)
	}
	refusals := func(from string, signs nkeys.KeyPair, version, many int) (n int) {
		t.Helper()
		h := &Home{Key: key, Fleet: "f1", Source: none{}, Lost: time.Minute}
		if err := h.Open(log); err != nil {
			t.Fatal(err)
		}
		for i := range many {
			raw, err := protocol.Sign(protocol.Result{Header: protocol.Header{
				Version: version, Fleet: "f1", Kind: protocol.ResultKind, Number: fmt.Sprint(i),
			}, Lease: "calm-otter", Fence: 1}, signs)
			if err != nil {
				t.Fatal(err)
			}
			if h.answer(from, raw) == nil {
				t.Fatal("no answer")
			}
		}
		events, err := log.Events()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Type == Refused {
				n++
			}
		}
		return n
	}
	if n := refusals("a stranger", key, protocol.Version, 3); n != 0 {
		t.Errorf("a stranger has %d refusals in the journal", n)
	}
	for range 3 { // versions are compared before anything else
		other, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		name, err := other.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		if n := refusals(name, other, 0, 1); n != 0 {
			t.Errorf("a stranger of another version has %d refusals in the journal", n)
		}
	}
	if n := refusals(member, key, protocol.Version, 60); n != 60 {
		t.Errorf("60 results were refused, and the journal has %d", n)
	}
	if n := refusals(member, key, protocol.Version, 60); n != maxRefusals {
		t.Errorf("the journal has %d refusals", n)
	}
}

// A node sends few packs for one grant, and each of them is whole or not there.
func TestArrivingIsBounded(t *testing.T) {
	p := &Packs{Gotten: pack.Store{Dir: t.TempDir()}, Room: 1 << 20}
	put := func(i int, fence uint64) error {
		text := []byte(fmt.Sprint("pack ", i))
		_, err := p.add(protocol.Put{Lease: "calm-otter", Fence: fence, Pack: protocol.Pack{Sum: protocol.Digest(text), Size: int64(len(text))}, Piece: text})
		return err
	}
	for i := range maxPacks {
		if err := errors.Join(put(i, 1), put(0, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(maxPacks, 1); !errors.Is(err, errTooMany) {
		t.Errorf("one more: %v", err)
	}
	if err := put(maxPacks, 2); err != nil {
		t.Errorf("for another grant: %v", err)
	}
}
