package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/policy"
	"cordon/internal/testground"
)

// The tests of layers let a real overlayfs make them: this program starts itself
// again in namespaces of its own, mounts, does what a worker would do, looks at
// what the worker sees as at a plain tree, and leaves that with the upper layer.

// act is one thing that a worker does in its tree.
type act struct {
	Do   string `json:"do"`
	Path Path   `json:"path"`
	To   Path   `json:"to,omitempty"` // another path, content, or a mode
}

// overlayJob is what is to be done inside.
type overlayJob struct {
	Acts   []act      `json:"acts"`
	Base   git.OID    `json:"base"` // a tree
	Seeded []git.File `json:"seeded"`
}

const overlayEnv = "CORDON_TEST_OVERLAY"

func TestMain(m *testing.M) {
	if dir := os.Getenv(overlayEnv); dir != "" {
		if err := insideOverlay(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testground.RunInMemory("internal/audit", m))
}

// overlaySite is the base of a worker's tree and its layers.
type overlaySite struct {
	t                 testing.TB
	dir, lower, upper string
	base              []git.File
	seeded            []git.File
	root              git.OID
}

func newOverlaySite(t testing.TB) *overlaySite {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	s := &overlaySite{t: t, dir: dir, lower: dir + "/lower", upper: dir + "/upper"}
	t.Cleanup(s.remove)
	for _, d := range []string{"lower", "upper", "work", "merged", "lower/.git"} {
		s.must(os.Mkdir(filepath.Join(dir, d), 0o755))
	}
	return s
}

// remove takes everything away, also what the worker or the kernel has locked.
func (s *overlaySite) remove() {
	_ = exec.Command("chmod", "-R", "u+rwx", s.dir).Run() // removing tells
	if err := os.RemoveAll(s.dir); err != nil {
		s.t.Error(err)
	}
}

func (s *overlaySite) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// add puts a file into the base: a link with "->", an executable with "#!", a
// submodule with "=>".
func (s *overlaySite) add(name, content string) {
	s.t.Helper()
	full := filepath.Join(s.lower, name)
	s.must(os.MkdirAll(filepath.Dir(full), 0o755))
	e := git.Entry{Mode: git.Regular, OID: git.SHA1.Blob([]byte(content))}
	target, isLink := strings.CutPrefix(content, "->")
	switch {
	case isLink:
		e = git.Entry{Mode: git.Symlink, OID: git.SHA1.Blob([]byte(target))}
		s.must(os.Symlink(target, full))
	case strings.HasPrefix(content, "=>"):
		e.Mode = git.Gitlink
		s.must(os.Mkdir(full, 0o755))
	case strings.HasPrefix(content, "#!"):
		e.Mode = git.Executable
		s.must(os.WriteFile(full, []byte(content), 0o755))
	default:
		s.must(os.WriteFile(full, []byte(content), 0o644))
	}
	s.base = append(s.base, git.File{Path: name, Entry: e})
}

// prepare copies a directory of the base into the layer, as it is done with what
// shall be renamed.
func (s *overlaySite) prepare(dir string) {
	s.t.Helper()
	to := filepath.Join(s.upper, dir)
	s.must(os.MkdirAll(filepath.Dir(to), 0o755))
	if out, err := exec.Command("cp", "-a", filepath.Join(s.lower, dir), to).CombinedOutput(); err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	if err := unix.Setxattr(to, "user.overlay.opaque", []byte("y"), 0); err != nil {
		s.t.Skipf("this file system has no user attributes: %v", err)
	}
}

// work lets a worker act on the overlay. Acts that fail are fine: so they do for
// workers.
func (s *overlaySite) work(acts ...act) {
	s.t.Helper()
	text, err := json.Marshal(overlayJob{acts, s.root, s.seeded})
	s.must(err)
	s.must(os.WriteFile(s.dir+"/job", text, 0o644))
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // it says where it is
	cmd.Env = append(os.Environ(), overlayEnv+"="+s.dir)
	uid, gid := os.Geteuid(), os.Getegid()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}},
		// Overlayfs does what it has to do with those of who mounted it.
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_CHOWN, unix.CAP_SYS_CHROOT},
	}
	out, err := cmd.CombinedOutput()
	if err != nil && (strings.Contains(string(out), "mount") || errors.Is(err, syscall.EPERM)) {
		s.t.Skipf("no overlay can be mounted here: %v: %s", err, out)
	}
	if err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
}

