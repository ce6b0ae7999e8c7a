package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// sight is digests.seen of a worker's review.
func (s *site) sight(id string) string {
	s.t.Helper()
	var review struct{ Digests struct{ Seen string } }
	s.parse(s.cordon([]int{0}, "show", "--review", "--json", id).out, &review)
	return review.Digests.Seen
}

// Several desks decide about one worker at once: one wins, and the others name it.
func TestDesksDecideAtOnce(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]func(id, seen string) []string{
		"merge": func(id, seen string) []string { return []string{"merge", id, "--seen", seen} },
		"release": func(id, seen string) []string {
			return []string{"quarantine", "release", id, "--write", "out.txt", "--reason", "fine", "--seen", seen}
		},
		"discard": func(id, seen string) []string { return []string{"discard", "--yes", id, "--seen", seen} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.cordon([]int{exitPerson, exitQuarantined}, "run", "--review", "--write", "src", "--",
				"sh", "-c", "echo x >src/x.txt; test "+name+" != release || echo x >out.txt")
			id := s.only().Worker
			seen := s.sight(id)
			const desks = 4
			codes, said := make([]int, desks), make([]string, desks)
			var all sync.WaitGroup
			for i := range desks {
				all.Go(func() {
					cmd := s.command(decide(id, seen)...)
					cmd.Env = append(slices.Clone(cmd.Env), fmt.Sprintf("CORDON_FACE=api:desk%d", i))
					out, err := cmd.CombinedOutput()
					if _, ok := err.(*exec.ExitError); err != nil && !ok {
						t.Error(err)
					}
					codes[i], said[i] = cmd.ProcessState.ExitCode(), string(out)
				})
			}
			all.Wait()
			winner := -1
			for i, code := range codes {
				switch {
				case code == 0 && winner >= 0:
					t.Fatalf("desks %d and %d both won", winner, i)
				case code == 0:
					winner = i
				}
			}
			if winner < 0 {
				t.Fatalf("nobody won: %v\n%s", codes, strings.Join(said, "\n"))
			}
			for i, code := range codes {
				if i != winner && (code != exitPerson || !strings.Contains(said[i], fmt.Sprintf("via api:desk%d ", winner))) {
					t.Errorf("desk %d ended with %d and does not name desk %d:\n%s", i, code, winner, said[i])
				}
			}
		})
	}
}

// A decision that is in the journal is carried out although another process has the lock of the worker at that moment: one
// that decided a little later, and is about to be refused.
func TestDecisionWaitsForTheLock(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, seen := s.awaiting("echo x >out.txt")
	release := s.hold(id)
	r := s.start(nil, "quarantine", "release", id, "--write", "out.txt", "--reason", "fine", "--seen", seen)
	s.await("it is released", func() bool { types, _ := s.eventsOf(id); return slices.Contains(types, "quarantine.released") })
	release()
	r.awaitEnd()
	if code := r.cmd.ProcessState.ExitCode(); code != 0 || s.only().Status != "merged" {
		t.Errorf("it ended with %d, and the worker is %s: %s", code, s.only().Status, r.errs.String())
	}
}
