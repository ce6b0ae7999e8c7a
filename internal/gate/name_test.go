package gate

import (
	"context"
	"errors"
	"maps"
	"testing"

	"cordon/internal/git"
)

// Every ref of cordon's own in the host has the value that the journal was told last, in all that
// happens to a worker. Only the pin of a lease is in the journal as the base of that lease.
func TestNamesAreAnnounced(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	o := s.order("able-fox", map[string]string{"src/x": "1\n"}, nil)
	l := o.Lease.Lease()
	steps := []struct {
		name string
		act  func() error
	}{
		{"test it for a review", func() error { _, _, err := s.gate.Try(ctx, o); return err }},
		{"quarantine it", func() error {
			_, err := s.gate.Quarantine(ctx, s.evidence(map[string]string{"src/x": "1\n"}))
			return err
		}},
		{"keep the attempt", func() error { return s.gate.KeepAttempt(ctx, "able-fox", 1) }},
		{"carry it over", func() error { _, err := s.gate.Carry(ctx, l, o.Snapshot, false, o.Lease.Rules(), nil); return err }},
		{"land it", func() error { o.Message.Subject = "another commit"; _, err := s.gate.Land(ctx, o); return err }},
		{"discard it", func() error { return s.gate.Discard(ctx, "able-fox") }},
		{"forget it", func() error { return s.gate.Forget(ctx, "able-fox") }},
		{"empty the trash", func() error { return s.gate.EmptyTrash(ctx, "able-fox") }},
	}
	if err := s.gate.Pin(ctx, "able-fox", s.base); err != nil {
		t.Fatal(err)
	}
	s.announced[PinOf("able-fox")] = s.base
	for _, step := range steps {
		before := maps.Clone(s.announced)
		if err := step.act(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if maps.Equal(before, s.announced) {
			t.Errorf("%s: nothing is said of refs", step.name)
		}
		s.compareNames(step.name)
	}
}

// compareNames compares the refs of the host with what the journal was told.
func (s *site) compareNames(when string) {
	s.t.Helper()
	have := map[string]git.OID{}
	for _, r := range must(s.host.Refs(context.Background(), "refs/cordon/"))(s.t) {
		have[r.Name] = r.OID
	}
	told := maps.Clone(s.announced)
	maps.DeleteFunc(told, func(_ string, oid git.OID) bool { return oid == "" })
	if !maps.Equal(have, told) {
		s.t.Errorf("%s: the refs are %v, the journal was told %v", when, have, told)
	}
}

// What the journal does not take is not written.
func TestUnannouncedIsNotNamed(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	must(s.gate.Quarantine(ctx, s.evidence(map[string]string{"src/x": "1\n"})))(t)
	was := s.git("for-each-ref", "refs/cordon")
	s.refused = errors.New("the disk is full")
	for name, act := range map[string]func() error{
		"keep":    func() error { return s.gate.KeepAttempt(ctx, "able-fox", 1) },
		"discard": func() error { return s.gate.Discard(ctx, "able-fox") },
		"forget":  func() error { return s.gate.unname(ctx, "able-fox", quarantine) },
	} {
		if err := act(); !errors.Is(err, s.refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now := s.git("for-each-ref", "refs/cordon"); now != was {
		t.Errorf("the refs were\n%s\nand are\n%s", was, now)
	}
}
