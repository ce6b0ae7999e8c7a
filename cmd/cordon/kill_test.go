package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/testground"
)

// story is a command of cordon's that is killed, and how an operator goes on.
type story struct {
	name   string
	before func(*site) []string // what happened before; returns the command's own arguments
	code   int                  // of the command when nobody kills it
	goOn   map[string][]string  // status after the kill → what to type; the same again where none is given
	known  int                  // events at the beginning that another story is killed at as well
	until  int                  // the event from which on the same holds; 0 is none
	daily  bool                 // also told by the fast tests
}

// clean and violating are commands of workers. Running one a second time in the
// same tree makes no difference.
const (
	clean     = "echo more >src/a.txt; git commit -qam wip || :; echo new >src/b.txt"
	violating = "echo out >docs/d.txt; echo in >src/c.txt"
)

// as is a story that needs nothing before it.
func as(args ...string) func(*site) []string {
	return func(*site) []string { return args }
}

// after is a story about what an earlier run left.
func after(code int, run []string, then ...string) func(*site) []string {
	return func(s *site) []string {
		s.cordon([]int{code}, run...)
		return named(then, s.only().Worker)
	}
}

// named puts a worker's name for ID.
func named(args []string, id string) []string {
	args = slices.Clone(args)
	if i := slices.Index(args, "ID"); i >= 0 {
		args[i] = id
	}
	return args
}

var (
	resume = []string{"resume", "ID"}
	gc     = []string{"gc", "--yes", "--wait"}
	// anywhere is a run that may have been stopped at any step.
	anywhere = map[string][]string{
		"leased": resume, "ready": resume, "lost": resume, "finished": resume, "failed": resume,
		"merged": resume, "quarantined": afterQuarantine(), "discarded": gc,
	}
	discarded = map[string][]string{"discarded": gc}
	released  = map[string][]string{"finished": resume, "merged": resume}
)

// afterQuarantine finishes a quarantine whose event is written: a plain tree has to be
// frozen still. Resume would begin another attempt where nothing is left to finish.
func afterQuarantine() []string {
	if os.Getenv("CORDON_TREE") == "copy" {
		return resume
	}
	return []string{"show", "ID"}
}

func stories() []story {
	noMerge := []string{"run", "--no-merge", "--", "sh", "-c", clean}
	bad := []string{"run", "--merge", "--write", "src", "--", "sh", "-c", violating}
	half := []string{"run", "--merge", "--", "sh", "-c", "echo half >src/h.txt; exit 7"}
	return []story{
		{"merge", as("run", "--merge", "--", "sh", "-c", clean), 0, anywhere, 0, 0, true},
		{"quarantine", as(bad...), 4, anywhere, 5, 0, false},
		{"rejected", withPolicy("acceptance: ['false']", "run", "--merge", "--", "sh", "-c", clean), 4, anywhere, 5, 0, false},
		{"failing", as(half...), 6, anywhere, 4, 0, false},
		{"failing unpreserved", withPolicy("preserve_on_failure: false", half...), 6, anywhere, 5, 0, false},
		{"no merge", as(noMerge...), 0, anywhere, 4, 0, false},
		{"merge later", after(0, noMerge, "merge", "ID"), 0, nil, 0, 0, false},
		{"merge failed", after(6, []string{"run", "--merge", "--", "sh", "-c", clean + "; exit 7"}, "merge", "ID"), 0, map[string][]string{"merged": resume}, 2, 0, false},
		{"release", after(4, bad, "quarantine", "release", "ID", "--write", "docs", "--reason", "why not"), 0, released, 0, 0, false},
		{"attempt", after(4, bad, "resume", "ID", "--", "sh", "-c", clean), 0, map[string][]string{
			"leased": resume, "ready": resume, "lost": resume, "finished": resume, "merged": resume,
		}, 0, 4, false},
		{"discard", after(0, noMerge, "discard", "--yes", "ID"), 0, discarded, 0, 0, false},
		{"discard quarantined", after(4, bad, "discard", "--yes", "ID"), 0, discarded, 0, 0, false},
		{"resume", func(s *site) []string {
			s.killed("before:4", "run", "--merge", "--", "sh", "-c", clean)
			return []string{"resume", s.only().Worker}
		}, 0, nil, 0, 2, false},
		{"gc", after(0, []string{"run", "--merge", "--", "sh", "-c", clean}, gc...), 0, nil, 0, 0, false},
	}
}

// withPolicy has the policy in the base commit.
func withPolicy(text string, args ...string) func(*site) []string {
	return func(s *site) []string {
		s.write("repo/cordon.yaml", "version: 1\n"+text+"\n")
		s.git("add", ".")
		s.git("commit", "-q", "-m", "policy")
		return args
	}
}

// TestKilledAtEveryBoundary kills the real program before and after each event
// that it writes, and wants the next command to find sense, and an operator who
// goes on to end where one ends whom nobody interrupted. What happens up to the
// worker's end does not depend on the story: one is killed everywhere, the
// others from where they differ. The everyday loop tells the first story alone, and kills
// before the events, when the most is done that is not written.
func TestKilledAtEveryBoundary(t *testing.T) {
	t.Parallel()
	for _, st := range stories() {
		if !st.daily && testground.Wanted() == testground.Fast {
			continue
		}
		t.Run(st.name, func(t *testing.T) { t.Parallel(); st.tell(t, st.known, st.until) })
	}
}

