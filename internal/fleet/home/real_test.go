package home_test

import (
	"bytes"
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

	"github.com/nats-io/nkeys"

	"cordon/internal/audit"
	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/node"
	"cordon/internal/fleet/pack"
	"cordon/internal/fleet/protocol"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/policy"
	"cordon/internal/testwait"
)

// filesFleet is a home with a repository and nodes with repositories of their own, in one process.
type filesFleet struct {
	t       *testing.T
	ctx     context.Context
	bin     git.Binary
	top     string // the repository of the home
	host    git.Repo
	base    git.OID
	packs   *home.Packs
	dir     string // of the journal
	mu      sync.Mutex
	sent    map[string][]int64 // bytes of each base that a node got
	outside string             // the stage whose node writes outside the lease
}

// plainGit runs git as a person does.
func (f *filesFleet) plainGit(dir string, args ...string) string {
	f.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=n@n"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func newFilesFleet(t *testing.T) *filesFleet {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	bin, err := git.Find(ctx)
	if err != nil {
		t.Fatal(err)
	}
	f := &filesFleet{t: t, ctx: ctx, bin: bin, dir: t.TempDir(), sent: map[string][]int64{}}
	top := t.TempDir()
	f.top = top
	f.plainGit(top, "init", "-q", "-b", "main")
	noise := make([]byte, 1<<20) // more than one piece, which no packing makes smaller
	for i := range noise {
		noise[i] = byte(rand.IntN(256))
	}
	if err := os.WriteFile(filepath.Join(top, "data"), noise, 0o644); err != nil {
		t.Fatal(err)
	}
	f.plainGit(top, "add", ".")
	f.plainGit(top, "commit", "-qm", "base")
	f.base = git.OID(f.plainGit(top, "rev-parse", "HEAD"))
	host, err := git.Discover(ctx, bin, top)
	if err != nil {
		t.Fatal(err)
	}
	f.host = host.Repo
	f.packs = packsAt(f.host, f.dir)
	return f
}

// startNode starts a node that changes one file for each stage.
func (f *filesFleet) startNode(e engine.Node, key nkeys.KeyPair, homeKey, name string, token protocol.Token, wait *sync.WaitGroup) {
	f.t.Helper()
	public, err := key.PublicKey()
	if err != nil {
		f.t.Fatal(err)
	}
	works, err := newFilesNode(f.ctx, f.bin, f.t.TempDir(), f.base)
	if err != nil {
		f.t.Fatal(err)
	}
	works.outside = f.outside
	works.got = func(size int64) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.sent[name] = append(f.sent[name], size)
	}
	n := &node.Node{
		Engine: e, Key: key, Home: protocol.Node{Fleet: fleet, Home: homeKey, Key: public}, Program: "test",
		Classes: []string{home.AnyClass}, Slots: 1, Beat: lost / 5, Run: works.run,
	}
	wait.Go(func() {
		if a, err := n.Join(f.ctx, token, name); err != nil || a.Verdict != protocol.Joined {
			f.t.Errorf("%s: %+v, %v", name, a, err)
			return
		}
		n.Work(f.ctx)
	})
}

// results are the manifests in the journal.
func (f *filesFleet) results(log *journal.Journal) map[string]protocol.Result {
	f.t.Helper()
	events, err := log.Events()
	if err != nil {
		f.t.Fatal(err)
	}
	all := map[string]protocol.Result{}
	for _, e := range events {
		if e.Type != home.Returned {
			continue
		}
		var r home.Return
		var signed protocol.Signed
		var manifest protocol.Result
		if err := json.Unmarshal(e.Data, &r); err != nil {
			f.t.Fatal(err)
		}
		if err := json.Unmarshal(r.Manifest, &signed); err != nil {
			f.t.Fatal(err)
		}
		if err := json.Unmarshal(signed.Body, &manifest); err != nil {
			f.t.Fatal(err)
		}
		all[e.Worker] = manifest
	}
	return all
}

