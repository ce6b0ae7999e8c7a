package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"cordon/internal/git"
	"cordon/internal/policy"
	"cordon/internal/queue/line"
)

// Twenty gates at once on one host: every result lands, none on top of another.
func TestLandInParallel(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	const n = 20
	orders := make([]Order, n)
	for i, id := range ids(n) {
		orders[i] = s.order(id, map[string]string{fmt.Sprintf("src/%d.txt", i): "x\n", fmt.Sprintf("dir%d/f", i): "y\n"},
			func(p *policy.Policy) { p.Acceptance = []string{"true"} })
	}
	var wg sync.WaitGroup
	var tested atomic.Int32
	for _, o := range orders {
		o.Accept = func(context.Context, git.OID) ([]Check, error) {
			tested.Add(1)
			return []Check{{Command: "true"}}, nil
		}
		wg.Go(func() {
			g, err := Open(ctx, s.gate.bin, s.host, s.dir, s.announce) // as every process does
			if err != nil {
				t.Error(err)
				return
			}
			res, err := g.Land(ctx, o)
			if err != nil || res.Outcome != Merged || res.Checkout != "" {
				t.Errorf("%s: %+v, %v", o.Lease.Lease().ID, res, err)
			}
		})
	}
	wg.Wait()
	if n := tested.Load(); n > 2*int32(len(orders)) {
		t.Errorf("%d results were tested %d times: they do not wait for their turn", len(orders), n)
	}
	if got := s.git("rev-list", "--count", "main"); got != fmt.Sprint(n+1) {
		t.Errorf("%s commits, want %d", got, n+1)
	}
	for i := range n {
		for _, name := range []string{fmt.Sprintf("src/%d.txt", i), fmt.Sprintf("dir%d/f", i)} {
			if _, err := os.Stat(filepath.Join(s.host.Top, name)); err != nil {
				t.Errorf("lost: %v", err)
			}
		}
	}
	s.clean()
}

// The target moves while the result is tested: what was tested is not what would
// land, so it is merged and tested again.
func TestLandTestsWhatLands(t *testing.T) {
	s := newSite(t)
	o := s.order("able-fox", map[string]string{"src/x": "1\n"}, func(p *policy.Policy) { p.Acceptance = []string{"true"} })
	var tested []git.OID
	o.Accept = func(_ context.Context, commit git.OID) ([]Check, error) {
		tested = append(tested, commit)
		if len(tested) < 3 {
			s.write(filepath.Join(s.host.Top, "op.txt"), fmt.Sprint(len(tested)))
			s.git("add", "op.txt")
			s.git("commit", "-q", "-m", "operator")
		}
		return []Check{{Command: "true"}}, nil
	}
	res := must(s.gate.Land(context.Background(), o))(t)
	if res.Outcome != Merged || len(tested) != 3 || tested[2] != res.Commit {
		t.Errorf("tested %v, landed %+v", tested, res)
	}
	if got := s.git("show", "main:op.txt"); got != "2" {
		t.Errorf("the operator's commit is lost: %q", got)
	}
	s.clean()
}

// A target that does not hold still is given up, not waited for for ever.
func TestLandGivesUp(t *testing.T) {
	s := newSite(t)
	o := s.order("able-fox", map[string]string{"src/x": "1\n"}, nil)
	moved := 0
	o.Intend = func(Landing) error {
		moved++
		next := s.git("commit-tree", "-p", "main", "-m", "operator", "main^{tree}") // the index is locked
		s.git("update-ref", "refs/heads/main", next)
		return nil
	}
	res := must(s.gate.Land(context.Background(), o))(t)
	if res.Outcome != Waiting || moved != tries || !strings.Contains(res.Why, "moved 10 times") {
		t.Errorf("%+v after %d moves", res, moved)
	}
	if got := s.git("show", "refs/cordon/results/able-fox:src/x"); got != "1" {
		t.Errorf("the result holds %q", got)
	}
	if got := s.git("log", "-1", "--format=%s", "main"); got != "operator" {
		t.Errorf("main is at %q", got)
	}
	s.clean()
}

