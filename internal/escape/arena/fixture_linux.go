package arena

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Fixture is one attack's world on the host: its tree, and around it what it is
// after. Every run has a fresh one.
type Fixture struct {
	Arena
	Secret string // what an attack on information has to come back with

	Stdio  [3]*os.File
	extra  []*os.File // from descriptor 3 on
	Env    []string
	dir    string   // where the attack is started; "": Work
	shell  []string // starts what follows it; nil: it is started directly
	Attr   *syscall.SysProcAttr
	Cordon []string    // starts the cordon that confines the attack
	Top    *os.Process // cordon, or the shell of the control
	way    *os.File    // the trace, wherever an attack moves the tree to

	self    []string // how to start Main on the host
	closers []func()
	before  map[string]string
	Peaks   map[string]int // what was measured while it ran

	mu  sync.Mutex
	got strings.Builder // what was received from the attack
}

// RandomName is a name that nobody else has.
func RandomName() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // it cannot fail
	return hex.EncodeToString(b)
}

// NewFixture makes the world of one run in a directory. self starts Main, and templates
// are the repositories that are copied. The caller closes it.
func NewFixture(dir string, self []string, templates *Repositories, at Attempt, confined bool) (*Fixture, error) {
	base := filepath.Join(dir, "f-"+RandomName())
	f := &Fixture{
		Arena: Arena{
			Name: at.Name, Confined: confined, Base: base, Mark: "mark-" + RandomName(), Args: map[string]string{},
			Work: filepath.Join(base, "work"), Outside: filepath.Join(base, "outside"), Home: filepath.Join(base, "home"),
		},
		Secret: "secret-" + RandomName(), self: self, Peaks: map[string]int{},
	}
	if err := f.build(templates, at.Tree); err != nil {
		return f, err
	}
	if text := f.policyText(at); text != "" {
		if err := os.WriteFile(f.policy(), []byte(text), 0o644); err != nil {
			return f, err
		}
	}
	if at.Prepare != nil {
		if err := at.Prepare(f); err != nil {
			return f, fmt.Errorf("prepare: %w", err)
		}
	}
	var err error
	f.before, err = f.snapshot()
	return f, err
}

func (f *Fixture) policy() string { return filepath.Join(f.Base, "policy.yaml") }

// policyText is the policy of an attempt; "": cordon's default. An ordinary user's
// fixtures lie in the user's home. A cell hides that, because HOME names a home of
// the fixture, so read roots show what the attack must not change, and the program that attacks.
func (f *Fixture) policyText(at Attempt) string {
	if !hidden(f.Base) {
		return at.Policy
	}
	const section = "filesystem:\n"
	text := cmp.Or(at.Policy, "version: 1\n")
	if !strings.Contains(text, section) {
		text += section
	}
	roots := fmt.Sprintf("  read_roots: [/, %q, %q]\n", f.Outside, filepath.Dir(f.self[0]))
	return strings.Replace(text, section, section+roots, 1)
}

// build lays out the directories that every attack finds.
func (f *Fixture) build(templates *Repositories, t Tree) error {
	if err := os.Mkdir(f.Base, 0o755); err != nil {
		return err
	}
	if t != TreePlain {
		if err := templates.copyTo(f, t); err != nil {
			return err
		}
	}
	for _, d := range []string{"work/dir/sub", "outside/dir", "outside/empty", "home/.cache", "home/.local/bin", "home/.config"} {
		if err := os.MkdirAll(filepath.Join(f.Base, d), 0o755); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{
		"work/own": "mine too\n", "work/dir/sub/own": "mine\n",
		"outside/file": OutsideText, "outside/dir/file": "another\n", "outside/tool": "#!/bin/sh\n",
		"home/.bashrc": "# the operator's\n", "home/.profile": "# the operator's\n",
		"home/.gitconfig": "[user]\n\tname = operator\n\temail = operator@example.invalid\n[init]\n\tdefaultBranch = main\n[core]\n\tfsync = none\n[protocol \"file\"]\n\tallow = always\n",
	} {
		if err := f.Put(name, text, 0o644); err != nil {
			return err
		}
	}
	if err := os.Chmod(f.Out("tool"), 0o755); err != nil {
		return err
	}
	if err := os.Symlink("file", f.Out("link")); err != nil {
		return err
	}
	return f.openTrace()
}

// OutsideText is the file of the operator's that most attacks are after.
var OutsideText = strings.Repeat("the operator's file\n", 8)

// openTrace makes the file in which the attack says how far it came.
func (f *Fixture) openTrace() (err error) {
	f.way, err = os.OpenFile(f.In(TraceFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	f.OnClose(func() { f.way.Close() })
	return err
}

// Put writes a file below the base, with its directories.
func (f *Fixture) Put(name, text string, mode os.FileMode) error {
	path := filepath.Join(f.Base, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), mode)
}

// OnClose undoes a part of the preparation at the end.
func (f *Fixture) OnClose(g func()) { f.closers = append(f.closers, g) }

// Close undoes the preparation, ends what the attack left and removes everything.
func (f *Fixture) Close() error {
	for _, p := range f.Alive() {
		_ = unix.Kill(p, unix.SIGKILL) // it may be gone by itself
	}
	for i := len(f.closers) - 1; i >= 0; i-- {
		f.closers[i]()
	}
	for _, m := range f.mounted() {
		_ = unix.Unmount(m, unix.MNT_DETACH) // RemoveAll says what is wrong
	}
	var err error
	for range 20 { // a process that was just killed may still be writing
		if err = os.RemoveAll(f.Base); err == nil {
			return nil
		}
		_ = filepath.WalkDir(f.Base, func(path string, e os.DirEntry, _ error) error {
			if e != nil && e.IsDir() {
				_ = os.Chmod(path, 0o700) // RemoveAll says what is wrong
			}
			return nil
		})
		time.Sleep(10 * time.Millisecond)
	}
	return err
}

// Alive lists the processes that belong to the run: the fixture's path is in
// the command line of the attack, of cordon around it and of all their children.
func (f *Fixture) Alive() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && strings.Contains(string(line), f.Base+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// mounted lists the mounts of the host that lie in the fixture.
func (f *Fixture) mounted() []string {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	var list []string
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], f.Base) {
			list = append(list, fields[4])
		}
	}
	return list
}

