package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/policy"
	"cordon/internal/queue"
	"cordon/internal/queue/line"
)

// crowd are results that land at once, with acceptance that a test decides.
type crowd struct {
	*site
	orders  []Order
	mu      sync.Mutex
	passed  map[lease.ID][]git.OID // trees
	tests   map[lease.ID]int
	results map[lease.ID]Result
	errs    map[lease.ID]error
}

func newCrowd(t *testing.T, n int, accept func(c *crowd, ctx context.Context, id lease.ID, commit git.OID) bool) *crowd {
	c := &crowd{site: newSite(t), passed: map[lease.ID][]git.OID{}, tests: map[lease.ID]int{}, results: map[lease.ID]Result{}, errs: map[lease.ID]error{}}
	for i, id := range ids(n) {
		o := c.order(id, map[string]string{fmt.Sprintf("src/%d.txt", i): "x\n"}, func(p *policy.Policy) { p.Acceptance = []string{"check"} })
		o.Accept = func(ctx context.Context, commit git.OID) ([]Check, error) {
			c.mu.Lock()
			c.tests[id]++
			c.mu.Unlock()
			ok := accept(c, ctx, id, commit)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if !ok {
				return []Check{{Command: "check", Code: 1}}, nil
			}
			tree, err := c.gate.repo.TreeOf(ctx, commit)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.passed[id] = append(c.passed[id], tree)
			return []Check{{Command: "check"}}, err
		}
		c.orders = append(c.orders, o)
	}
	return c
}

// has reports whether a commit holds a file of a result.
func (c *crowd) has(commit git.OID, i int) bool {
	_, there, err := c.gate.repo.FileAt(context.Background(), commit, fmt.Sprintf("src/%d.txt", i))
	return err == nil && there
}

// run lands them all, each as a process does, in an order that is known: each enters when the
// one before it waits or is tested.
func (c *crowd) run() {
	ctx := context.Background()
	var wg sync.WaitGroup
	for i := range c.orders {
		o := c.orders[i]
		wg.Go(func() {
			g, err := Open(ctx, c.gate.bin, c.host, c.dir, c.announce)
			if err != nil {
				c.t.Error(err)
				return
			}
			o.Slots = 4
			res, err := g.Land(ctx, o)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.results[o.Lease.Lease().ID], c.errs[o.Lease.Lease().ID] = res, err
		})
	}
	wg.Wait()
}

// check holds the outcome of every result against what it has to be, and every landed tree
// against what was tested.
func (c *crowd) check(bad map[lease.ID]Outcome) {
	c.t.Helper()
	for _, o := range c.orders {
		id := o.Lease.Lease().ID
		want := Merged
		if w, ok := bad[id]; ok {
			want = w
		}
		if res, err := c.results[id], c.errs[id]; err != nil || res.Outcome != want {
			c.t.Errorf("%s: %+v, %v; want %s", id, res, err, want)
		}
		if want != Merged {
			continue
		}
		tree := must(c.gate.repo.TreeOf(context.Background(), c.results[id].Commit))(c.t)
		if list := c.passed[id]; len(list) == 0 || list[len(list)-1] != tree {
			c.t.Errorf("%s landed as %s and was tested as %v", id, tree, list)
		}
	}
	if got, want := c.git("rev-list", "--count", "main", "--grep", "Cordon-Worker"), fmt.Sprint(len(c.orders)-len(bad)); got != want {
		c.t.Errorf("%s results landed, want %s", got, want)
	}
	if left := must(line.All(c.dir))(c.t); len(left) > 0 {
		c.t.Errorf("left in the queue: %+v", left)
	}
	c.clean()
}

// Results are tested four at a time, each once, on the trees on which they land.
func TestWindow(t *testing.T) {
	var mu sync.Mutex
	running, most := 0, 0
	four := make(chan struct{})
	c := newCrowd(t, 12, func(_ *crowd, ctx context.Context, _ lease.ID, _ git.OID) bool {
		mu.Lock()
		if running++; running > most {
			if most = running; most == 4 {
				close(four)
			}
		}
		mu.Unlock()
		select {
		case <-four:
		case <-ctx.Done():
		}
		mu.Lock()
		running--
		mu.Unlock()
		return true
	})
	c.run()
	c.check(nil)
	if most > 4 {
		t.Errorf("%d tests ran at once", most)
	}
	for id, n := range c.tests {
		if n != 1 {
			t.Errorf("%s was tested %d times", id, n)
		}
	}
}

