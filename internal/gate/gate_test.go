package gate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/message"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/testfile"
)

// site is a host repository with one commit, and a gate to it.
type site struct {
	t    *testing.T
	host git.Host
	dir  state.Dir
	gate *Gate
	base git.OID

	journal   sync.Mutex
	announced map[string]git.OID // what it would have of the refs
	refused   error              // instead
}

// announce is the journal. It is told of each value before the ref has it.
func (s *site) announce(_ lease.ID, refs []Naming) error {
	s.journal.Lock()
	defer s.journal.Unlock()
	for _, n := range refs {
		if now, err := s.host.Ref(context.Background(), n.Ref); err == nil && now == n.OID {
			s.t.Errorf("%s is at %s before that is in the journal", n.Ref, now)
		}
		if s.refused == nil {
			s.announced[n.Ref] = n.OID
		}
	}
	return s.refused
}

func newSite(t *testing.T) *site {
	t.Helper()
	place, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(place, "state"))
	t.Setenv("HOME", place)
	top := filepath.Join(place, "repo")
	if err := os.Mkdir(top, 0o755); err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, announced: map[string]git.OID{}}
	s.in(top, "init", "-q", "-b", "main")
	s.write(filepath.Join(top, "src", "a.txt"), "a\n")
	s.write(filepath.Join(top, "docs", "d.txt"), "d\n")
	s.in(top, "add", ".")
	s.in(top, "commit", "-q", "-m", "base")
	bin := must(git.Find(context.Background()))(t)
	s.host = must(git.Discover(context.Background(), bin, top))(t)
	s.dir = must(state.For(s.host))(t)
	if err := s.dir.Make(s.host); err != nil {
		t.Fatal(err)
	}
	s.gate = must(Open(context.Background(), bin, s.host, s.dir, s.announce))(t)
	s.base = s.ref("refs/heads/main")
	return s
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func (s *site) in(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Operator", "GIT_AUTHOR_EMAIL=operator@example.com",
		"GIT_COMMITTER_NAME=Operator", "GIT_COMMITTER_EMAIL=operator@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// git is the operator's git in their checkout.
func (s *site) git(args ...string) string { s.t.Helper(); return s.in(s.host.Top, args...) }

func (s *site) ref(name string) git.OID {
	s.t.Helper()
	return must(s.host.Ref(context.Background(), name))(s.t)
}

func (s *site) write(path, content string) {
	s.t.Helper()
	testfile.Write(s.t, path, content)
}

func (s *site) lease(id lease.ID, change func(*policy.Policy)) lease.Sealed {
	s.t.Helper()
	p := policy.Default()
	if change != nil {
		change(&p)
	}
	now := time.Now()
	return must(lease.Seal(lease.Lease{
		Terms: lease.Terms{
			ID: id, Branch: "cordon/" + string(id), Base: s.base, Target: "refs/heads/main",
			Created: now, Expires: now.Add(time.Hour), Source: "test", Policy: p,
		},
		Place: lease.Place{Worktree: s.dir.Tree(string(id)), Home: "/home"},
	}))(s.t)
}

// tree is a worker's tree with some files, and what an audit says of them.
func (s *site) tree(files map[string]string) (top string, found []audit.Finding) {
	s.t.Helper()
	top = s.t.TempDir()
	for name, content := range files {
		s.write(filepath.Join(top, name), content)
		entry := git.Entry{Mode: git.Regular, OID: git.SHA1.Blob([]byte(content))}
		found = append(found, audit.Finding{Change: audit.Change{Path: audit.Path(name), Kind: audit.Added, New: entry}, Class: audit.Landing})
	}
	return top, found
}

// order is a clean result with some files, ready to land.
func (s *site) order(id lease.ID, files map[string]string, change func(*policy.Policy)) Order {
	s.t.Helper()
	top, found := s.tree(files)
	snapshot := must(s.gate.Snapshot(context.Background(), string(id), s.base, top, found))(s.t)
	return Order{
		Lease: s.lease(id, change), Snapshot: snapshot, Entry: "1:x", Message: message.Message{Subject: "cordon: " + string(id)}, Author: policy.Identity{Name: "w", Email: "w@x"},
		Accept: func(context.Context, git.OID) ([]Check, error) { return nil, nil },
		Intend: func(Landing) error { return nil },
	}
}

func (s *site) clean() {
	s.t.Helper()
	if got := s.git("status", "--porcelain"); got != "" {
		s.t.Errorf("the checkout is not clean:\n%s", got)
	}
	if out := s.git("fsck", "--strict"); strings.Contains(out, "error") {
		s.t.Errorf("fsck: %s", out)
	}
}

// The snapshot is what the audit saw, or nothing.
func TestSnapshotProvesItself(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	for name, between := range map[string]func(top string) error{
		"same size": func(top string) error { return os.WriteFile(filepath.Join(top, "src/x"), []byte("2\n"), 0o644) },
		"longer":    func(top string) error { return os.WriteFile(filepath.Join(top, "src/x"), []byte("11\n"), 0o644) },
		"gone":      func(top string) error { return os.Remove(filepath.Join(top, "src/x")) },
		"a link now": func(top string) error {
			if err := os.Remove(filepath.Join(top, "src/x")); err != nil {
				return err
			}
			return os.Symlink("/etc/passwd", filepath.Join(top, "src/x"))
		},
		"a link to the same": func(top string) error {
			s.write(filepath.Join(top, "elsewhere"), "1\n")
			if err := os.Remove(filepath.Join(top, "src/x")); err != nil {
				return err
			}
			return os.Symlink("../elsewhere", filepath.Join(top, "src/x"))
		},
		"its directory a link": func(top string) error {
			if err := os.Rename(filepath.Join(top, "src"), filepath.Join(top, "moved")); err != nil {
				return err
			}
			return os.Symlink("moved", filepath.Join(top, "src"))
		},
	} {
		top, found := s.tree(map[string]string{"src/x": "1\n"})
		if _, err := s.gate.Snapshot(ctx, "x", s.base, top, found); err != nil {
			t.Fatalf("%s: before: %v", name, err)
		}
		if err := between(top); err != nil {
			t.Fatal(err)
		}
		if commit, err := s.gate.Snapshot(ctx, "x", s.base, top, found); err == nil {
			t.Errorf("%s: a snapshot was taken: %s", name, commit)
		}
	}
}

// What the audit did not list is not taken, and what it listed wrongly is found.
func TestSnapshotTakesWhatWasAudited(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	top, found := s.tree(map[string]string{"src/x": "1\n"})
	s.write(filepath.Join(top, "src/unlisted"), "u\n")
	commit := must(s.gate.Snapshot(ctx, "x", s.base, top, found))(t)
	if deltas := must(s.gate.Repo().Diff(ctx, s.base, commit))(t); len(deltas) != 1 || deltas[0].Path != "src/x" {
		t.Errorf("it holds %v", deltas)
	}
	gone := audit.Finding{Change: audit.Change{Path: "docs/d.txt", Kind: audit.Deleted}, Class: audit.Landing}
	commit = must(s.gate.Snapshot(ctx, "x", s.base, top, append(found, gone)))(t)
	if files := must(s.gate.Repo().Tree(ctx, commit))(t); len(files) != 2 {
		t.Errorf("it holds %v", files)
	}
	lies := map[string]audit.Finding{
		"a deletion of nothing": {Change: audit.Change{Path: "no/such", Kind: audit.Deleted}},
		"no change":             {Change: audit.Change{Path: "src/a.txt", Kind: audit.Modified, New: git.Entry{Mode: git.Regular, OID: git.SHA1.Blob([]byte("a\n"))}}},
	}
	s.write(filepath.Join(top, "src/a.txt"), "a\n")
	for name, f := range lies {
		if commit, err := s.gate.Snapshot(ctx, "x", s.base, top, []audit.Finding{f}); err == nil {
			t.Errorf("%s: a snapshot was taken: %s", name, commit)
		}
	}
}

// The gate's own refs keep their base from gc, and go when they are told to.
func TestPinAndForget(t *testing.T) {
	s := newSite(t)
	ctx := context.Background()
	if err := s.gate.Pin(ctx, "able-fox", s.base); err != nil {
		t.Fatal(err)
	}
	o := s.order("able-fox", map[string]string{"src/x": "1\n"}, nil)
	if res := must(s.gate.Land(ctx, o))(t); res.Outcome != Merged {
		t.Fatalf("%+v", res)
	}
	s.git("update-ref", "refs/cordon/pins/able-foxes", string(s.base))
	for range 2 {
		if err := s.gate.Forget(ctx, "able-fox"); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.git("for-each-ref", "--format=%(refname)", "refs/cordon"); got != "refs/cordon/pins/able-foxes" {
		t.Errorf("left: %q", got)
	}
	if refs := must(s.gate.Repo().Refs(ctx))(t); len(refs) > 0 {
		t.Errorf("left in the gate: %v", refs)
	}
}

func ids(n int) []lease.ID {
	var list []lease.ID
	for _, a := range strings.Fields("able agile airy alert amber") {
		for _, b := range strings.Fields("fox owl wolf yak zebra") {
			list = append(list, lease.ID(a+"-"+b))
		}
	}
	if n > len(list) {
		panic(fmt.Sprintf("%d names", n))
	}
	return list[:n]
}
