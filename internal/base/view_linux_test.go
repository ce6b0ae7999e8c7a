package base

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/testwait"
)

// view is what a process that mounts a base has to do there.
type view struct {
	Layers   []string
	Place    string // with upper, work and merged
	GitDir   string
	Checkout string // of the same commit, by plain git
	Edit     string // a file to change at once, in the same number of bytes
}

// outside stands for a test in a process that is none.
type outside struct {
	testing.TB
	failed bool
}

func (o *outside) Helper() {}
func (o *outside) Fatal(args ...any) {
	fmt.Println(args...)
	os.Exit(1)
}
func (o *outside) Errorf(format string, args ...any) {
	fmt.Printf(format+"\n", args...)
	o.failed = true
}
func (o *outside) Fatalf(format string, args ...any) { o.Fatal(fmt.Sprintf(format, args...)) }

const viewVariable = "CORDON_BASE_VIEW"

func init() {
	text, ok := os.LookupEnv(viewVariable)
	if !ok {
		return
	}
	var v view
	o := &outside{}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		o.Fatal(err)
	}
	v.look(o)
	if o.failed {
		os.Exit(1)
	}
	os.Exit(0)
}

// look mounts the base as a cell does and looks at it with git.
func (v view) look(o *outside) {
	at := filepath.Join(v.Place, "merged")
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		o.Fatal(err)
	}
	data := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr,index=off,xino=off",
		strings.Join(v.Layers, ":"), filepath.Join(v.Place, "upper"), filepath.Join(v.Place, "work"))
	if err := unix.Mount("overlay", at, "overlay", 0, data); err != nil {
		o.Fatal("mount overlay: ", err)
	}
	if v.Edit != "" {
		v.edit(o, at)
		return
	}
	same(o, "mounted", look(o, at), look(o, v.Checkout))
	if out, opened := v.status(o, at); out != "" || len(opened) > 0 {
		o.Errorf("git says %q and reads %q", out, opened)
	}
	// The control: a file that was touched is read, and found unchanged.
	now := time.Now()
	if err := os.Chtimes(filepath.Join(at, "dir/deep/g"), now, now); err != nil {
		o.Fatal(err)
	}
	if out, opened := v.status(o, at); out != "" || !slices.Equal(opened, []string{"g"}) {
		o.Errorf("touched: git says %q and reads %q", out, opened)
	}
}

// edit changes a file without changing its size.
func (v view) edit(o *outside, at string) {
	p := filepath.Join(at, v.Edit)
	b, err := os.ReadFile(p)
	if err != nil {
		o.Fatal(err)
	}
	f, err := os.OpenFile(p, os.O_WRONLY, 0)
	if err != nil {
		o.Fatal(err)
	}
	if _, err := f.Write(bytes.ToUpper(b)); err != nil {
		o.Fatal(err)
	}
	f.Close()
	if out, _ := v.status(o, at); out != " M "+v.Edit+"\n" {
		o.Errorf("changed in place: git says %q", out)
	}
}

// status runs git status and returns which files below at it opened.
func (v view) status(o *outside, at string) (string, []string) {
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		o.Fatal(err)
	}
	defer unix.Close(watch)
	dirs := []string{at}
	for p, s := range look(o, at) {
		if s.mode.IsDir() {
			dirs = append(dirs, filepath.Join(at, p))
		}
	}
	for _, d := range dirs {
		if _, err := unix.InotifyAddWatch(watch, d, unix.IN_OPEN); err != nil {
			o.Fatal(err)
		}
	}
	out, err := plainGit("/", nil, "--git-dir="+v.GitDir, "--work-tree="+at, "--no-optional-locks", "status", "--porcelain")
	if err != nil {
		o.Fatal(err)
	}
	return out, events(o, watch)
}

