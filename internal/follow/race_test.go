package follow

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"cordon/internal/git"
	"cordon/internal/testwait"
)

// ready is a step whose branch has moved.
func (l landed) ready(t *testing.T) *Step {
	t.Helper()
	s, err := l.begin(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Blocked) > 0 {
		t.Fatalf("blocked %q", s.Blocked)
	}
	l.move(t)
	return s
}

// While a step is there, the operator's git cannot change the index.
func TestLocksTheIndex(t *testing.T) {
	t.Parallel()
	l := land(t, before, change)
	s := l.ready(t)
	if out, err := tryPlain(t, l.Top, "commit", "--allow-empty", "-m", "now"); err == nil || !strings.Contains(out, "index.lock") {
		t.Errorf("git commit: %v, %s", err, out)
	}
	if err := s.finish(t); err != nil {
		t.Fatal(err)
	}
	plain(t, l.Top, "commit", "--allow-empty", "-m", "now")
	l.clean(t)
	l.tidy(t)
}

// tidy wants nothing of cordon's to be left in the repository.
func (l landed) tidy(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"*.lock", "cordon-*", "../.cordon-*", "../*/.cordon-*"} {
		if found, err := filepath.Glob(filepath.Join(l.Dir, pattern)); err != nil || len(found) > 0 {
			t.Errorf("left: %v, %v", found, err)
		}
	}
}

// A lock of somebody's is waited for a moment, named, and left alone; also an empty
// one, which git makes before it writes.
func TestForeignLock(t *testing.T) {
	t.Parallel()
	l := land(t, before, change)
	path := filepath.Join(l.Dir, "index.lock")
	for _, text := range []string{"", "DIRC", lockMagic, lockMagic + "no move"} {
		write(t, path, text)
		_, err := l.begin(t)
		var locked *LockedError
		if !errors.As(err, &locked) || locked.Path != path {
			t.Errorf("%q: %v", text, err)
		}
		if got := read(t, path); got != text {
			t.Errorf("the lock holds %q now", got)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := l.advance(t, true); err != nil {
		t.Error(err)
	}
	l.tidy(t)
}

// A lock that a killed cordon left is taken over for the same move, and reported for
// another one. One whose cordon lives is like anybody's.
func TestAbandonedLock(t *testing.T) {
	t.Parallel()
	l := land(t, before, change)
	alive := l.ready(t)
	_, err := l.begin(t)
	var locked *LockedError
	if !errors.As(err, &locked) {
		t.Errorf("beside a cordon that lives: %v", err)
	}
	if _, ok := Abandoned(l.Dir); ok {
		t.Error("a lock that is held is said to be abandoned")
	}
	alive.lock.abandon() // as the kernel does when a process ends
	m := l.free(t)
	if m.From != l.old || m.To != l.new {
		t.Errorf("abandoned: %+v", m)
	}
	other := l
	other.new = l.old
	_, err = other.begin(t)
	var interrupted *InterruptedError
	if !errors.As(err, &interrupted) || interrupted.Move != m {
		t.Errorf("another move: %v", err)
	}
	if out, err := tryPlain(t, l.Top, "add", "."); err == nil {
		t.Errorf("the lock is gone: %s", out)
	}
	if err := l.catchUp(t); err != nil {
		t.Fatal(err)
	}
	l.clean(t)
	l.tidy(t)
}

// free waits until nobody holds a lock that was abandoned: a process that another test is just starting has it open, too.
func (l landed) free(t *testing.T) (m Move) {
	t.Helper()
	testwait.Until(t, "the lock is abandoned", func() (ok bool) {
		m, ok = Abandoned(l.Dir)
		return ok
	})
	return m
}

// A file that is saved while the branch moves is kept, and named. Everything else
// follows.
func TestSavedAtTheMove(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, status string }{
		"changed":      {"edit", "M edit"},
		"deleted":      {"gone/away", "?? gone/"},
		"added":        {"new/file", "M new/file"},
		"added a link": {"link", "M link"},
	} {
		for _, how := range []string{"in place", "renamed over"} {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				l := land(t, before, change)
				s := l.ready(t)
				write(t, l.path(".git/mine"), "mine\n")
				if how == "in place" {
					write(t, l.path(c.file), "mine\n")
				} else {
					if err := os.MkdirAll(filepath.Dir(l.path(c.file)), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.Rename(l.path(".git/mine"), l.path(c.file)); err != nil {
						t.Fatal(err)
					}
				}
				err := s.finish(t)
				var left *LeftError
				if !errors.As(err, &left) || len(left.Left) != 1 || left.Left[0].Path != c.file {
					t.Errorf("got %v", err)
				}
				if got := read(t, l.path(c.file)); got != "mine\n" {
					t.Errorf("it is %q now", got)
				}
				if got := plain(t, l.Top, "status", "--porcelain"); got != c.status {
					t.Errorf("status: %q, want %q", got, c.status)
				}
				l.tidy(t)
			})
		}
	}
}

