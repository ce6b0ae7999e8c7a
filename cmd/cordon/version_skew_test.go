package main

import (
	"strings"
	"testing"
)

// record appends to the journal of a site what another version of cordon would.
func (s *site) record(worker, typ string, data any) {
	s.t.Helper()
	_, err := s.journal().Append(worker, typ, data)
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestLaterVersion has this version meet a journal in which a later one wrote. Additive
// events and fields are skipped and kept; others are refused, and the version is named.
func TestLaterVersion(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", "echo x >src/x.txt")
	id := s.only().Worker
	stamped := func(key string) map[string]any { return map[string]any{"text": "done", key: 1, "+version": "v9.1"} }
	s.record(id, "+worker.paused", stamped("why"))
	s.record("", "+fleet.moved", nil)
	s.record(id, "agent.claimed", stamped("+mood"))
	s.cordon([]int{0}, "ls")
	s.cordon([]int{0}, "merge", id)
	if n := s.landed(id); n != 1 {
		t.Errorf("%s is on main %d times", id, n)
	}
	if o := s.cordon([]int{0}, "log"); !strings.Contains(o.out, "+worker.paused") || !strings.Contains(o.out, "+fleet.moved") ||
		!strings.Contains(o.out, "+mood") {
		t.Errorf("the additive events are not in the log:\n%s", o.out)
	}
	s.sound()

	for typ, key := range map[string]string{"worker.paused": "why", "agent.claimed": "mood"} {
		s := newSite(t)
		s.cordon([]int{0}, "run", "--no-merge", "--", "sh", "-c", "echo x >src/x.txt")
		id := s.only().Worker
		main := s.git("rev-parse", "main")
		s.record(id, typ, stamped(key))
		for _, args := range [][]string{{"ls"}, {"show", id}, {"merge", id}, {"run", "--", "true"}, {"gc", "--yes"}} {
			if o := s.cordon([]int{1}, args...); !strings.Contains(o.err, "written by cordon v9.1") {
				t.Errorf("cordon %s does not name the version that wrote %s: %s", args[0], typ, o.err)
			}
		}
		if s.git("rev-parse", "main") != main {
			t.Error("main moved")
		}
		if o := s.cordon([]int{0}, "log", id); !strings.Contains(o.out, typ) {
			t.Errorf("the log does not show %s:\n%s", typ, o.out)
		}
		s.sound()
	}
}

// TestNamesItsVersion asserts that a lease names the version that sealed it.
func TestNamesItsVersion(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{0}, "run", "--no-merge", "--", "true")
	var log struct {
		Events []struct {
			Type string
			Data struct {
				Version string `json:"+version"`
			}
		}
	}
	s.parse(s.cordon([]int{0}, "log", "--json").out, &log)
	if e := log.Events[0]; e.Type != "lease.sealed" || e.Data.Version == "" {
		t.Errorf("the first event is %+v", e)
	}
}
