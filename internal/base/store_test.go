package base

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/state"
)

// world is a repository with commits and the bases of it.
type world struct {
	t       testing.TB
	dir     string
	host    git.Host
	store   Store
	commits []git.OID
	oracle  string // a clone, for checkouts by plain git
}

// node is one thing in a tree of a commit.
type node struct {
	mode    git.Mode
	content string
}

// newWorld makes a repository with one commit for each tree.
func newWorld(t testing.TB, format git.Format, trees ...map[string]node) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, oracle: filepath.Join(dir, "oracle")}
	repo := filepath.Join(dir, "repo")
	w.plain(dir, nil, "init", "-q", "--object-format="+string(format), repo)
	w.plain(repo, stream(trees), "fast-import", "--quiet", "--export-marks="+filepath.Join(dir, "marks"))
	marks, err := os.ReadFile(filepath.Join(dir, "marks"))
	if err != nil {
		t.Fatal(err)
	}
	w.commits = make([]git.OID, len(trees))
	for line := range strings.Lines(string(marks)) {
		var n int
		var oid string
		if _, err := fmt.Sscanf(line, ":%d %s", &n, &oid); err != nil {
			t.Fatal(err)
		}
		w.commits[n-1] = git.OID(oid)
	}
	w.plain(dir, nil, "clone", "-q", "--shared", "--no-checkout", repo, w.oracle)
	w.open(repo)
	return w
}

var environment sync.Mutex

// open finds the repository and its state the way cordon does.
func (w *world) open(repo string) {
	w.t.Helper()
	ctx := context.Background()
	bin, err := git.Find(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.host, err = git.Discover(ctx, bin, repo); err != nil {
		w.t.Fatal(err)
	}
	environment.Lock() // tests run beside each other
	defer environment.Unlock()
	place := os.Getenv("XDG_STATE_HOME")
	os.Setenv("XDG_STATE_HOME", filepath.Join(w.dir, "state"))
	defer os.Setenv("XDG_STATE_HOME", place)
	dir, err := state.For(w.host)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := dir.Make(w.host); err != nil {
		w.t.Fatal(err)
	}
	w.store = Store{Bin: bin, State: dir, Format: w.host.Format}
}

// plain runs git the way anybody would, outside of the code under test.
func (w *world) plain(dir string, stdin []byte, args ...string) string {
	w.t.Helper()
	out, err := plainGit(dir, stdin, args...)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func plainGit(dir string, stdin []byte, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C"}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %v: %w: %s", args, err, &errs)
	}
	return string(out), nil
}

