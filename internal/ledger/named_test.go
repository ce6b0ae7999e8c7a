package ledger

import (
	"reflect"
	"slices"
	"testing"

	"cordon/internal/gate"
	"cordon/internal/git"
)

func TestGivenBranches(t *testing.T) {
	t.Parallel()
	later := gate.Landing{Ref: "refs/heads/main", Old: oid("c"), New: oid("d")}
	l := (&book{t: t}).leased(otter).add(otter, Intended, move).leased("able-fox").add("able-fox", Intended, later).
		add("able-fox", Branched, Branch{Ref: "refs/heads/theirs", Commit: oid("e")}).fold()
	given, workers := l.Given(3)
	if want := []git.OID{oid("d")}; !reflect.DeepEqual(given["refs/heads/main"], want) || !workers["able-fox"] || workers[otter] {
		t.Errorf("given %v by %v", given, workers)
	}
	if want := []git.OID{oid("e")}; !reflect.DeepEqual(given["refs/heads/theirs"], want) {
		t.Errorf("given %v", given)
	}
	if given, _ := l.Given(0); len(given["refs/heads/main"]) != 2 {
		t.Errorf("given %v", given)
	}
}

// What cordon gave to its own refs: since an event, and last before that. A copy of a ref is worth
// what that ref was given, whatever was found there.
func TestGivenOwnRefs(t *testing.T) {
	t.Parallel()
	const result, kept, trash = "refs/cordon/quarantine/brisk-otter/result", "refs/cordon/quarantine/brisk-otter/attempts/1/result", "refs/cordon/trash/brisk-otter/result"
	named := func(b *book, list ...gate.Naming) *book { return b.add(otter, Named, Refs{list}) }
	b := (&book{t: t}).leased(otter)
	named(b, gate.Naming{Ref: result, OID: oid("1")})
	named(b, gate.Naming{Ref: result, OID: oid("2")})
	named(b, gate.Naming{Ref: kept, OID: oid("6"), From: result}, gate.Naming{Ref: result, OID: oid("3")})
	named(b, gate.Naming{Ref: trash, OID: oid("6"), From: result}, gate.Naming{Ref: result})
	named(b, gate.Naming{Ref: trash, OID: oid("6"), From: result}) // it was interrupted
	l := b.fold()
	for _, c := range []struct {
		since uint64
		ref   string
		want  []git.OID
	}{
		{0, gate.PinOf(otter), []git.OID{oid("b")}},
		{0, result, []git.OID{oid("1"), oid("2"), oid("3"), ""}},
		{4, result, []git.OID{oid("2"), oid("3"), ""}},
		{5, result, []git.OID{oid("3"), ""}},
		{7, result, []git.OID{""}},
		{4, kept, []git.OID{oid("2")}},
		{5, trash, []git.OID{oid("3")}},
		{5, gate.ResultOf(otter), nil},
	} {
		given, _ := l.Given(c.since)
		got := slices.Compact(given[c.ref])
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s since %d: %v, want %v", c.ref, c.since, got, c.want)
		}
	}
	if w := l.Workers[0]; w.Events != 1 {
		t.Errorf("%d events of the worker: a name of a ref is no decision about it", w.Events)
	}
}

// Versions that did not know Named told of their refs afterwards.
func TestGivenOlder(t *testing.T) {
	t.Parallel()
	q := Quarantine{Reasons: []string{"x"}, Result: oid("1"), Evidence: oid("2")}
	l := (&book{t: t}).leased(otter).add(otter, Judged, gate.Result{Outcome: gate.Conflict, Commit: oid("3")}).add(otter, Quarantined, q).fold()
	given, _ := l.Given(0)
	for ref, want := range map[string][]git.OID{
		gate.EvidenceOf(otter, "result"): {oid("1")}, gate.EvidenceOf(otter, "evidence"): {oid("2")}, gate.EvidenceOf(otter, "history"): nil,
		gate.ResultOf(otter): {oid("3")},
	} {
		if !reflect.DeepEqual(given[ref], want) {
			t.Errorf("%s: %v, want %v", ref, given[ref], want)
		}
	}
}
