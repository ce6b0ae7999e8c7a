package state

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

// host is a repository that is only looked at by its paths.
func host(dir string) git.Host {
	return git.Host{Repo: git.Repo{Dir: filepath.Join(dir, ".git")}, Top: dir}
}

// stateIn makes the state of a repository at dir/repo.
func stateIn(t *testing.T) (Dir, git.Host) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(base, "state"))
	h := host(filepath.Join(base, "repo"))
	d, err := For(h)
	if err != nil {
		t.Fatal(err)
	}
	if d.Exists() {
		t.Fatal("naming the state made it")
	}
	if err := d.Make(h); err != nil {
		t.Fatal(err)
	}
	return d, h
}

func TestForRefusesAPlaceInsideTheRepository(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(base, "repo")
	linked := host(repo)
	linked.Top = filepath.Join(base, "linked")
	for _, c := range []struct {
		place string
		host  git.Host
		ok    bool
	}{
		{filepath.Join(base, "state"), host(repo), true},
		{filepath.Join(base, "repository"), host(repo), true},
		{filepath.Join(repo, "state"), host(repo), false},
		{filepath.Join(repo, ".git", "x"), host(repo), false},
		{filepath.Join(repo, "state"), linked, false}, // the main checkout, seen from a linked one
		{filepath.Join(base, "linked", "x"), linked, false},
	} {
		t.Setenv("XDG_STATE_HOME", c.place)
		if _, err := For(c.host); (err == nil) != c.ok {
			t.Errorf("state in %s for %s: %v, want ok %v", c.place, c.host.Top, err, c.ok)
		}
	}
}

func TestForIsTheSameFromEveryCheckout(t *testing.T) {
	d, h := stateIn(t)
	h.Top += "-linked"
	if other, err := For(h); err != nil || other != d {
		t.Errorf("%v, %v", other, err)
	}
	other, err := For(host(h.Top))
	if err != nil || other == d {
		t.Errorf("another repository has the same state: %v, %v", other, err)
	}
}

func TestInside(t *testing.T) {
	d, h := stateIn(t)
	tree := d.Tree("swift-otter")
	for _, dir := range []string{filepath.Join(tree, "src"), h.Top} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(filepath.Dir(h.Top), "link")
	if err := os.Symlink(tree, link); err != nil {
		t.Fatal(err)
	}
	want := func(path string, inside bool) {
		t.Helper()
		if got, err := Inside(path); err != nil || got != inside {
			t.Errorf("Inside(%q) is %v, %v, want %v", path, got, err, inside)
		}
	}
	want(tree, true)
	want(link, true)
	want(filepath.Join(link, "src", "not-there"), true)
	want(h.Top, false)
	t.Chdir(tree)
	want(".", true)
	want("src", true)
	want("../../../../../repo", false)
	t.Chdir(h.Top)
	want(".", false)
	want("../link", true)
}

// The holder of a lock is known while it holds it, and only then.
func TestHolder(t *testing.T) {
	d := Dir{path: t.TempDir()}
	const id = "brisk-otter"
	if pid := d.Holder(id); pid != 0 {
		t.Errorf("%d holds a lock that is not there", pid)
	}
	release, err := d.LockWorker(id)
	if err != nil {
		t.Fatal(err)
	}
	if pid := d.Holder(id); pid != os.Getpid() {
		t.Errorf("%d holds the lock, not %d", pid, os.Getpid())
	}
	// A holder of an older version left the name of another process, which is gone.
	if err := os.WriteFile(filepath.Join(d.path, WorkerLock(id)), []byte("2147483646\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if pid := d.Holder(id); pid != 0 {
		t.Errorf("a process that is gone holds the lock: %d", pid)
	}
	release()
	if release, err = d.LockWorker(id); err != nil {
		t.Fatal(err)
	}
	release()
	if pid := d.Holder(id); pid != 0 {
		t.Errorf("%d holds a lock that was released", pid)
	}
}

// Asking whether a lock is held must keep nobody from taking it.
func TestLockIsNotDisturbedByHeld(t *testing.T) {
	d, _ := stateIn(t)
	const name = "workers/swift-otter/lock"
	release, err := d.Lock(name, false)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Held(name) {
		t.Error("a lock that is held is not seen")
	}
	if _, err := d.Lock(name, false); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	release()
	if d.Held(name) {
		t.Error("a lock that was released is still seen")
	}
	stop := make(chan struct{})
	var askers sync.WaitGroup
	for range 8 {
		askers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					d.Held(name)
				}
			}
		})
	}
	for range 2000 {
		release, err := d.Lock(name, false)
		if err != nil {
			t.Fatalf("nobody holds it: %v", err)
		}
		release()
	}
	close(stop)
	askers.Wait()
}