// TestKilledAtEveryBoundaryAll kills every story at every event.
func TestKilledAtEveryBoundaryAll(t *testing.T) {
	for _, st := range stories() {
		t.Run(st.name, func(t *testing.T) { t.Parallel(); st.tell(t, 0, 0) })
	}
}

// moments are when the program is killed at an event.
func moments() []string {
	if testground.Wanted() == testground.Fast {
		return []string{"before"}
	}
	return []string{"before", "after"}
}

func (st story) tell(t *testing.T, from, until int) {
	s := newSite(t)
	args := st.before(s)
	had := len(s.events())
	s.cordon([]int{st.code}, args...)
	events := s.events()[had:]
	want := s.final()
	if len(events) <= from {
		t.Fatalf("the command writes %d events: there is nothing to kill it at", len(events))
	}
	if until == 0 {
		until = len(events)
	}
	for n := from; n < until; n++ {
		for _, when := range moments() {
			spec := fmt.Sprintf("%s:%d", when, n+1)
			t.Run(spec+" "+events[n], func(t *testing.T) {
				t.Parallel()
				st.kill(newSite(t), spec, want)
			})
		}
	}
}

func (st story) kill(s *site, spec string, want map[string]string) {
	s.t.Helper()
	args, code := st.before(s), st.code
	s.killed(spec, args...)
	s.sound()
	all := s.workers()
	switch {
	case len(all) > 1:
		s.t.Fatalf("there are workers too many: %v", all)
	case len(all) == 0 && len(s.events()) > 0:
		s.t.Fatal("the journal has events and cordon ls has no worker")
	case len(all) == 1:
		s.sensible(all[0])
		if then := st.goOn[all[0].Status]; then != nil {
			args = named(then, all[0].Worker)
		}
	}
	if args[0] == "gc" || args[0] == "show" {
		code = 0
	}
	s.cordon([]int{code}, args...)
	s.sound()
	if got := s.final(); !maps.Equal(got, want) {
		s.t.Errorf("it did not end as without the kill\n got %v\nwant %v", got, want)
	}
}

// words are the statuses that make sense after an event that nothing followed.
var words = map[string]string{
	"lease.sealed":        "leased",
	"worktree.ready":      "ready",
	"worker.started":      "lost",
	"worker.ended":        "finished failed",
	"audit.done":          "finished failed",
	"land.intended":       "finished failed",
	"gate.judged":         "merged finished",
	"worker.quarantined":  "quarantined",
	"quarantine.released": "finished",
	"attempt.begun":       "leased",
	"worker.discarded":    "discarded",
	"worker.removed":      "merged",
}

func (s *site) sensible(w worker) {
	s.t.Helper()
	events := slices.DeleteFunc(s.events(), func(e string) bool { return e == "+operator.decided" || e == "+refs.named" }) // they change no state
	last := events[len(events)-1]
	if !slices.Contains(strings.Fields(words[last]), w.Status) {
		s.t.Errorf("after %s the worker is %q, want one of %q", last, w.Status, words[last])
	}
}

// final is everything that must not depend on interruptions.
func (s *site) final() map[string]string {
	s.t.Helper()
	w := s.only()
	history := s.git("log", "main", "--format=%T %(trailers:key=Cordon-Worker,valueonly,separator=%x20)")
	tree, _, _ := strings.Cut(history, " ")
	f := map[string]string{
		"status":  w.Status,
		"tree":    tree,
		"landed":  fmt.Sprint(strings.Count(history, w.Worker)),
		"commits": fmt.Sprint(len(strings.Split(history, "\n"))),
		"refs":    strings.ReplaceAll(s.git("for-each-ref", "--format=%(refname)"), w.Worker, "ID"),
	}
	for _, part := range []string{"trees", "frozen", "accept", "ignore", "layers"} {
		f[part] = fmt.Sprint(len(s.stateEntries(part)))
	}
	f["unfinished bases"] = fmt.Sprint(s.unfinishedBases())
	f["thrown away"] = fmt.Sprint(s.thrown(w.Worker))
	f["alive"] = fmt.Sprint(s.alive(w.Worker))
	return f
}

func (s *site) stateEntries(part string) []string {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.place("state"), "cordon", "*", part, "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return found
}

// unfinishedBases are the checkouts that were not made to their end.
func (s *site) unfinishedBases() []string {
	s.t.Helper()
	return slices.DeleteFunc(s.stateEntries("bases"), func(path string) bool { return !strings.HasSuffix(path, ".new") })
}

// thrown reports whether the trash holds a tree that a worker worked in.
func (s *site) thrown(id string) bool {
	s.t.Helper()
	trees, err := trashedTrees(s.place("state"), id)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, entry := range trees {
		for _, name := range []string{"src/b.txt", "src/c.txt", "src/h.txt"} {
			if _, err := os.Stat(filepath.Join(entry, name)); err == nil {
				return true
			}
		}
	}
	return false
}