// A bad result is rejected after its second test, and nobody else; a flake lands.
func TestQueueRejectsTheBadOneAlone(t *testing.T) {
	var flaked atomic.Bool
	c := newCrowd(t, 10, func(c *crowd, _ context.Context, id lease.ID, commit git.OID) bool {
		if c.has(commit, 5) { // such a tree is given up, and what fails on it is no flake
			return false
		}
		// One flake only: behind another that fails, its tree is given up as well.
		return id != c.orders[2].Lease.Lease().ID || !flaked.CompareAndSwap(false, true)
	})
	var again []string
	c.orders[5].Again = func(why string) { again = append(again, why) }
	c.run()
	bad := c.orders[5].Lease.Lease().ID
	c.check(map[lease.ID]Outcome{bad: Rejected})
	again = slices.DeleteFunc(again, func(why string) bool { return !strings.HasPrefix(why, "acceptance command") }) // and others landed
	if len(again) != 1 || !strings.Contains(again[0], `acceptance command "check" ended with 1`) {
		t.Errorf("it was told %q", again)
	}
	if res := c.results[bad]; !strings.Contains(res.Why, "acceptance command") || res.Retries != 1 {
		t.Errorf("%+v", res)
	}
	flake := c.results[c.orders[2].Lease.Lease().ID]
	if text := c.git("show", "-s", "--format=%B", string(flake.Commit)); flake.Retries != 1 || !strings.Contains(text, "Cordon-Retries: 1") {
		t.Errorf("%+v\n%s", flake, text)
	}
}

// Commits of the operator between the tests make everything that was tested before worthless.
func TestOperatorBetweenResults(t *testing.T) {
	n, commits := 0, 0
	var mu sync.Mutex
	c := newCrowd(t, 6, func(c *crowd, _ context.Context, _ lease.ID, _ git.OID) bool {
		mu.Lock()
		defer mu.Unlock()
		if n++; n == 2 || n == 5 || n == 9 {
			release, err := c.dir.Lock("gate.lock", true) // two gits in one checkout are not what is tested
			if err != nil {
				c.t.Error(err)
				return false
			}
			defer release()
			c.write(filepath.Join(c.host.Top, "op.txt"), fmt.Sprint(n))
			c.git("add", "op.txt")
			c.git("commit", "-q", "-m", "operator")
			commits++
		}
		return true
	})
	c.run()
	c.check(nil)
	// Results that enter one after the other are tested eight times in all, and the third commit is not made.
	if got := c.git("rev-list", "--count", "--grep=operator", "main"); got != fmt.Sprint(commits) || commits < 2 {
		t.Errorf("%s commits of the operator, who made %d", got, commits)
	}
}

// A result that conflicts with one ahead of it is not tested behind that one, and is told so
// when the other has landed.
func TestConflictInTheQueue(t *testing.T) {
	c := newCrowd(t, 4, func(*crowd, context.Context, lease.ID, git.OID) bool { return true })
	for _, i := range []int{1, 2} {
		o := c.order(c.orders[i].Lease.Lease().ID, map[string]string{"src/same.txt": fmt.Sprint(i)}, func(p *policy.Policy) { p.Acceptance = []string{"check"} })
		c.orders[i].Snapshot = o.Snapshot
	}
	c.run()
	lost := c.orders[1].Lease.Lease().ID
	if c.results[lost].Outcome == Merged {
		lost = c.orders[2].Lease.Lease().ID
	}
	c.check(map[lease.ID]Outcome{lost: Conflict})
	if res := c.results[lost]; len(res.Paths) != 1 || res.Paths[0] != "src/same.txt" {
		t.Errorf("%+v", res)
	}
}

// Whoever is gone holds nobody up, wherever it was: an entry without a process leaves, and a
// branch that already has its result is not taken for the operator's.
func TestDeadInTheQueue(t *testing.T) {
	for name, dead := range map[string]queue.Entry{
		"waited":  {ID: "gone-yak"},
		"tested":  {ID: "gone-yak", Testing: true, Run: 1},
		"passed":  {ID: "gone-yak", Verdict: queue.Passed, Run: 1},
		"landing": {ID: "gone-yak", Verdict: queue.Passed, Run: 1, Landing: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCrowd(t, 2, func(*crowd, context.Context, lease.ID, git.OID) bool { return true })
			place := must(line.Enter(line.Ticket{Dir: c.dir, Target: "refs/heads/main", ID: "gone-yak", Tip: c.base}))(t)
			file := must(filepath.Glob(filepath.Join(c.dir.Path(), "queue", "*.json")))(t)[0]
			place.Leave()
			text := must(json.Marshal(line.Line{Target: "refs/heads/main", Tip: c.base, Queue: queue.Queue{Entries: []queue.Entry{dead}, Runs: 1},
				Results: map[string]line.Result{"gone-yak": {Base: c.base, Snapshot: c.base, Tip: c.base}}}))(t)
			c.write(file, string(text))
			c.run()
			c.check(nil)
		})
	}
}

// A queue that cannot be read is empty.
func TestDamagedQueue(t *testing.T) {
	var damaged atomic.Int32
	c := newCrowd(t, 3, func(c *crowd, _ context.Context, _ lease.ID, _ git.OID) bool {
		if damaged.Add(1) > 3 {
			return true
		}
		files, _ := filepath.Glob(filepath.Join(c.dir.Path(), "queue", "*.json"))
		for _, f := range files {
			if err := os.WriteFile(f, []byte("{"), 0o600); err != nil && !errors.Is(err, os.ErrNotExist) {
				c.t.Error(err)
			}
		}
		return true
	})
	c.run()
	c.check(nil)
}