// stream is the trees as input of git fast-import.
func stream(trees []map[string]node) []byte {
	var b bytes.Buffer
	for i, tree := range trees {
		fmt.Fprintf(&b, "commit refs/heads/main\nmark :%d\ncommitter A <a@example.com> %d +0000\ndata 0\n\ndeleteall\n", i+1, 1700000000+i)
		for _, p := range slices.Sorted(maps.Keys(tree)) {
			n := tree[p]
			if n.mode == git.Gitlink {
				fmt.Fprintf(&b, "M 160000 %s %s\n", n.content, quoted(p))
				continue
			}
			fmt.Fprintf(&b, "M %o inline %s\ndata %d\n%s\n", uint32(n.mode), quoted(p), len(n.content), n.content)
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}

func quoted(p string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(p) {
		fmt.Fprintf(&b, "\\%03o", p[i])
	}
	return b.String() + `"`
}

func file(content string) node { return node{git.Regular, content} }
func link(target string) node  { return node{git.Symlink, target} }

// seen is what somebody finds at a path.
type seen struct {
	mode    os.FileMode
	content string
	real    string // where it lies
}

// look lists everything below a directory but a .git at its top.
func look(t testing.TB, top string) map[string]seen {
	t.Helper()
	all := map[string]seen{}
	into(t, all, []string{top}, ".")
	delete(all, ".git")
	maps.DeleteFunc(all, func(p string, _ seen) bool { return strings.HasPrefix(p, ".git/") })
	return all
}

// merged lists what an overlay of the layers shows.
func merged(t testing.TB, layers []string) map[string]seen {
	t.Helper()
	all := map[string]seen{}
	into(t, all, layers, ".")
	return all
}

func into(t testing.TB, all map[string]seen, layers []string, dir string) {
	t.Helper()
	names := map[string]bool{}
	for _, l := range layers {
		entries, err := os.ReadDir(filepath.Join(l, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names[e.Name()] = true
		}
	}
	for name := range names {
		p := path.Join(dir, name)
		var below []string // the layers that are merged at p
		for _, l := range layers {
			fi, err := os.Lstat(filepath.Join(l, p))
			if os.IsNotExist(err) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if fi.IsDir() {
				below = append(below, l)
				if _, there := all[p]; !there {
					all[p] = seen{mode: fi.Mode(), real: filepath.Join(l, p)}
				}
				continue
			}
			if len(below) == 0 && !isWhiteout(fi) {
				all[p] = see(t, filepath.Join(l, p), fi)
			}
			break
		}
		if len(below) > 0 {
			into(t, all, below, p)
		}
	}
}

func isWhiteout(fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && fi.Mode()&os.ModeCharDevice != 0 && st.Rdev == 0
}

func see(t testing.TB, at string, fi os.FileInfo) seen {
	t.Helper()
	s := seen{mode: fi.Mode(), real: at}
	if fi.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(at)
		if err != nil {
			t.Fatal(err)
		}
		s.content = target
		return s
	}
	b, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	s.content = string(b)
	return s
}

// layersOnly names why a test of layers is not run where there are none.
func (w *world) layersOnly() {
	w.t.Helper()
	if w.store.Snapshots() {
		w.t.Skip("on btrfs no base lies on another")
	}
}

// ensure is Ensure for a test in which it works.
func (w *world) ensure(commit git.OID) Base {
	w.t.Helper()
	b, err := w.store.Ensure(context.Background(), w.host.Repo, commit, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// check compares a base with a checkout of its commit by plain git.
func (w *world) check(b Base, commit git.OID) {
	w.t.Helper()
	top := filepath.Join(w.dir, "checkout-"+string(commit))
	if _, err := os.Lstat(top); err != nil {
		w.plain(w.oracle, nil, "worktree", "add", "-q", "--detach", top, string(commit))
	}
	want, got := look(w.t, top), merged(w.t, b.Layers)
	same(w.t, commit, got, want)
	w.checkIndex(b, commit, got)
	if err := w.store.Verify(context.Background(), b); err != nil {
		w.t.Errorf("%s: %v", commit.Short(), err)
	}
	w.counts(b, commit)
	if left, _ := filepath.Glob(w.store.newOf("*")); len(left) > 0 {
		w.t.Errorf("%s: left behind: %q", commit.Short(), left)
	}
}

// counts compares what a base says of itself with git.
func (w *world) counts(b Base, commit git.OID) {
	w.t.Helper()
	files, err := w.host.Tree(context.Background(), commit)
	if err != nil {
		w.t.Fatal(err)
	}
	var links []string
	for _, f := range files {
		if f.Mode == git.Gitlink {
			links = append(links, f.Path)
		}
	}
	slices.Sort(links)
	if b.Files != len(files)-len(links) || !slices.Equal(b.Submodules, links) {
		w.t.Errorf("%s: %d files and submodules %q, want %d and %q", commit.Short(), b.Files, b.Submodules, len(files)-len(links), links)
	}
}

func same(t testing.TB, commit git.OID, got, want map[string]seen) {
	t.Helper()
	for p, x := range want {
		y, ok := got[p]
		if !ok {
			t.Errorf("%s: %q is missing", commit.Short(), p)
		} else if x.mode != y.mode || x.content != y.content {
			t.Errorf("%s: %q is %v %.40q, want %v %.40q", commit.Short(), p, y.mode, y.content, x.mode, x.content)
		}
	}
	for p, y := range got {
		if _, ok := want[p]; !ok {
			t.Errorf("%s: %q is too much: %v at %s", commit.Short(), p, y.mode, y.real)
		}
	}
}

// checkIndex holds every entry of a base's index against the file that the base
// shows: git must take it for unchanged without reading it.
func (w *world) checkIndex(b Base, commit git.OID, files map[string]seen) {
	w.t.Helper()
	names, err := os.ReadDir(b.Index)
	if err != nil || len(names) != 1 || names[0].Name() != "index" {
		w.t.Fatalf("%v, %v", names, err)
	}
	index := filepath.Join(b.Index, "index")
	fi, err := os.Lstat(index)
	if err != nil {
		w.t.Fatal(err)
	}
	tree := w.indexTree(index)
	if tree != b.Key {
		w.t.Errorf("%s: the index is of tree %s", commit.Short(), tree)
	}
	n := 0
	for p, e := range w.entries(index) {
		if e[6] == uint32(git.Gitlink) {
			continue
		}
		n++
		var st unix.Stat_t
		if err := unix.Lstat(files[p].real, &st); err != nil {
			w.t.Errorf("%s: %q: %v", commit.Short(), p, err)
			continue
		}
		want := []uint32{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec), uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec), e[4], uint32(st.Ino), e[6],
			st.Uid, st.Gid, uint32(st.Size)}
		if !slices.Equal(e, want) {
			w.t.Errorf("%s: the index has %v for %q, want %v", commit.Short(), e, p, want)
		}
		if st.Mtim.Sec >= fi.ModTime().Unix()-1 {
			w.t.Errorf("%s: %q is as new as the index: %v, %v", commit.Short(), p, st.Mtim.Sec, fi.ModTime().Unix())
		}
	}
	if n != b.Files {
		w.t.Errorf("%s: the index has %d files, want %d", commit.Short(), n, b.Files)
	}
}

// indexTree asks git what tree an index is of.
func (w *world) indexTree(index string) string {
	w.t.Helper()
	data, err := os.ReadFile(index)
	if err != nil {
		w.t.Fatal(err)
	}
	at := filepath.Join(w.oracle, ".git", "index")
	if err := os.WriteFile(at, data, 0o644); err != nil {
		w.t.Fatal(err)
	}
	defer os.Remove(at)
	return strings.TrimSpace(w.plain(w.oracle, nil, "write-tree"))
}

// entries reads the stat data of an index: ctime, mtime, dev, ino, mode, uid, gid,
// size.
func (w *world) entries(index string) map[string][]uint32 {
	w.t.Helper()
	data, err := os.ReadFile(index)
	if err != nil {
		w.t.Fatal(err)
	}
	end := len(data) - w.store.Format.NewHash().Size()
	if !bytes.Equal(data[end:], checksum(w.store.Format, data[:end])) {
		w.t.Errorf("%s has a wrong checksum", index)
	}
	all := map[string][]uint32{}
	at, fixed := 12, 42+w.store.Format.NewHash().Size()
	for range binary.BigEndian.Uint32(data[8:]) {
		var e []uint32
		for i := range 10 {
			e = append(e, binary.BigEndian.Uint32(data[at+4*i:]))
		}
		size := bytes.IndexByte(data[at+fixed:], 0)
		all[string(data[at+fixed:at+fixed+size])] = e
		at += (fixed + size + 8) / 8 * 8
	}
	return all
}
