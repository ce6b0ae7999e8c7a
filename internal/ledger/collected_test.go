package ledger

import (
	"encoding/json"
	"reflect"
	"testing"

	"cordon/internal/journal"
)

// TestCurrent asserts that a ledger that was restored from a memo, and then given only the
// events that are wanted, is the one that saw everything.
func TestCurrent(t *testing.T) {
	t.Parallel()
	gone, stays := leaseOf(t, "brisk-otter"), leaseOf(t, "calm-heron")
	events := numbered([]journal.Event{
		{Worker: "brisk-otter", Type: Leased, Data: gone}, {Worker: "calm-heron", Type: Leased, Data: stays},
		{Type: Salvaged, Data: encoded(t, journal.Salvage{Suspended: []string{"brisk-otter", "calm-heron"}})},
		{Worker: "brisk-otter", Type: Removed, Data: encoded(t, Removal{Why: "x"})},
		{Worker: "calm-heron", Type: Visited, Data: encoded(t, Visit{})},
		{Worker: "brisk-otter", Type: Visited, Data: encoded(t, Visit{})},
	})
	all := Current()
	before := all.Snapshot()
	for _, e := range events {
		if err := all.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if len(before.Workers) != 0 || len(all.Workers) != 1 || !all.Taken("brisk-otter") || all.Seq != 6 || all.Workers[0].Quarantine == nil {
		t.Fatalf("%+v after %+v", all, before)
	}
	memo, err := all.Memo()
	if err != nil {
		t.Fatal(err)
	}
	again := Current()
	if err := again.Restore(memo); err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if all.Wants(e.Worker, e.Type) {
			if err := again.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !reflect.DeepEqual(again.Workers, all.Workers) || !again.Taken("brisk-otter") || again.Seq != all.Seq {
		t.Errorf("%+v\nwant %+v", again, all)
	}
	if _, err := again.Find("brisk"); err != ErrCollected {
		t.Errorf("the collected worker: %v", err)
	}
}

func leaseOf(t *testing.T, id string) json.RawMessage {
	t.Helper()
	s := sealed(t, id, "src")
	return encoded(t, Lease{Lease: s.Bytes(), Hash: s.Hash(), Command: []string{"true"}})
}

func numbered(events []journal.Event) []journal.Event {
	for i := range events {
		events[i].Seq = uint64(i + 1)
	}
	return events
}

func encoded(t *testing.T, data any) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
