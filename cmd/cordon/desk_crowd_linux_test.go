package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/ledger"
)

// TestRefreshOfDesk counts the git processes of a refresh of an open desk with 500 workers and 10,000 events: at most
// three for each branch, with those that every screen starts, before and after the branch moves. TestGitProcesses
// counts those of cordon ui --plain.
func TestRefreshOfDesk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{0}, "run", "--no-merge", "--", "true") // makes the state directory
	s.cordon([]int{0}, "discard", "--yes", s.only().Worker)
	var ids []lease.ID
	s.inMemory(func(log *journal.Journal) {
		taken := map[lease.ID]bool{}
		ids = s.crowd(log, 250, "main", taken)
		s.git("commit", "-q", "--allow-empty", "-m", "another base")
		ids = append(ids, s.crowd(log, 250, "main", taken)...)
		for i := range 10_000 - 500*6 {
			s.tell(log, ids[i%len(ids)], ledger.Visited, ledger.Visit{})
		}
	})
	counted := *s
	path, log := s.counting()
	counted.env = append(slices.Clone(s.env), "PATH="+path)
	d := openDesk(&counted)
	refresh := func(what string) {
		t.Helper()
		if err := os.Truncate(log, 0); err != nil {
			t.Fatal(err)
		}
		screen := d.screen("/")
		for _, id := range ids {
			if !strings.Contains(screen, string(id)) {
				t.Fatalf("%s: %s is not on the desk", what, id)
			}
		}
		calls := slices.DeleteFunc(s.calls(log), func(line string) bool { return line == "" })
		t.Logf("%s starts %d git processes", what, len(calls))
		if len(calls) > 3 {
			t.Errorf("%s starts %d git processes, more than three:\n%s", what, len(calls), strings.Join(calls, "\n"))
		}
	}
	d.screen("/")
	if calls := s.calls(log); calls[0] == "" {
		t.Error("git is not counted")
	}
	refresh("a refresh")
	s.git("commit", "-q", "--allow-empty", "-m", "moved")
	refresh("a refresh after the branch moved")
	s.tell(s.journal(), ids[0], ledger.Visited, ledger.Visit{})
	refresh("a refresh after an event")
}