func insideOverlay(dir string) error {
	at := func(name string) string { return filepath.Join(dir, name) }
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr,index=off", at("lower"), at("upper"), at("work"))
	if err := unix.Mount("overlay", at("merged"), "overlay", 0, options); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	// As in a cell: the worker's repository lies elsewhere.
	if err := unix.Mount("tmpfs", at("merged/.git"), "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	text, err := os.ReadFile(at("job"))
	if err != nil {
		return err
	}
	var job overlayJob
	if err := json.Unmarshal(text, &job); err != nil {
		return err
	}
	if err := job.act(at("merged")); err != nil {
		return err
	}
	return job.look(dir)
}

// act does what the worker does, with the tree for its root: the acts follow links
// that lead anywhere, and a test may run as root.
func (j overlayJob) act(top string) error {
	root, err := os.Open("/")
	if err != nil {
		return err
	}
	defer root.Close()
	if err := errors.Join(unix.Chroot(top), unix.Chdir("/")); err != nil {
		return fmt.Errorf("the acts cannot be confined: %w", err)
	}
	if _, err := os.Lstat("/etc"); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the acts are not confined: %v", err)
	}
	for _, a := range j.Acts {
		if err := a.do(); err != nil && strings.HasSuffix(a.Do, "!") {
			return fmt.Errorf("%s %s: %w", a.Do, a.Path, err)
		}
	}
	return errors.Join(root.Chdir(), unix.Chroot("."))
}

// look audits what the worker sees as a plain tree.
func (j overlayJob) look(dir string) error {
	ctx := context.Background()
	bin, err := git.Find(ctx)
	if err != nil {
		return err
	}
	tree := overlayTree(filepath.Join(dir, "merged"))
	if tree.Base, err = git.OpenBare(bin, filepath.Join(dir, "repo"), git.SHA1).Listing(ctx, j.Base); err != nil {
		return err
	}
	defer tree.Base.Close()
	tree.Seeded = j.Seeded
	list, err := Collect(ctx, tree)
	if err != nil {
		return err
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "plain"), text, 0o644)
}

func overlayTree(top string) Tree {
	rules, err := policy.Compile(policy.Policy{Filesystem: policy.Filesystem{WriteRoots: []string{"."}}}, at)
	if err != nil {
		panic(err)
	}
	return Tree{
		Top: top, Format: git.SHA1, Rules: rules,
		Ignored: func(_ context.Context, paths []string) (map[string]bool, error) {
			ignored := map[string]bool{}
			for _, p := range paths {
				ignored[p] = strings.Contains(p, "ignored")
			}
			return ignored, nil
		},
	}
}

// do acts. With an exclamation mark it has to succeed. No other program is run:
// there is none in the tree.
func (a act) do() error {
	p, to := "/"+string(a.Path), "/"+string(a.To)
	switch strings.TrimSuffix(a.Do, "!") {
	case "write":
		_ = os.MkdirAll(filepath.Dir(p), 0o755)
		return writeNow(p, string(a.To), os.O_CREATE|os.O_TRUNC)
	case "append":
		return writeNow(p, string(a.To), os.O_APPEND)
	case "chmod":
		var mode uint32
		if _, err := fmt.Sscanf(string(a.To), "%o", &mode); err != nil {
			return err
		}
		return unix.Chmod(p, mode)
	case "rm":
		return os.Remove(p)
	case "rmall":
		return removeNow(p)
	case "mkdir":
		return os.MkdirAll(p, 0o755)
	case "rename":
		return os.Rename(p, to)
	case "move":
		return move(p, to)
	case "link":
		return os.Symlink(string(a.To), p)
	case "relink":
		return errors.Join(os.Remove(p), os.Symlink(string(a.To), p))
	case "hardlink":
		return os.Link(p, to)
	case "pipe":
		return unix.Mkfifo(p, 0o644)
	case "file": // in place of anything
		return errors.Join(removeNow(p), writeNow(p, string(a.To), os.O_CREATE))
	case "dir": // in place of anything
		return errors.Join(removeNow(p), os.MkdirAll(p, 0o755), writeNow(p+"/in", string(a.To), os.O_CREATE))
	case "init": // what git init leaves
		return errors.Join(os.MkdirAll(p+"/.git/objects", 0o755), os.MkdirAll(p+"/.git/refs/heads", 0o755),
			writeNow(p+"/.git/HEAD", "ref: refs/heads/main\n", os.O_CREATE), writeNow(p+"/.git/config", "[core]\n", os.O_CREATE))
	case "attribute":
		return unix.Setxattr(p, string(a.To), []byte("y"), 0)
	case "device":
		return unix.Mknod(p, unix.S_IFCHR, 0)
	}
	return fmt.Errorf("%s is nothing that a worker does", a.Do)
}