// TestRealResults runs stages with files over two nodes: each gets the base as a pack, commits a
// file, and sends its commit back. The home admits every result into a quarantine of its own and
// audits it. One node writes outside the lease, and only its result has a violation. A node that
// has the base is sent less than a hundredth of it the next time.
func TestRealResults(t *testing.T) {
	const count = 12
	f := newFilesFleet(t)
	f.outside = "s5"
	e := engine.NewLocal()
	t.Cleanup(func() { e.Close() })
	seed, homeKey := newKey(t)
	key, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		t.Fatal(err)
	}
	log, err := journal.Open(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	tickets := map[string]protocol.Ticket{}
	h := &home.Home{
		Engine: e, Key: key, Fleet: fleet, Program: "test", Lost: lost, Again: 50 * time.Millisecond, MaxPack: 1 << 20, Packs: f.packs,
		Source: source{stages{count, tickets}, string(f.base), f.dir},
	}
	var all sync.WaitGroup
	ctx, stop := context.WithCancel(f.ctx)
	f.ctx = ctx
	defer all.Wait()
	defer stop()
	tokens := map[string]protocol.Token{}
	for _, name := range []string{"one", "two"} {
		secret := []byte("the secret of the node " + name)
		tickets[name] = protocol.Ticket{Secret: secret, Expires: time.Now().Add(time.Hour)}
		tokens[name] = protocol.Token{Address: "x", Home: homeKey, Fleet: fleet, Ticket: name, Secret: secret}
	}
	if err := h.Open(log); err != nil {
		t.Fatal(err)
	}
	all.Go(func() {
		if err := h.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	for name, token := range tokens {
		k, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		public, err := k.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		f.startNode(e.Node(public), k, homeKey, name, token, &all)
	}
	var results map[string]protocol.Result
	testwait.Until(t, "every stage has a result", func() bool {
		results = f.results(log)
		return len(results) >= count || ctx.Err() != nil
	}, func() string { return fmt.Sprintf("%d of %d: %v", len(results), count, results) })
	f.admitAll(results, count)
	for name, bytes := range f.sent {
		for _, next := range bytes[1:] {
			if next*100 >= bytes[0] {
				t.Errorf("node %s was sent %v bytes", name, bytes)
			}
		}
		t.Logf("node %s was sent bases of %v bytes", name, bytes)
	}
}

// srcRules are those of a lease that lets a worker write below src.
func srcRules(t *testing.T) policy.Rules {
	t.Helper()
	p := policy.Default()
	p.Filesystem.WriteRoots = []string{"src"}
	rules, err := policy.Compile(p, policy.Location{Worktree: "/w", Home: "/h"})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// admitAll admits all results and looks at what they hold.
func (f *filesFleet) admitAll(results map[string]protocol.Result, count int) {
	f.t.Helper()
	rules := srcRules(f.t)
	for i := range count {
		name := fmt.Sprint("s", i)
		r := results[name]
		got, err := pack.Admission{
			Bin: f.bin, Host: f.host, Dir: filepath.Join(f.t.TempDir(), "quarantine"), Store: f.packs.Gotten, Pack: r.Pack,
			Base: f.base, Commit: git.OID(r.Commit), Rules: rules, Most: 1 << 20, Many: 100,
		}.Admit(f.t.Context())
		if err != nil || len(got.Findings) != 1 {
			f.t.Errorf("%s: %+v, %v", name, got.Findings, err)
			continue
		}
		if violates := got.Findings[0].Class == audit.Violation; violates != (name == f.outside) {
			f.t.Errorf("%s: %+v", name, got.Findings[0])
		}
		content, _, err := got.Repo.FileAt(f.t.Context(), git.OID(r.Commit), string(got.Findings[0].Path))
		if err != nil || !bytes.Equal(content, []byte(name)) {
			f.t.Errorf("%s holds %q: %v", name, content, err)
		}
	}
}
