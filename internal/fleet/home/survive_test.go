package home_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/testwait"
)

// heard counts the results of a node of which it heard that they were refused.
func (w *world) heard(name string) int {
	w.t.Helper()
	for _, o := range w.nodes {
		if o.Name != name {
			continue
		}
		text, err := os.ReadFile(o.Heard)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			w.t.Fatal(err)
		}
		lines := strings.Fields(string(text))
		slices.Sort(lines)
		return len(slices.Compact(lines))
	}
	w.t.Fatalf("there is no %s", name)
	return 0
}

// TestFleetSurvives runs stages over three servers and eight nodes, all of them processes, and
// kills servers, a node and the home, stops a node past its grant, stops the home for a while and parts
// it from the engine, and deletes everything that the engine stores. No stage is lost, none has two results,
// every result has the newest fence, and every refusal is in the journal.
func TestFleetSurvives(t *testing.T) { survives(t, 400, 8*time.Minute) }

// TestFleetSurvivesAll is TestFleetSurvives with many stages.
func TestFleetSurvivesAll(t *testing.T) {
	survives(t, 10000, 30*time.Minute)
}

func survives(t *testing.T, count int, limit time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	newWorld(t, count).survive(ctx, count)
}

// survive lets everything go wrong while stages run, and looks at what the journal says in the end.
func (w *world) survive(ctx context.Context, count int) {
	w.t.Helper()
	must := func(err error) {
		if err != nil {
			w.t.Fatal(err)
		}
	}
	killed := 0
	w.keep("node-2", true)
	for _, fault := range []struct {
		after int // percent of the stages
		what  string
		do    func()
	}{
		{5, "the server that leads is killed", func() {
			var err error
			killed, err = w.cluster.Leader(ctx, "cordon-"+fleet)
			must(err)
			w.cluster.Kill(killed)
		}},
		{10, "it comes back", func() { must(w.cluster.Start(killed)) }},
		{15, "a node is killed, and comes back", func() { w.kill("node-1"); w.start("node-1") }},
		{20, "a node is stopped past its grants", func() { w.stopHolding(ctx, "node-2") }},
		{30, "it goes on", func() { w.keep("node-2", false); w.signal("node-2", syscall.SIGCONT) }},
		{40, "the home is killed, and comes back", func() { w.kill("home"); w.start("home") }},
		{50, "the engine loses everything", func() { must(w.cluster.Lose()) }},
		{65, "the home stands still for a while", func() {
			w.signal("home", syscall.SIGSTOP)
			testwait.Pass(ctx, 2*lost)
			w.signal("home", syscall.SIGCONT)
		}},
		{70, "the home and the servers are parted", func() {
			w.lines.Cut()
			before, after := len(w.read().returned), -1
			for now := before; now != after && ctx.Err() == nil; now = len(w.read().returned) { // what the home has already got may take it a while
				after = now
				testwait.Pass(ctx, 2*lost)
			}
			if after > before+nodes*slots { // the control: that is one result of each slot, which hears no answer
				w.t.Errorf("results arrive although the line is cut: %d, then %d", before, after)
			}
			w.lines.Join()
		}},
		{75, "two servers are killed, and come back", func() {
			w.cluster.Kill(1)
			w.cluster.Kill(2)
			must(w.cluster.Start(1))
			must(w.cluster.Start(2))
		}},
	} {
		w.await(ctx, count*fault.after/100)
		w.t.Logf("after %d%%: %s", fault.after, fault.what)
		fault.do()
	}
	w.await(ctx, count)
	for name := range w.running {
		w.kill(name)
	}
	w.check(w.read(), count)
}

// check looks at what the journal says when all stages are over.
func (w *world) check(o outcome, count int) {
	w.t.Helper()
	again, refused := 0, 0
	for i := range count {
		name := fmt.Sprint("s", i)
		if o.returned[name] != 1 {
			w.t.Errorf("%s has %d results", name, o.returned[name])
		}
		again += o.granted[name] - 1
	}
	for _, line := range o.wrong {
		w.t.Error(line)
	}
	if len(o.joined) != nodes {
		w.t.Errorf("%d nodes have joined", len(o.joined))
	}
	for key, name := range o.joined {
		if n := o.refused[key]; n < min(w.heard(name), 100) { // so many are kept
			w.t.Errorf("%s heard of %d refusals, and the journal has %d", name, w.heard(name), n)
		}
		refused += o.refused[key]
	}
	if again == 0 {
		w.t.Error("no stage was granted twice: the faults changed nothing")
	}
	w.t.Logf("%d stages, each with one result; %d were granted again, %d results were refused", count, again, refused)
}