func events(o *outside, watch int) []string {
	var opened []string
	buf := make([]byte, 1<<20)
	n, err := unix.Read(watch, buf)
	if err == unix.EAGAIN {
		return nil
	}
	if err != nil {
		o.Fatal(err)
	}
	for at := 0; at < n; {
		mask, size := binary.NativeEndian.Uint32(buf[at+4:]), int(binary.NativeEndian.Uint32(buf[at+12:]))
		at += unix.SizeofInotifyEvent
		if mask&unix.IN_ISDIR == 0 {
			opened = append(opened, string(bytes.TrimRight(buf[at:at+size], "\x00")))
		}
		at += size
	}
	return slices.Compact(slices.Sorted(slices.Values(opened)))
}

// mounted carries out a view in namespaces of its own, with the same user in them.
func (w *world) mounted(b Base, commit git.OID, edit string) {
	w.t.Helper()
	v := view{Layers: b.Layers, Place: w.t.TempDir(), GitDir: w.private(b, commit), Checkout: filepath.Join(w.dir, "checkout-"+string(commit)), Edit: edit}
	for _, d := range []string{"upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(v.Place, d), 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), viewVariable+"="+string(text))
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE}, // an overlay's work directory has no modes
	}
	out, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		w.t.Skipf("this machine lets nobody make a user namespace: %v", err)
	}
	if bytes.HasPrefix(out, []byte("mount overlay: ")) {
		w.t.Skipf("this machine has no overlay in a user namespace: %s", out)
	}
	if err != nil {
		w.t.Errorf("%v: %s", err, out)
	}
}

// private is a repository as a worker has it, with the base's index.
func (w *world) private(b Base, commit git.OID) string {
	w.t.Helper()
	dir := filepath.Join(w.t.TempDir(), "x.git")
	w.plain(w.dir, nil, "clone", "-q", "--bare", "--shared", w.host.Top, dir)
	w.plain(dir, nil, "update-ref", "--no-deref", "HEAD", string(commit))
	from, to := filepath.Join(b.Index, "index"), filepath.Join(dir, "index")
	data, err := os.ReadFile(from)
	if err != nil {
		w.t.Fatal(err)
	}
	fi, err := os.Lstat(from)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o644); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Chtimes(to, fi.ModTime(), fi.ModTime()); err != nil {
		w.t.Fatal(err)
	}
	return dir
}

// In a real overlay, the files are those of a checkout and git reads none of them.
func TestGitReadsNothingInAnOverlay(t *testing.T) {
	t.Parallel()
	for depth := range maxDepth {
		t.Run(fmt.Sprint(depth+1), func(t *testing.T) {
			t.Parallel()
			var trees []map[string]node
			tree := odd(git.SHA1)
			delete(tree, ".gitattributes") // git reads it
			for i := range depth + 1 {
				trees = append(trees, maps.Clone(tree))
				set(tree, "README", file(fmt.Sprintf("hello %d\n", i)))
				set(tree, []string{"dir/deep/er", "dir/deep/er/f/g", "sub"}[i%3], file("other kind"))
				clear(tree, []string{"new\nline", "\xff\xfe", " lead/-dash"}[i%3])
				set(tree, fmt.Sprintf("more/%d/f", i), file("more"))
			}
			w := newWorld(t, git.SHA1, trees...)
			var b Base
			for _, c := range w.commits {
				b = w.ensureOnLast(c)
				w.check(b, c)
			}
			if len(b.Layers) != depth+1 {
				t.Fatalf("%d layers", len(b.Layers))
			}
			w.mounted(b, w.commits[depth], "")
		})
	}
}

// A worker may begin in the second in which its base was made. Git knows times to
// the second, and yet must see what it changes.
func TestAChangeInTheSameSecondIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, git.SHA1, map[string]node{"a": file("one"), "b": file("two")}, map[string]node{"a": file("one"), "b": file("six")})
	for i, name := range []string{"a", "b"} {
		next := time.Now().Truncate(time.Second).Add(time.Second) // a second that is long enough
		testwait.Until(t, "a second begins", func() bool { return !time.Now().Before(next) })
		w.mounted(w.ensure(w.commits[i]), w.commits[i], name)
	}
}