// Many processes begin at once; a reader must find the whole file or none.
func TestObjectsAreLinkedAtomically(t *testing.T) {
	for _, name := range []string{"plain", "new\nline \"quoted\""} {
		t.Run(name, func(t *testing.T) {
			d, h := stateIn(t)
			h.Dir = filepath.Join(filepath.Dir(h.Top), name, ".git")
			if err := d.Make(h); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(d.Objects(), "info", "alternates")
			want, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(want), filepath.Dir(h.Top)) {
				t.Fatalf("%q, %v", want, err)
			}
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for range 200 {
						if err := d.Make(h); err != nil {
							t.Error(err)
						}
						if got, err := os.ReadFile(file); err != nil || string(got) != string(want) {
							t.Errorf("%q, %v", got, err)
						}
					}
				})
			}
			all.Wait()
			if left, err := d.Trashed(); err != nil || len(left) > 0 {
				t.Errorf("drafts are left: %v, %v", left, err)
			}
		})
	}
}

func TestMakeRefusesAStateThatOthersCanWrite(t *testing.T) {
	d, h := stateIn(t)
	if err := os.Chmod(d.Path(), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := d.Make(h); err == nil || !strings.Contains(err.Error(), "can be written by others") {
		t.Errorf("%v", err)
	}
}

// fill makes a directory with a file, a link to a precious file, and a directory
// that forbids its own removal.
func fill(t *testing.T, dir, precious string) {
	t.Helper()
	closed := filepath.Join(dir, "closed")
	if err := os.MkdirAll(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.WriteFile(filepath.Join(closed, "f"), nil, 0o600),
		os.Symlink(precious, filepath.Join(dir, "link")),
		os.Chmod(closed, 0o500),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestEraseAndTrash(t *testing.T) {
	d, h := stateIn(t)
	precious := filepath.Join(h.Top, "precious")
	if err := os.MkdirAll(precious, 0o755); err != nil {
		t.Fatal(err)
	}
	fill(t, d.Tree("swift-otter"), precious)
	if err := d.Erase(d.Tree("swift-otter")); err != nil {
		t.Error(err)
	}
	fill(t, d.Tree("calm-yak"), precious)
	name, err := d.Trash(d.Tree("calm-yak"), time.Unix(7, 0))
	if err != nil || !strings.HasSuffix(name, "-trees-calm-yak") {
		t.Errorf("%q, %v", name, err)
	}
	left, err := d.Trashed()
	if err != nil || len(left) != 1 || !left[0].When.Equal(time.Unix(7, 0)) {
		t.Errorf("%v, %v", left, err)
	}
	if name, err := d.Trash(d.Tree("calm-yak"), time.Now()); err != nil || name != "" {
		t.Errorf("a second time: %q, %v", name, err)
	}
	if err := d.Erase(left[0].Path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Errorf("a link was followed: %v", err)
	}
}

func TestOnlyOwnPlacesAreRemoved(t *testing.T) {
	d, h := stateIn(t)
	outside := filepath.Join(h.Top, "x")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	// A part that is a link leads out of the state.
	if err := os.Remove(filepath.Join(d.Path(), "accept")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(h.Top, filepath.Join(d.Path(), "accept")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		outside, d.Path(), d.Objects(), d.Gate(), filepath.Join(d.Path(), "trees"), filepath.Join(d.Path(), "trees", ".."),
		filepath.Join(d.Path(), "trees", "a", "b"), filepath.Join(d.Path(), "journal"), filepath.Join(d.Path(), "accept", "x"),
	} {
		if err := d.Erase(path); err == nil {
			t.Errorf("%s was erased", path)
		}
		if name, err := d.Trash(path, time.Now()); err == nil {
			t.Errorf("%s was moved to %q", path, name)
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

// A tree that is deeper than there are descriptors, with directories that forbid
// their removal, is erased all the same.
func TestEraseDeep(t *testing.T) {
	d, _ := stateIn(t)
	tree := d.Tree("deep-tree")
	if err := os.MkdirAll(tree, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Open(tree)
	if err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		if err := unix.Mkdirat(int(dir.Fd()), "d", 0o700); err != nil {
			t.Fatal(err)
		}
		fd, err := unix.Openat(int(dir.Fd()), "d", unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		dir.Close()
		dir = os.NewFile(uintptr(fd), "d")
	}
	if err := dir.Chmod(0); err != nil {
		t.Fatal(err)
	}
	dir.Close()
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	few := was
	few.Cur = 256
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &was)
	root, err := os.OpenRoot(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.RemoveAll("trees/deep-tree"); err == nil {
		t.Fatal("it can be removed without help, so this shows nothing")
	}
	if err := d.Erase(tree); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(tree); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
}