// removeNow removes what is at a path. The system's own way opens what it is in, and
// waits where that is a pipe.
func removeNow(p string) error {
	if fi, err := os.Stat(filepath.Dir(p)); err != nil || !fi.IsDir() {
		return err
	}
	return os.RemoveAll(p)
}

// writeNow writes a file, and does not wait for somebody to read it.
func writeNow(p, content string, flags int) error {
	f, err := os.OpenFile(p, os.O_WRONLY|unix.O_NONBLOCK|flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Close())
}

// move renames, and copies where the kernel refuses to, as mv does.
func move(p, to string) error {
	if err := os.Rename(p, to); err == nil || strings.HasPrefix(to+"/", p+"/") {
		return err
	}
	type found struct {
		path string
		fs.DirEntry
	}
	var all []found // before anything is made: a link may lead back into it
	err := filepath.WalkDir(p, func(from string, e fs.DirEntry, err error) error {
		all = append(all, found{from, e})
		return err
	})
	if err != nil {
		return err
	}
	for _, f := range all {
		if err := copyOne(f.path, to+strings.TrimPrefix(f.path, p), f.DirEntry); err != nil {
			return err
		}
	}
	return removeNow(p)
}

func copyOne(from, to string, e fs.DirEntry) error {
	switch {
	case e.IsDir():
		return os.Mkdir(to, 0o755)
	case e.Type() == fs.ModeSymlink:
		target, err := os.Readlink(from)
		return errors.Join(err, os.Symlink(target, to))
	case e.Type() != 0:
		return nil
	}
	content, err := os.ReadFile(from)
	fi, serr := e.Info()
	if err = errors.Join(err, serr); err != nil {
		return err
	}
	return errors.Join(writeNow(to, string(content), os.O_CREATE|os.O_EXCL), os.Chmod(to, fi.Mode()))
}

// tree is the worker's tree by its layer, over a base that is a real tree.
func (s *overlaySite) tree() Tree {
	s.t.Helper()
	run := func(stdin string, args ...string) string {
		s.t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "core.bare=false", "--git-dir=" + s.dir + "/repo", "--work-tree=" + s.lower}, args...)...)
		cmd.Stdin, cmd.Env = strings.NewReader(stdin), append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+s.dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			s.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	bin, err := git.Find(s.t.Context())
	s.must(err)
	repo, err := git.Init(s.t.Context(), bin, s.dir+"/repo", git.InitOptions{Bare: true, Format: git.SHA1})
	s.must(err)
	run("", "add", "-A", "-f", ".")
	var subs strings.Builder
	for _, f := range s.base {
		if f.Mode == git.Gitlink {
			fmt.Fprintf(&subs, "160000 %s\t%s\x00", f.OID, f.Path)
		}
	}
	if subs.Len() > 0 {
		run(subs.String(), "update-index", "-z", "--index-info")
	}
	s.root = git.OID(run("", "write-tree"))
	t := overlayTree(s.upper)
	t.Layer, t.Seeded = true, s.seeded
	t.Base, err = repo.Listing(s.t.Context(), s.root)
	s.must(err)
	s.t.Cleanup(t.Base.Close)
	return t
}

func describeChanges(list []Change) string {
	var b strings.Builder
	for _, ch := range list {
		fmt.Fprintf(&b, "%s %s %v → %v %d %q %v %s\n", ch.Kind, ch.Path, ch.Old, ch.New, ch.Size, ch.Target, ch.Ignored, ch.Detail)
	}
	return b.String()
}

// agree compares what the layer says with what was seen from inside.
func (s *overlaySite) agree(layer Tree) []Change {
	s.t.Helper()
	got, err := Collect(s.t.Context(), layer)
	s.must(err)
	text, err := os.ReadFile(s.dir + "/plain")
	s.must(err)
	var want []Change
	s.must(json.Unmarshal(text, &want))
	if a, b := describeChanges(got), describeChanges(want); a != b {
		job, _ := os.ReadFile(s.dir + "/job")
		var base []string
		for _, f := range s.base {
			base = append(base, fmt.Sprintf("%q %s", f.Path, f.Mode))
		}
		s.t.Fatalf("base %s\njob %s\nthe layer says\n%sand the plain tree\n%s", strings.Join(base, ", "), job, a, b)
	}
	return got
}