// Acceptance that did not run is not acceptance that passed.
func TestLandCountsChecks(t *testing.T) {
	for name, c := range map[string]struct {
		checks []Check
		err    error
	}{
		"none":      {},
		"one of 2":  {checks: []Check{{Command: "a"}}},
		"three":     {checks: []Check{{Command: "a"}, {Command: "b"}, {Command: "c"}}},
		"a failure": {checks: []Check{{Command: "a"}, {Command: "b", Code: 1}}},
		"negative":  {checks: []Check{{Command: "a"}, {Command: "b", Code: -1}}},
		"an error":  {checks: []Check{{Command: "a"}, {Command: "b"}}, err: errors.New("no disk")},
	} {
		s := newSite(t)
		o := s.order("able-fox", map[string]string{"src/x": "1\n"}, func(p *policy.Policy) { p.Acceptance = []string{"a", "b"} })
		o.Accept = func(context.Context, git.OID) ([]Check, error) { return c.checks, c.err }
		res, err := s.gate.Land(context.Background(), o)
		if (err != nil) != (c.err != nil) || err == nil && res.Outcome != Rejected {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
		if s.ref("refs/heads/main") != s.base {
			t.Errorf("%s: it landed", name)
		}
	}
}

// The intention is durable before the branch moves; without it nothing moves.
func TestLandIntendsFirst(t *testing.T) {
	s := newSite(t)
	o := s.order("able-fox", map[string]string{"src/x": "1\n"}, nil)
	full := errors.New("no space left")
	o.Intend = func(move Landing) error {
		if s.ref(move.Ref) != s.base || move.Old != s.base || len(move.Checkouts) != 1 {
			t.Errorf("intended %+v with main at %s", move, s.ref(move.Ref))
		}
		return full
	}
	if _, err := s.gate.Land(context.Background(), o); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if s.ref("refs/heads/main") != s.base {
		t.Error("it landed without its intention")
	}
	s.clean()
}

// Once the branch has moved the result is merged. A checkout that somebody
// changed at that very moment is left alone, and the words say what to type.
func TestLandLeavesACheckoutBehind(t *testing.T) {
	s := newSite(t)
	o := s.order("able-fox", map[string]string{"src/x": "1\n"}, nil)
	mine := filepath.Join(s.host.Top, "src", "x")
	o.Intend = func(Landing) error { s.write(mine, "mine\n"); return nil }
	res := must(s.gate.Land(context.Background(), o))(t)
	if res.Outcome != Merged || s.ref("refs/heads/main") != res.Commit || res.Checkout != s.host.Top {
		t.Fatalf("got %+v", res)
	}
	if b, err := os.ReadFile(mine); err != nil || string(b) != "mine\n" {
		t.Errorf("the operator's file is %q, %v", b, err)
	}
	if !strings.Contains(res.Why, "git stash keeps your versions") {
		t.Fatalf("it does not say what to type: %s", res.Why)
	}
	s.git("stash")
	s.clean()
	if got := s.git("show", "stash@{0}:src/x"); got != "mine" {
		t.Errorf("the stash holds %q", got)
	}
}

// Killed between the branch and its checkouts: the next command brings them
// together.
func TestCatchUp(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	o := s.order("able-fox", map[string]string{"src/x": "1\n", "src/y": "2\n"}, nil)
	var move Landing
	killed := errors.New("killed")
	o.Intend = func(m Landing) error { move = m; return killed }
	if _, err := s.gate.Land(ctx, o); !errors.Is(err, killed) {
		t.Fatal(err)
	}
	s.git("update-ref", move.Ref, string(move.New), string(move.Old))
	if got := s.git("status", "--porcelain"); !strings.Contains(got, "D ") {
		t.Fatalf("the checkout does not show the landing in reverse: %q", got)
	}
	s.write(filepath.Join(s.host.Top, "src", "x"), "1\n") // git had got so far
	for range 2 {
		if err := s.gate.CatchUp(ctx, move); err != nil {
			t.Fatal(err)
		}
		s.clean()
	}
	// A commit that took a file of it back is not undone.
	s.git("rm", "-q", "src/y")
	s.git("commit", "-q", "-m", "without y")
	if err := s.gate.CatchUp(ctx, move); err != nil {
		t.Fatal(err)
	}
	s.clean()
	// Somebody who went on from there is left alone.
	s.git("commit", "-q", "--allow-empty", "-m", "on")
	s.write(filepath.Join(s.host.Top, "src", "x"), "edited\n")
	if err := s.gate.CatchUp(ctx, move); err != nil {
		t.Errorf("an edit that came later is in the way: %v", err)
	}
	s.git("checkout", "-q", "-f", "-b", "other", string(s.base))
	s.write(filepath.Join(s.host.Top, "src", "x"), "untracked here\n")
	if err := s.gate.CatchUp(ctx, move); err != nil {
		t.Errorf("a checkout on another branch: %v", err)
	}
}

// A symbolic ref in place of the branch would be replaced, or move another one.
func TestLandRefusesASymbolicBranch(t *testing.T) {
	s := newSite(t)
	o := s.order("able-fox", map[string]string{"src/x": "1\n"}, nil)
	s.git("branch", "-m", "main", "trunk")
	s.git("symbolic-ref", "refs/heads/main", "refs/heads/trunk")
	if res, err := s.gate.Land(context.Background(), o); err == nil || !strings.Contains(err.Error(), "symbolic ref") {
		t.Errorf("%+v, %v", res, err)
	}
	if s.git("symbolic-ref", "refs/heads/main") != "refs/heads/trunk" || s.ref("refs/heads/trunk") != s.base {
		t.Error("refs were changed")
	}
}

func TestLandWithoutATarget(t *testing.T) {
	s := newSite(t)
	o := s.order("able-fox", map[string]string{"src/x": "1\n"}, nil)
	s.git("checkout", "-q", "--detach")
	s.git("branch", "-D", "main")
	s.git("tag", "refs/heads/main") // what rev-parse would find instead
	if res, err := s.gate.Land(context.Background(), o); !errors.Is(err, git.ErrNoRef) {
		t.Errorf("%+v, %v", res, err)
	}
}

// The lease is held against the merged tree whatever the snapshot was cleared by.
func TestLandChecksTheLease(t *testing.T) {
	s := newSite(t)
	o := s.order("able-fox", map[string]string{"src/x": "1\n", "docs/x": "1\n"}, func(p *policy.Policy) { p.Filesystem.WriteRoots = []string{"src"} })
	res := must(s.gate.Land(context.Background(), o))(t)
	if res.Outcome != Violating || len(res.Findings) != 1 || res.Findings[0].Path != "docs/x" {
		t.Errorf("%+v", res)
	}
	if s.ref("refs/heads/main") != s.base {
		t.Error("it landed")
	}
}

// Whoever waits for their turn can be interrupted, and is told that they wait.
func TestWaitingIsInterrupted(t *testing.T) {
	s := newSite(t)
	o := s.order("able-fox", map[string]string{"src/x": "1\n"}, nil)
	first := line.Result{Base: s.base, Snapshot: s.base, Tip: s.base}
	defer must(line.Enter(line.Ticket{Dir: s.dir, Target: "refs/heads/main", ID: "calm-yak", Tip: s.base, Result: first}))(t).Leave()
	ctx, cancel := context.WithCancel(context.Background())
	o.Waits = cancel
	if res, err := s.gate.Land(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", res, err)
	}
	if s.ref("refs/heads/main") != s.base {
		t.Error("it landed out of turn")
	}
}

func TestLandInterrupted(t *testing.T) {
	s := newSite(t)
	o := s.order("able-fox", map[string]string{"src/x": "1\n"}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	o.Intend = func(Landing) error { cancel(); return nil }
	if res, err := s.gate.Land(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", res, err)
	}
	if s.ref("refs/heads/main") != s.base {
		t.Error("it landed after it was interrupted")
	}
	s.clean()
}

// A result that cannot be checked out does not land: the branch does not move. Here no process
// may write a file that is longer than 8 MiB (go test writes some of its own). Without that bound the same result lands.
func TestLandNeedsACheckout(t *testing.T) {
	s := newSite(t)
	o := s.order("able-fox", map[string]string{"src/zeros": strings.Repeat("\x00", 9<<20)}, nil)
	intended := 0
	o.Intend = func(Landing) error { intended++; return nil }
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	few := syscall.Rlimit{Cur: 8 << 20, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &few); err != nil {
		t.Fatal(err)
	}
	res, err := s.gate.Land(context.Background(), o)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	if err == nil || !strings.Contains(err.Error(), "the result cannot be checked out") || intended != 0 {
		t.Errorf("%+v, %v, intended %d times", res, err, intended)
	}
	if s.ref("refs/heads/main") != s.base {
		t.Error("it landed")
	}
	s.clean()
	if res, err := s.gate.Land(context.Background(), o); err != nil || res.Outcome != Merged || intended != 1 {
		t.Errorf("the control: %+v, %v, intended %d times", res, err, intended)
	}
	s.clean()
}