// Killed after any number of files, the next cordon finishes, and what somebody saved
// meanwhile stays.
func TestKilledWhilePlacing(t *testing.T) {
	t.Parallel()
	l := land(t, before, change)
	for n := range len(l.ready(t).items) + 1 {
		l := land(t, before, change)
		s := l.ready(t)
		for i, it := range s.items {
			if i == n {
				break
			}
			act := s.put
			if it.delta.New.Mode == git.Absent {
				act = s.remove
			}
			if err := act(it); err != nil {
				t.Fatal(err)
			}
		}
		if n < len(s.items) { // and in the middle of one
			p := s.items[n].delta.Path
			in, err := s.root.below(filepath.Dir(p), true)
			if err != nil {
				t.Fatal(err)
			}
			name, err := s.temporary(in, s.items[n])
			if err != nil {
				t.Fatal(err)
			}
			s.half(t, in, name, s.items[n])
		}
		s.lock.abandon()
		l.free(t)
		if err := l.catchUp(t); err != nil {
			t.Errorf("after %d: %v", n, err)
		}
		l.clean(t)
		l.tidy(t)
	}
}

// half begins to place a file and stops.
func (s *Step) half(t *testing.T, in *dir, temp string, it item) {
	t.Helper()
	name := filepath.Base(it.delta.Path)
	var err error
	switch {
	case it.delta.New.Mode == git.Absent:
		err = renameExclusive(in.fd, name, in.fd, temp)
	case it.delta.Old.Mode != git.Absent:
		if _, err = s.fill(in, temp, it.delta.Path); err == nil {
			err = exchange(in.fd, temp, in.fd, name)
		}
	default:
		var f *os.File
		if f, err = in.open(temp, os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What lies under a temporary name and is neither the old file nor a part of the new
// one was saved by somebody.
func TestKeepsWhatItDidNotWrite(t *testing.T) {
	t.Parallel()
	l := land(t, before, change)
	s := l.ready(t)
	name, err := s.temporary(s.root, s.items[0])
	if err != nil {
		t.Fatal(err)
	}
	write(t, l.path(name), "mine\n")
	if s.items[0].delta.Path != "edit" {
		t.Fatalf("the first is %s", s.items[0].delta.Path)
	}
	if err := s.finish(t); err != nil {
		t.Fatal(err)
	}
	if got := read(t, l.path(name)); got != "mine\n" {
		t.Errorf("it is %q now", got)
	}
}

// A directory that became a link is not written through, whether it leads out or not.
func TestFollowsNoLink(t *testing.T) {
	t.Parallel()
	l := land(t, map[string]string{"dir/a": "1\n", "dir/b": "1\n"}, map[string]string{"dir/a": "2\n", "dir/b": "", "dir/c": "3\n"})
	s := l.ready(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "b"), "1\n")
	if err := os.Rename(l.path("dir"), l.path("moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, l.path("dir")); err != nil {
		t.Fatal(err)
	}
	err := s.finish(t)
	var left *LeftError
	if !errors.As(err, &left) || len(left.Left) != 3 {
		t.Errorf("got %v", err)
	}
	if found, err := filepath.Glob(filepath.Join(outside, "*")); err != nil || len(found) != 1 {
		t.Errorf("outside: %v, %v", found, err)
	}
	// A checkout that is itself reached by a link is refused.
	at := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(l.Top, at); err != nil {
		t.Fatal(err)
	}
	l.c.Top = at
	if _, err := l.begin(t); !errors.Is(err, ErrLink) {
		t.Errorf("through a link: %v", err)
	}
}

// A branch that did not move after all: the checkout goes back, from wherever the move
// was given up, and keeps what somebody saved meanwhile.
func TestRewind(t *testing.T) {
	t.Parallel()
	for _, saved := range []string{"", "edit"} {
		for n := range 5 + 2 {
			l := land(t, before, change)
			s, err := l.begin(t)
			if err != nil {
				t.Fatal(err)
			}
			want := ""
			switch {
			case n == len(s.items): // everything but the index
				if _, err := s.place(); err != nil {
					t.Fatal(err)
				}
			case n > len(s.items):
				if err := s.Carry(t.Context()); err != nil {
					t.Fatal(err)
				}
			default:
				for _, it := range s.items[:n] {
					if it.delta.New.Mode == git.Absent {
						err = s.remove(it)
					} else {
						err = s.put(it)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			if saved != "" {
				write(t, l.path(saved), "mine\n")
				want = "M edit"
			}
			s.Abandon()
			l.free(t)
			if s, err = l.begin(t); err != nil {
				t.Fatal(err)
			}
			if err := s.Rewind(t.Context(), t.TempDir()); err != nil {
				t.Fatal(err)
			}
			if got := plain(t, l.Top, "status", "--porcelain"); got != want {
				t.Errorf("after %d, saved %q: status %q, want %q", n, saved, got, want)
			}
			l.tidy(t)
		}
	}
}

// What the operator made like the new commit before the move began is theirs when the
// move is taken back, staged or not.
func TestRewindKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} {
		l := land(t, map[string]string{"edit": "1\n", "staged": "1\n", "z": "1\n"},
			map[string]string{"edit": "2\n", "staged": "2\n", "z": "2\n", "added": "a\n", "new": "n\n"})
		write(t, l.path("edit"), "2\n")
		write(t, l.path("staged"), "2\n")
		write(t, l.path("added"), "a\n")
		write(t, l.path("new"), "n\n")
		write(t, l.path("other"), "o\n")
		plain(t, l.Top, "add", "staged", "added", "other")
		want := plain(t, l.Top, "status", "--porcelain")
		s, err := l.begin(t)
		if err != nil || len(s.Blocked) > 0 {
			t.Fatal(err, s.Blocked)
		}
		if whole {
			err = s.Carry(t.Context())
		} else {
			s.begun = true
			_, err = s.place()
		}
		if err != nil || read(t, l.path("z")) != "2\n" {
			t.Fatal("nothing was placed", err)
		}
		if err := s.Rewind(t.Context(), t.TempDir()); err != nil {
			t.Fatal(err)
		}
		if got := plain(t, l.Top, "status", "--porcelain"); got != want {
			t.Errorf("with the index %v: status %q, want %q", whole, got, want)
		}
		for name, text := range map[string]string{"edit": "2\n", "staged": "2\n", "added": "a\n", "new": "n\n", "z": "1\n"} {
			if got := read(t, l.path(name)); got != text {
				t.Errorf("with the index %v: %s is %q, want %q", whole, name, got, text)
			}
		}
		l.tidy(t)
	}
}

// A staged file and a landing that cannot both be in an index: the landing waits, also
// where git merge --ff-only drops one of the two.
func TestStagedInTheWay(t *testing.T) {
	t.Parallel()
	for staged, lands := range map[string]string{"a": "a/b", "a/b": "a"} {
		for _, add := range [][]string{{"add"}, {"add", "-N"}} {
			l := land(t, before, map[string]string{lands: "w\n"})
			write(t, l.path(staged), "mine\n")
			plain(t, l.Top, append(add, staged)...)
			if err := os.RemoveAll(l.path("a")); err != nil {
				t.Fatal(err)
			}
			want := plain(t, l.Top, "status", "--porcelain")
			s, err := l.begin(t)
			if err != nil {
				t.Fatal(err)
			}
			if staged == "a" && len(add) == 2 { // nothing is staged but a name
				s.Drop()
				continue
			}
			if len(s.Blocked) != 1 {
				t.Errorf("%q with %q staged: blocked %q", lands, staged, s.Blocked)
			}
			s.Drop()
			if got := plain(t, l.Top, "status", "--porcelain"); got != want {
				t.Errorf("status %q, want %q", got, want)
			}
			l.tidy(t)
		}
	}
}

// Whoever gets the lock has it alone, and it has its name, however many try at once.
func TestLockIsExclusive(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	var holders atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for got := 0; got < 10; {
				d, err := openDir(top)
				if err != nil {
					t.Error(err)
					return
				}
				l, err := d.lock(Move{Ref: "refs/heads/main"})
				if err != nil {
					d.close()
					if !errors.Is(err, errHeld) {
						t.Error(err)
						return
					}
					continue
				}
				if n := holders.Add(1); n != 1 || !d.has(indexLock, l.file) {
					t.Errorf("%d hold the lock; it is ours: %v", n, d.has(indexLock, l.file))
				}
				got++
				holders.Add(-1)
				if err := l.release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(top); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// When somebody removes our lock and git makes its own, git's is left alone: the step
// places nothing and does not give away what is not its own.
func TestReplacedLock(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Step){
		"release": func(s *Step) { _ = s.Release() },
		"drop":    func(s *Step) { s.Drop() },
		"carry":   func(s *Step) { defer s.Drop(); _ = s.Carry(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := land(t, before, change)
			s, err := l.begin(t)
			if err != nil {
				t.Fatal(err)
			}
			path, index := filepath.Join(l.Dir, indexLock), read(t, filepath.Join(l.Dir, "index"))
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			write(t, path, "DIRC") // another file, while ours is open
			end(s)
			if got := read(t, path); got != "DIRC" {
				t.Errorf("the lock holds %q now", got)
			}
			if read(t, filepath.Join(l.Dir, "index")) != index {
				t.Error("the index was replaced without its lock")
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			l.clean(t)
		})
	}
}
