package session_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/fault"
	"cordon/internal/journal"
	"cordon/internal/keep"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/session"
	"cordon/internal/state"
	"cordon/internal/workspace"
	"cordon/internal/worktree"
)

// bad is a quarantined worker.
func (s *shop) bad() *ledger.Worker {
	s.t.Helper()
	d := s.dispatch("echo out >docs.txt; echo in >src/in.txt")
	p := policy.Default()
	p.Filesystem.WriteRoots = []string{"src"}
	d.Policy = &p
	w, err := runAll(context.Background(), s.open(), d, session.Drive{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.want(w, ledger.InQuarantine)
	return w
}

func amendment() session.Amendment {
	return session.Amendment{Policy: policy.Default(), Source: "test", Who: "op", Why: "fine", Amended: true}
}

// Of two releases at once one counts: the other would put another lease in place
// of the one that is being landed.
func TestReleaseOnce(t *testing.T) {
	s := newShop(t)
	w := s.bad()
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		at := s.open()
		wg.Go(func() { _, errs[i] = at.Release(context.Background(), w, amendment(), session.Drive{}) })
	}
	wg.Wait()
	s.want(w, ledger.MergedIn)
	now, err := s.open().History()
	if err != nil {
		t.Fatal(err)
	}
	releases := 0
	for _, e := range now.Events {
		if e.Type == ledger.Released {
			releases++
		}
	}
	if releases != 1 {
		t.Errorf("%d releases are recorded: %v", releases, errs)
	}
	if got := s.git("rev-list", "--count", "main"); got != "2" {
		t.Errorf("%s commits", got)
	}
	s.clean()
}

// Killed at each event of a release, the next command finishes it or finds it
// where it was.
func TestReleaseKilled(t *testing.T) {
	for _, typ := range []string{ledger.Released, ledger.Intended, ledger.Judged} {
		for _, moment := range []journal.Moment{journal.Before, journal.After} {
			t.Run(typ+" "+moment.String(), func(t *testing.T) {
				s := newShop(t)
				w := s.bad()
				s.dies(typ, moment, nil, func(at *session.Session) {
					_, _ = at.Release(context.Background(), w, amendment(), session.Drive{})
				})
				at := s.open()
				now, err := at.Find(string(w.ID))
				if err != nil {
					t.Fatal(err)
				}
				if typ == ledger.Released && moment == journal.Before {
					s.want(w, ledger.InQuarantine)
					_, err = at.Release(context.Background(), now, amendment(), session.Drive{})
				} else {
					_, err = at.Merge(context.Background(), now, session.Drive{})
				}
				if err != nil {
					t.Fatal(err)
				}
				s.want(w, ledger.MergedIn)
				s.clean()
				if s.read("docs.txt") != "out\n" {
					t.Error("it did not land")
				}
			})
		}
	}
}

// Discarding is refused while a process is at work on the worker, and a worker is
// discarded once.
func TestDiscardOnce(t *testing.T) {
	s := newShop(t)
	w := s.bad()
	for i, want := range []bool{true, false} {
		err := keep.Discard(context.Background(), s.open().Site, w, ledger.Discard{Who: "op"})
		if (err == nil) != want {
			t.Errorf("discard %d: %v", i+1, err)
		}
	}
	var refused *fault.RefusedError
	if _, err := s.open().Release(context.Background(), w, amendment(), session.Drive{}); !errors.As(err, &refused) {
		t.Errorf("a release of what was discarded: %v", err)
	}
	s.want(w, ledger.ThrownAway)
}

// Killed while it discards: gc puts the rest in the trash, and nothing is lost.
func TestDiscardKilled(t *testing.T) {
	s := newShop(t)
	w := s.bad()
	s.dies(ledger.Discarded, journal.After, nil, func(at *session.Session) {
		_ = keep.Discard(context.Background(), at.Site, w, ledger.Discard{Who: "op"})
	})
	s.want(w, ledger.ThrownAway)
	at := s.open()
	s.gc(at)
	if got := s.git("for-each-ref", "--format=%(refname)", "refs/cordon/trash", "refs/cordon/quarantine"); strings.Contains(got, "quarantine") ||
		!strings.Contains(got, "/result") {
		t.Errorf("refs: %s", got)
	}
	trashed, err := at.State.Trashed()
	if err != nil || len(trashed) != places(w) {
		t.Fatalf("trash: %v, %v", trashed, err)
	}
	tree := trashed[len(trashed)-1].Path
	if layered(w) {
		tree = worktree.Upper(trashed[0].Path, worktree.FilesLayer)
	}
	if b, err := os.ReadFile(filepath.Join(tree, "docs.txt")); err != nil || string(b) != "out\n" {
		t.Errorf("in the trash: %q, %v", b, err)
	}
}

// layered reports whether a worker's tree is copied on write.
func layered(w *ledger.Worker) bool { return w.Lease.Lease().Tree == lease.Layered }

// places is how many directories a worker's files lie in: its private layers, and its
// tree where that is not one of them.
func places(w *ledger.Worker) int {
	if layered(w) {
		return 2 // its layers, and the copy of its commits
	}
	return 4 // its git directory lies beside its tree
}

// gc does everything that it says it would, and waits for it.
func (s *shop) gc(at *session.Session) (kept []keep.Chore) {
	s.t.Helper()
	chores, err := keep.Chores(context.Background(), at.Site, keep.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range chores {
		if c.Keep {
			kept = append(kept, c)
		}
		if err := c.Do(context.Background()); err != nil {
			s.t.Errorf("%s: %v", c, err)
		}
	}
	if err := keep.Sweep(at.Site); err != nil {
		s.t.Error(err)
	}
	return kept
}

// What is in the trash goes when its time is over, and leaves nothing: neither a
// tree nor a ref nor a pin, whatever there was to discard.
func TestTrashTime(t *testing.T) {
	s := newShop(t)
	w := s.bad()
	plain := s.run("exit 1") // failed: it has a pin and no result
	for _, x := range []*ledger.Worker{w, plain} {
		if err := keep.Discard(context.Background(), s.open().Site, x, ledger.Discard{Who: "op"}); err != nil {
			t.Fatal(err)
		}
	}
	at := s.open()
	if kept := s.gc(at); len(kept) != 2*(places(w)+1) {
		t.Errorf("kept %v, want trees, layers, copies of commits and refs of two", kept)
	}
	at.Now = func() time.Time { return time.Now().Add(keep.TrashTime + time.Minute) }
	if kept := s.gc(at); len(kept) != 0 {
		t.Errorf("kept %v", kept)
	}
	if got := s.git("for-each-ref", "refs/cordon"); got != "" {
		t.Errorf("left in the repository:\n%s", got)
	}
	if trashed, err := at.State.Trashed(); err != nil || len(trashed) > 0 {
		t.Errorf("left in the trash: %v, %v", trashed, err)
	}
	if chores, err := keep.Chores(context.Background(), at.Site, keep.Options{}); err != nil || len(chores) > 0 {
		t.Errorf("still to do: %v, %v", chores, err)
	}
}

// gc finishes a removal that was interrupted. A tree in which somebody has worked with git since then goes to the trash.
func TestGCInterrupted(t *testing.T) {
	for name, kept := range map[string]bool{"refs/heads/mine": true, "index": false} {
		s := newShop(t)
		d := s.dispatch("echo x >src/x.txt")
		d.Tree = workspace.PlainTree
		w, err := runAll(t.Context(), s.open(), d, session.Drive{})
		if err != nil {
			t.Fatal(err)
		}
		s.want(w, ledger.MergedIn)
		at := s.open()
		if err := errors.Join(at.Begin(t.Context()), at.Append(w.ID, ledger.Removed, ledger.Removal{Why: "test"})); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at.TreeOf(w), ".git", name), []byte(w.Lease.Lease().Base+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		chores, err := keep.Chores(t.Context(), at.Site, keep.Options{})
		if err == nil {
			err = keep.Do(t.Context(), chores)
		}
		trashed, terr := at.State.Trashed()
		if err != nil || terr != nil {
			t.Fatal(err, terr)
		}
		isTree := func(t state.Trashed) bool { return !t.Dropped() && strings.HasSuffix(t.Name, "-trees-"+string(w.ID)) }
		if slices.ContainsFunc(trashed, isTree) != kept {
			t.Errorf("%s: in the trash: %v", name, trashed)
		}
	}
}

// What was listed is proven again before it is removed: the branch was moved back
// while the operator thought about it.
func TestGCProvesAgain(t *testing.T) {
	for name, meanwhile := range map[string]func(*shop, *session.Session, *ledger.Worker){
		"moved back": func(s *shop, _ *session.Session, _ *ledger.Worker) { s.git("reset", "-q", "--hard", "HEAD~1") },
		"changed": func(s *shop, at *session.Session, w *ledger.Worker) {
			if err := os.WriteFile(filepath.Join(at.TreeOf(w), "src", "x.txt"), []byte("later\n"), 0o644); err != nil {
				s.t.Fatal(err)
			}
		},
		"unreadable": func(s *shop, at *session.Session, w *ledger.Worker) {
			repo := filepath.Join(at.State.Shadow(string(w.ID)), ".git")
			if layered(w) {
				repo = worktree.Upper(at.LayersOf(w), worktree.GitLayer)
			}
			if err := os.Rename(filepath.Join(repo, "objects"), filepath.Join(repo, "hidden")); err != nil {
				s.t.Fatal(err)
			}
			if err := os.Symlink("hidden", filepath.Join(repo, "objects")); err != nil {
				s.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t)
			w := s.run("echo x >src/x.txt; git add -A; git commit -qm x")
			s.want(w, ledger.MergedIn)
			at := s.open()
			chores, err := keep.Chores(context.Background(), at.Site, keep.Options{})
			if err != nil || len(chores) == 0 || chores[0].Keep || chores[0].Worker != w.ID {
				t.Fatalf("chores %v, %v", chores, err)
			}
			meanwhile(s, at, w)
			if err := chores[0].Do(context.Background()); err == nil {
				t.Error("it was removed")
			}
			if _, err := os.Stat(filepath.Join(at.TreeOf(w), "src", "x.txt")); err != nil {
				t.Error(err)
			}
			now, err := s.open().Find(string(w.ID))
			if err != nil || now.Removal != nil {
				t.Errorf("recorded as removed: %+v, %v", now.Removal, err)
			}
		})
	}
}

// Killed while it removes, gc goes on where it was.
func TestGCKilled(t *testing.T) {
	s := newShop(t)
	w := s.run("echo x >src/x.txt")
	s.dies(ledger.Removed, journal.After, nil, func(at *session.Session) { s.gc(at) })
	at := s.open()
	s.gc(at)
	if _, err := os.Stat(at.TreeOf(w)); err == nil {
		t.Error("the tree is still there")
	}
	if got := s.git("for-each-ref", "refs/cordon"); got != "" {
		t.Errorf("left: %s", got)
	}
	s.want(w, ledger.MergedIn)
}
