package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/testground"
)

// A plan of twelve stages whose process is killed again and again, before or after one of the
// next events of the journal, comes to its end: nothing is lost, and nothing lands twice. The
// steps between the kills differ, so that every kind of event is met in many states.
func TestPlanKilled(t *testing.T) {
	t.Parallel()
	for when, step := range map[string]int{"before": 3, "after": 5} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			kills := s.runKilled(when, step, s.write("twelve.yaml", twelve.plan()))
			if kills < 12 {
				t.Errorf("only %d processes were killed", kills)
			}
			s.allLanded(twelve)
		})
	}
}

// A plan of six stages whose process is killed once, before or after the first event of each type, comes to its
// end. With CORDON_TESTS=full it has twelve and is killed before and after every event.
func TestPlanKilledOnce(t *testing.T) {
	t.Parallel()
	all, killed := testground.Wanted() == testground.Full, chains{2, 2}
	if all {
		killed = twelve
	}
	s := newSite(t)
	s.cordon([]int{0}, "plan", "run", "--merge", s.write("plan.yaml", killed.plan()), "--", "sh", "-c", reviewOnce)
	s.allLanded(killed)
	events := s.events()
	var places []string
	if all {
		for i := range events {
			places = append(places, strconv.Itoa(i+1))
		}
	} else {
		places = slices.Compact(slices.Sorted(slices.Values(events)))
	}
	t.Logf("%d events, killed at %d places", len(events), len(places))
	for _, place := range places {
		for _, when := range []string{"before", "after"} {
			t.Run(when+" "+place, func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				run := []string{"plan", "run", "--merge", s.write("plan.yaml", killed.plan()), "--", "sh", "-c", reviewOnce}
				s.killed(when+":"+place, run...)
				s.cordon([]int{0}, run...)
				s.allLanded(killed)
			})
		}
	}
}

// reviewOnce asks the author for another attempt, and approves the next result.
const reviewOnce = `if cordon briefing | grep -q "answered feedback"; then cordon review approve good; else cordon review feedback "once more"; fi`

// chains is a plan of several chains of stages. A reviewer looks at the second result of each chain, and a verification
// ends it.
type chains struct{ count, length int }

var twelve = chains{3, 3}

func (c chains) plan() string {
	var b strings.Builder
	b.WriteString("version: 1\nplan: chains\nparallel: 3\nstages:\n")
	for chain := range c.count {
		for i := range c.length {
			after := ""
			if i > 0 {
				after = fmt.Sprintf("after: [s%d%d], ", chain, i-1)
			}
			if i == 1 {
				after += "review: {rounds: 1}, retries: {lost: 10}, "
			}
			fmt.Fprintf(&b, "  - {id: s%d%d, %stask: t, write: [src/%d%d.txt], command: [sh, -c, \"echo done >src/%d%d.txt\"], artifacts: [src/%d%d.txt]}\n",
				chain, i, after, chain, i, chain, i, chain, i)
		}
		fmt.Fprintf(&b, "  - {id: v%d, kind: verify, after: [s%d%d], command: [\"true\"], acceptance: [\"test -s src/%d%d.txt\"]}\n",
			chain, chain, c.length-1, chain, c.length-1)
	}
	return b.String()
}

// runKilled runs a plan until nothing kills it any more, and counts the kills.
func (s *site) runKilled(when string, step int, file string) (kills int) {
	s.t.Helper()
	for i := range 300 {
		cmd := s.command("plan", "run", "--merge", file, "--", "sh", "-c", reviewOnce)
		cmd.Env = append(slices.Clone(s.env), "CORDON_TEST_KILL="+when+":"+strconv.Itoa(1+i*step%13))
		o := s.try(cmd)
		switch {
		case o.signal == syscall.SIGKILL:
			kills++
		case o.code == 0:
			return kills
		default:
			s.t.Fatalf("after %d kills it ended with %d\n%s%s", kills, o.code, o.out, o.err)
		}
	}
	s.t.Fatal("it never ends")
	return kills
}

// allLanded wants the result of each stage that changes something once, and nothing at work.
func (s *site) allLanded(c chains) {
	s.t.Helper()
	s.sound()
	if n := s.git("rev-list", "--count", "HEAD"); n != strconv.Itoa(1+c.count*c.length) {
		s.t.Errorf("%s commits, want the base and %d results\n%s", n, c.count*c.length, s.git("log", "--oneline"))
	}
	for chain := range c.count {
		for i := range c.length {
			if out := s.git("show", fmt.Sprintf("HEAD:src/%d%d.txt", chain, i)); out != "done" {
				s.t.Errorf("stage s%d%d left %q", chain, i, out)
			}
		}
	}
	for _, w := range s.workers() {
		if w.Status != "merged" && w.Status != "no change" && w.Status != "discarded" {
			s.t.Errorf("%s is %s", w.Worker, w.Status)
		}
	}
	s.cordon([]int{0}, "journal", "verify")
}
