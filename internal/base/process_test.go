package base

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/git"
	"cordon/internal/state"
	"cordon/internal/testwait"
)

// errand is what another process has to do: to ensure bases, one after the other.
type errand struct {
	Repo    string
	Commits []git.OID
}

const errandVariable = "CORDON_BASE_ERRAND"

func init() {
	text, ok := os.LookupEnv(errandVariable)
	if !ok {
		return
	}
	if err := do(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// do prints the key of each base that it makes.
func do(text string) error {
	var e errand
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return err
	}
	ctx := context.Background()
	bin, err := git.Find(ctx)
	if err != nil {
		return err
	}
	host, err := git.Discover(ctx, bin, e.Repo)
	if err != nil {
		return err
	}
	dir, err := state.For(host)
	if err != nil {
		return err
	}
	for _, c := range e.Commits {
		b, err := Store{bin, dir, host.Format}.Ensure(ctx, host.Repo, c, nil)
		if err != nil {
			return err
		}
		if b.Made != "" {
			fmt.Println(b.Key)
		}
	}
	return nil
}

// errand starts another process.
func (w *world) errand(commits ...git.OID) (*exec.Cmd, *strings.Builder) {
	w.t.Helper()
	text, err := json.Marshal(errand{w.host.Top, commits})
	if err != nil {
		w.t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd, out := exec.Command(self), &strings.Builder{}
	cmd.Env = append(os.Environ(), errandVariable+"="+string(text), "XDG_STATE_HOME="+filepath.Join(w.dir, "state"))
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return cmd, out
}

// Many ask for the same bases at once, here and in other processes: each is made
// once, and all are right.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	w := newWorld(t, git.SHA1, grow(rng, git.SHA1, 4)...)
	var mu sync.Mutex
	made := map[string]int{}
	note := func(key string) {
		mu.Lock()
		defer mu.Unlock()
		made[key]++
	}
	var all sync.WaitGroup
	for range 4 {
		cmd, out := w.errand(w.shuffled(rng)...)
		all.Go(func() {
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			for _, key := range strings.Fields(out.String()) {
				note(key)
			}
		})
	}
	for i := range 20 {
		c := w.commits[i%len(w.commits)]
		all.Go(func() {
			b, err := w.store.Ensure(context.Background(), w.host.Repo, c, nil)
			if err != nil {
				t.Error(err)
			} else if b.Made != "" {
				note(b.Key)
			}
			if err := w.store.Verify(context.Background(), b); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, c := range w.commits {
		if n := made[w.key(i)]; n != 1 {
			t.Errorf("commit %d was made %d times", i, n)
		}
		b := w.ensure(c)
		if b.Made != "" {
			t.Errorf("commit %d: made again", i)
		}
		w.check(b, c)
	}
	if trashed, err := w.store.State.Trashed(); err != nil || len(trashed) > 0 {
		t.Errorf("thrown away: %v, %v", trashed, err)
	}
}

func (w *world) shuffled(rng *rand.Rand) []git.OID {
	list := append([]git.OID(nil), w.commits...)
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// Bases are made on one that others remove at the same time: what is returned is
// whole or is refused, and nothing is made twice for nothing.
func TestRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	w := newWorld(t, git.SHA1, grow(rng, git.SHA1, 5)...)
	stop := make(chan struct{})
	var remover, all sync.WaitGroup
	removed := 0
	remover.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			list, err := w.store.List()
			if err != nil || len(list) == 0 {
				continue
			}
			if w.store.Remove(context.Background(), list[i%len(list)].Key, func() (bool, error) { return false, nil }, time.Now()) == nil {
				removed++
			}
		}
	})
	for _, c := range w.commits {
		all.Go(func() {
			for range 6 {
				if _, err := w.store.Ensure(context.Background(), w.host.Repo, c, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	close(stop)
	remover.Wait()
	if removed == 0 {
		t.Error("nothing was removed: nothing was shown")
	}
	for _, c := range w.commits {
		w.check(w.ensure(c), c)
	}
}

// kills ends processes that make bases, at any moment. What they leave is whole, or
// is made again.
func kills(t *testing.T, n int) {
	rng := rand.New(rand.NewPCG(uint64(n), 9))
	one := map[string]node{}
	for i := range 150 {
		one[fmt.Sprintf("dir%d/file%d", i%20, i)] = file(fmt.Sprint(i))
	}
	two := map[string]node{}
	for p, node := range one {
		if rng.IntN(3) > 0 {
			node = file("changed")
		}
		if rng.IntN(10) > 0 {
			two[p] = node
		}
	}
	w := newWorld(t, git.SHA1, one, two)
	defer w.quiet()
	longest := 60 * time.Millisecond
	whole, torn := 0, 0
	for i := 0; i < n || torn == 0 && i < 10*n; i++ {
		c := w.commits[i/2%2]
		w.removeAll()
		if i%2 == 1 {
			w.ensure(w.commits[(i/2+1)%2]) // one to lie on
		}
		cmd, _ := w.errand(c)
		kill := time.AfterFunc(time.Duration(rng.Int64N(int64(longest))), func() { _ = cmd.Process.Kill() }) // it may have ended
		cmd.Wait()
		kill.Stop()
		b, there, err := w.store.Find(context.Background(), w.host.Repo, c)
		if err != nil {
			t.Fatal(err)
		}
		if there {
			whole++
			if err := w.store.Verify(context.Background(), b); err != nil {
				t.Error(err)
			}
		} else if left, _ := filepath.Glob(w.store.newOf("*")); len(left) > 0 {
			torn++
		}
		b = w.ensure(c)
		// A git init that outlived its parent makes its directories again.
		if err := w.store.Sweep(); err != nil {
			t.Fatal(err)
		}
		w.check(b, c)
		if there != (b.Made == "") {
			t.Errorf("it was there: %v, made: %q", there, b.Made)
		}
		if there { // too late
			longest -= longest / 20
		} else {
			longest += longest / 20
		}
		if t.Failed() {
			t.Fatalf("round %d", i)
		}
	}
	t.Logf("of %d, %d were whole and %d torn", n, whole, torn)
	if torn == 0 {
		t.Error("nothing was torn: nothing was shown")
	}
}

func TestKilled(t *testing.T) {
	t.Parallel()
	kills(t, 10)
}

func TestKilledAll(t *testing.T) {
	kills(t, 80)
}

// quiet waits for git processes that outlived their parent to end.
func (w *world) quiet() {
	w.t.Helper()
	busy := func() (list []string) {
		dirs, _ := filepath.Glob("/proc/[0-9]*/cwd")
		for _, d := range dirs {
			if at, err := os.Readlink(d); err == nil && strings.HasPrefix(at, w.dir) {
				list = append(list, d+" is "+at)
			}
		}
		return list
	}
	testwait.Until(w.t, "no git process stays behind", func() bool { return len(busy()) == 0 }, func() string { return strings.Join(busy(), "\n") })
}
