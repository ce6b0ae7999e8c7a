package queue

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// simulate lets results of one moment land, with acceptance that takes one unit of time, and
// returns how long it took, how many tests ran, and which results were called bad. A test of
// a tree fails if a bad result is in it; a flake fails the first test of a result.
func simulate(results, slots int, bad, flaky map[string]bool) (units, tests int, rejected []string) {
	var q Queue
	for i := range results {
		q.Enter(fmt.Sprint(i))
	}
	flaked := map[string]bool{}
	type running struct {
		test Test
		ends int
	}
	var active []running
	for now := 0; ; {
		start, ended := q.Next(slots - len(active))
		active = slices.DeleteFunc(active, func(r running) bool { return slices.Contains(ended, r.test.ID) })
		for _, t := range start {
			tests++
			active = append(active, running{t, now + 1})
		}
		if len(active) == 0 {
			return now, tests, rejected
		}
		now++
		done := active
		active = nil
		for _, r := range done {
			passed := !bad[r.test.ID] && !slices.ContainsFunc(r.test.Ahead, func(id string) bool { return bad[id] })
			if flaky[r.test.ID] && !flaked[r.test.ID] {
				flaked[r.test.ID], passed = true, false
			}
			rejected = append(rejected, q.Done(r.test.ID, passed)...)
		}
		for id := q.Lands(); id != ""; id = q.Lands() {
			q.Landed(id)
		}
	}
}

// draw makes 5 % of the results bad and 2 % flaky.
func draw(n int, seed int64) (bad, flaky map[string]bool) {
	r := rand.New(rand.NewSource(seed))
	bad, flaky = map[string]bool{}, map[string]bool{}
	for i := range n {
		switch x := r.Float64(); {
		case x < 0.05:
			bad[fmt.Sprint(i)] = true
		case x < 0.07:
			flaky[fmt.Sprint(i)] = true
		}
	}
	return bad, flaky
}

func TestManyAtOnce(t *testing.T) {
	units, tests, rejected := simulate(48, 4, nil, nil)
	t.Logf("none bad: %d units, %d tests", units, tests)
	if units > 14 || len(rejected) > 0 {
		t.Errorf("%d units, rejected %v", units, rejected)
	}
	for seed := range int64(5) {
		bad, flaky := draw(48, seed)
		units, tests, rejected := simulate(48, 4, bad, flaky)
		t.Logf("seed %d, %d bad, %d flaky: %d units, %d tests", seed, len(bad), len(flaky), units, tests)
		if units > 18 || len(rejected) != len(bad) {
			t.Errorf("%d units, rejected %v of %v", units, rejected, bad)
		}
	}
}

// Over many draws, failures seldom cost more than half of the time again.
func TestManyDraws(t *testing.T) {
	total, long := 0, 0
	const draws = 500
	for seed := range int64(draws) {
		bad, flaky := draw(48, seed)
		units, _, rejected := simulate(48, 4, bad, flaky)
		if len(rejected) != len(bad) {
			t.Errorf("seed %d: rejected %v of %v", seed, rejected, bad)
		}
		if total += units; units > 18 {
			long++
		}
	}
	t.Logf("mean of %d draws: %.2f units; more than 18: %d", draws, float64(total)/draws, long)
	if total > 15.2*draws || long > draws/50 {
		t.Errorf("mean %.2f units; more than 18: %d", float64(total)/draws, long)
	}
}

// A result that is alone is judged at once, as without a queue.
func TestAlone(t *testing.T) {
	units, tests, rejected := simulate(1, 4, nil, map[string]bool{"0": true})
	if units != 1 || tests != 1 || len(rejected) != 1 {
		t.Errorf("%d units, %d tests, rejected %v", units, tests, rejected)
	}
}

// Whatever fails, every good result lands, every bad one is rejected, and what lands was
// tested on the tree that it lands on.
func TestEveryGoodResultLands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "results")
		bad, flaky := map[string]bool{}, map[string]bool{}
		for i := range n {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				bad[fmt.Sprint(i)] = true
			case 1:
				flaky[fmt.Sprint(i)] = true
			}
		}
		_, _, rejected := simulate(n, rapid.IntRange(1, 6).Draw(t, "slots"), bad, flaky)
		for _, id := range rejected {
			if !bad[id] {
				t.Fatalf("%s is good and was rejected", id)
			}
		}
		if len(rejected) != len(bad) {
			t.Fatalf("rejected %v of %v", rejected, bad)
		}
	})
}