// Receive notes what came from the attack.
func (f *Fixture) Receive(b []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got.Write(b)
}

func (f *Fixture) received() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.got.String()
}

// Inherit gives the attack a descriptor, and its number as an argument.
func (f *Fixture) Inherit(key string, fd *os.File) {
	f.OnClose(func() { fd.Close() })
	f.extra = append(f.extra, fd)
	f.Args[key] = strconv.Itoa(2 + len(f.extra))
}

// Trace is what the attack said of its way.
func (f *Fixture) Trace() string {
	b, _ := io.ReadAll(io.NewSectionReader(f.way, 0, 1<<20)) // nothing: it never began
	return string(b) + f.Written(TraceFile)
}

// Written is what the attack wrote to a file at the top of its tree: there, or where cordon keeps what was not
// placed.
func (f *Fixture) Written(name string) string {
	text, _ := os.ReadFile(f.In(name)) // nothing: it is not there
	_ = filepath.WalkDir(filepath.Join(f.Home, ".local", "state"), func(path string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && (e.Name() == name || strings.HasSuffix(e.Name(), "-"+name)) {
			more, _ := os.ReadFile(path) // it may be placed at this moment
			text = append(text, more...)
		}
		return nil
	})
	return string(text)
}

// Begun reports whether the attack came to its act.
func (f *Fixture) Begun() bool { return strings.Contains(f.Trace(), "reached "+f.Name+"\n") }

// Ended is how the attack says it ended.
func (f *Fixture) Ended() string {
	for line := range strings.Lines(f.Trace()) {
		if how, ok := strings.CutPrefix(strings.TrimSpace(line), "ended: "); ok {
			return how
		}
	}
	return ""
}

// Await polls a condition until it holds or the time is up.
func Await(limit time.Duration, holds func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if holds() {
			return true
		}
	}
	return holds()
}

// Judges, for attempts whose prize is not a changed file.

// JudgeLoot judges by the secret in what the attack handed out.
func JudgeLoot(f *Fixture) (string, error) {
	return f.Obtained(f.Secret)
}

// JudgeReceived judges by the mark in what the host received from the attack.
func JudgeReceived(f *Fixture) (string, error) {
	patience := 5 * time.Second // of the control, on a busy machine
	if f.Confined {
		patience = 100 * time.Millisecond
	}
	if Await(patience, func() bool { return strings.Contains(f.received(), f.Mark) }) {
		return "the host received the attack's message", nil
	}
	return "", nil
}

// Obtained reports whether the attack handed out a text.
func (f *Fixture) Obtained(text string) (string, error) {
	if strings.Contains(f.Written(LootFile), text) {
		return "the attack obtained it", nil
	}
	return "", nil
}

// JudgeObtained judges by a text that only the kernel's consent can have produced.
func JudgeObtained(text string) func(*Fixture) (string, error) {
	return func(f *Fixture) (string, error) { return f.Obtained(text) }
}

// hidden reports whether a cell hides a directory because it lies among the homes
// and is not in the home of the attack's operator, which is a fixture.
func hidden(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false // the run says what is wrong with it
	}
	return strings.HasPrefix(real, "/home/") || strings.HasPrefix(real, "/root/")
}

// Standard makes something outside a standard stream.
func Standard(n int, name string, flag int) func(*Fixture) error {
	return func(f *Fixture) error {
		fd, err := os.OpenFile(f.Out(name), flag, 0)
		if err == nil {
			f.OnClose(func() { fd.Close() })
			f.Stdio[n] = fd
		}
		return err
	}
}

// SecretKey puts the secret into a key in the operator's home.
func SecretKey(f *Fixture) error { return f.Put("home/.ssh/id_ed25519", f.Secret, 0o600) }

// JudgeExists judges by a file that came to be on the host.
func JudgeExists(f *Fixture) (string, error) {
	if _, err := os.Lstat(f.Args["path"]); err == nil {
		return f.Args["path"] + " came to be", nil
	}
	return "", nil
}
