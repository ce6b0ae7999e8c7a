package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cordon/internal/testwait"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

func init() {
	programs["without-userns"] = func() { os.Exit(without(os.Args[1:])) }
	programs["on-overlay"] = func() { os.Exit(onOverlay(os.Args[1:])) }
}

// again starts this program in namespaces of its own, with capabilities in them,
// to go on with the second step of a stage.
func again(flags uintptr, caps []uintptr, args ...string) int {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = args
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: flags | syscall.CLONE_NEWUSER, AmbientCaps: caps,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "stage:", err)
		return 99
	}
	return cmd.ProcessState.ExitCode()
}

// become replaces this program by another that has no capabilities of ours.
func become(args []string) int {
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	program, err := exec.LookPath(args[0])
	if err == nil {
		err = syscall.Exec(program, args, os.Environ())
	}
	fmt.Fprintln(os.Stderr, "stage:", err)
	return 99
}

// without runs a command where no user namespace can be made. The host's own
// setting stays as it is: this is the one of a new namespace.
func without(args []string) int {
	if args[0] != "--inside" {
		return again(0, []uintptr{unix.CAP_SYS_RESOURCE, unix.CAP_SYS_ADMIN}, append([]string{"without-userns", "--inside"}, args...)...)
	}
	if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
		fmt.Fprintln(os.Stderr, "stage:", err)
		return 99
	}
	return become(args[1:])
}

// onOverlay runs a command with an overlay at $XDG_STATE_HOME: a file system that
// cannot be the upper layer of another.
func onOverlay(args []string) int {
	if args[0] != "--inside" {
		return again(syscall.CLONE_NEWNS, []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER}, append([]string{"on-overlay",
			"--inside"}, args...)...)
	}
	at := os.Getenv("XDG_STATE_HOME")
	base := at + ".layers"
	for _, dir := range []string{at, base, base + "/upper", base + "/work"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			fmt.Fprintln(os.Stderr, "stage:", err)
			return 99
		}
	}
	options := fmt.Sprintf("userxattr,lowerdir=%s,upperdir=%s/upper,workdir=%[2]s/work", at, base)
	if err := unix.Mount("overlay", at, "overlay", 0, options); err != nil {
		fmt.Fprintln(os.Stderr, "stage: overlay:", err)
		return 99
	}
	return become(args[1:])
}

// The command's own handler runs, and what it makes of the signal is the status.
func TestExecForwardsSignals(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP} {
		for _, code := range []int{0, 42} {
			t.Run(fmt.Sprintf("%s %d", name, code), func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				r := s.start(nil, "exec", "--", "sh", "-c", fmt.Sprintf("trap 'echo handled; exit %d' %s; echo 1 >ready; while :; do sleep 0.01; done", code, name))
				r.until(filepath.Join(s.repo, "ready"))
				if o := r.signal(sig); o.code != code || o.out != "handled\n" || strings.Contains(o.err, "cordon ls") {
					t.Errorf("%+v", o)
				}
			})
		}
	}
	t.Run("no handler", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		r := s.start(nil, "exec", "--", "sh", "-c", "echo 1 >ready; exec sleep 600")
		r.until(filepath.Join(s.repo, "ready"))
		if o := r.signal(syscall.SIGTERM); o.code != 128+15 {
			t.Errorf("%+v", o)
		}
	})
}

// A cordon that is killed takes everything with it.
func TestExecKilledLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mark := fmt.Sprintf("600.%d", time.Now().UnixNano())
	r := s.start(nil, "exec", "--", "sh", "-c",
		`trap "" TERM HUP INT; setsid sleep "$0" & (setsid sh -c "setsid sleep $0 &" &); echo 1 >ready; sleep "$0"; sleep "$0"`, mark)
	r.until(filepath.Join(s.repo, "ready"))
	if processes(t, mark) < 3 {
		t.Error("the processes do not run: this shows nothing")
	}
	r.signal(syscall.SIGKILL)
	s.awaitNone(mark)
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) { // other tests have mounts of their own meanwhile
		if strings.Contains(line, filepath.Dir(s.repo)) {
			t.Errorf("a mount is left on the host: %s", line)
		}
	}
	s.git("fsck", "--strict", "--no-dangling")
}

// Standard input that nobody closes keeps nobody waiting: node hands sockets over.
func TestExecInputThatStaysOpen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	in := os.NewFile(uintptr(pair[0]), "in")
	defer in.Close()
	defer syscall.Close(pair[1])
	if _, err := syscall.Write(pair[1], []byte("typed\n")); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"exec", "--", "head", "-n", "1"}, {"exec", "--write", "/nowhere", "--", "true"}} {
		cmd := s.command(args...)
		cmd.Stdin = in
		done := time.AfterFunc(testwait.Bound, func() { _ = cmd.Process.Kill() })
		o := s.try(cmd)
		if !done.Stop() || o.signal != 0 {
			t.Errorf("%v: it waited for the end of its input", args)
		}
		if args[1] == "--" && o.out != "typed\n" {
			t.Errorf("%+v", o)
		}
	}
}

func TestExecInParallel(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			o := s.try(s.command("exec", "--", "sh", "-c", fmt.Sprintf("echo %d >f%d; cat f%d; git log --oneline | wc -l; exit %d", i, i, i, i)))
			if o.code != i || o.out != fmt.Sprintf("%d\n1\n", i) {
				t.Errorf("cell %d: %+v", i, o)
			}
		})
	}
	all.Wait()
}

// console is a terminal of the test's own with a cordon on it.
type console struct {
	t      *testing.T
	site   *site
	master *os.File
	cmd    *exec.Cmd
	shown  printed
	read   int
	done   chan struct{}
	before unix.Termios
}

func newConsole(s *site, stdout *bytes.Buffer, args ...string) *console {
	s.t.Helper()
	return consoleOf(s, "dumb", s.command(args...), stdout)
}

// consoleOf is a terminal of a kind with a command on it.
func consoleOf(s *site, kind string, cmd *exec.Cmd, stdout *bytes.Buffer) *console {
	s.t.Helper()
	return startConsole(s, kind, usualSize, cmd, stdout, nil)
}

var usualSize = &pty.Winsize{Rows: 33, Cols: 77}

// startConsole has a size when the command starts. Without an answerer, the terminal answers nothing.
func startConsole(s *site, kind string, size *pty.Winsize, cmd *exec.Cmd, stdout *bytes.Buffer, answers *answerer) *console {
	s.t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		s.t.Skipf("no terminal here: %v", err)
	}
	c := &console{t: s.t, site: s, master: master, cmd: cmd, done: make(chan struct{})}
	if err := pty.Setsize(master, size); err != nil {
		s.t.Fatal(err)
	}
	c.before = c.modes()
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = slave, slave, slave
	c.cmd.Env = append(c.cmd.Env, "TERM="+kind, "PS1=> ")
	if stdout != nil {
		c.cmd.Stdout = stdout
	}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			_, _ = c.shown.Write(buf[:n]) // memory takes everything
			if answers != nil {
				_, _ = master.Write(answers.to(buf[:n])) // the program may have ended
			}
			if err != nil {
				return
			}
		}
	}()
	go func() { _ = c.cmd.Wait(); close(c.done) }() // how it ended is in ProcessState
	s.t.Cleanup(func() { _ = c.cmd.Process.Kill(); <-c.done; slave.Close(); master.Close() })
	s.sources.add(func() string {
		return fmt.Sprintf("--- terminal of %s, ended: %v\n%q", strings.Join(cmd.Args, " "), c.over(), ending(c.text()))
	})
	return c
}

func (c *console) modes() unix.Termios {
	c.t.Helper()
	m, err := unix.IoctlGetTermios(int(c.master.Fd()), unix.TCGETS)
	if err != nil {
		c.t.Fatal(err)
	}
	return *m
}

// text is all that was on the terminal.
func (c *console) text() string { return c.shown.String() }

// over reports whether the command has ended.
func (c *console) over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// untilEnded waits until the command has ended.
func (c *console) untilEnded() {
	c.t.Helper()
	c.site.await("the command on the terminal has ended", c.over)
}

// untilForeground waits until a command has the keys of its terminal: it runs, and they send their signals to it.
func (c *console) untilForeground(command string) {
	c.t.Helper()
	c.site.await(command+" is in the foreground", func() bool { return inForeground(command) })
}

// longSleep is a command that runs until it is ended, and that no other test runs.
func longSleep() string { return fmt.Sprintf("sleep 600.%d", time.Now().UnixNano()) }

// inForeground reports whether a process with this command line runs in the foreground of its terminal.
func inForeground(command string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err != nil || strings.TrimSuffix(strings.ReplaceAll(string(b), "\x00", " "), " ") != command {
			continue // it may have ended by now
		}
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		// state, parent, group, session, terminal, group in the foreground of the terminal
		if field := strings.Fields(rest); len(field) > 5 && field[0] != "T" && field[2] == field[5] {
			return true
		}
	}
	return false
}

// expect waits for a text after what was expected before it.
func (c *console) expect(pattern string) string {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	found, looked := "", -1
	c.site.await(pattern+" is on the terminal", func() bool {
		text := c.text()
		if len(text) == looked { // there may be much to look through
			return false
		}
		looked = len(text)
		at := re.FindStringIndex(text[c.read:])
		if at == nil {
			return false
		}
		found = text[c.read+at[0] : c.read+at[1]]
		c.read += at[1]
		return true
	}, func() string { return fmt.Sprintf("after\n%q", c.text()[c.read:]) })
	return found
}

func (c *console) send(text string) {
	c.t.Helper()
	if _, err := c.master.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
}

// end waits for cordon and wants a status and a terminal as it was.
func (c *console) end(code int) {
	c.t.Helper()
	c.untilEnded()
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		c.t.Errorf("it ended with %d, want %d\n%q", got, code, c.text())
	}
	if c.modes() != c.before {
		c.t.Error("the terminal is not as it was")
	}
}

func TestExecTerminal(t *testing.T) {
	t.Parallel()
	t.Run("own", func(t *testing.T) {
		t.Parallel()
		c := newConsole(newSite(t), nil, "exec", "--", "sh", "-c",
			`tty; stty size; test -t 0 && test -t 1 && test -t 2 && echo all three; ls -m /dev/pts; ps -o tty= -p $$ 2>/dev/null; exit 7`)
		c.expect(`/dev/pts/0\r\n33 77\r\nall three\r\n0, ptmx\r\n`)
		c.end(7)
	})
	t.Run("resize", func(t *testing.T) {
		t.Parallel()
		c := newConsole(newSite(t), nil, "exec", "--", "sh", "-c", `trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.02; done`)
		c.expect("ready")
		if c.modes() == c.before {
			t.Error("the operator's terminal is not raw meanwhile: that its modes are restored shows nothing")
		}
		if err := pty.Setsize(c.master, &pty.Winsize{Rows: 44, Cols: 99}); err != nil {
			t.Fatal(err)
		}
		c.expect(`44 99`)
		c.end(0)
	})
	t.Run("interrupt", func(t *testing.T) {
		t.Parallel()
		c := newConsole(newSite(t), nil, "exec", "--", "sh", "-c", `trap 'echo mine' INT; sh -c "echo ready; exec sleep 600"; echo still here; exit 4`)
		c.expect("ready")
		c.send("\x03")
		c.expect(`mine\r\nstill here`)
		c.end(4)
	})
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		c := newConsole(newSite(t), nil, "exec", "--", "sh", "-c", `echo ready; kill -9 $$`)
		c.expect("ready")
		c.end(137)
	})
	t.Run("typed ahead", func(t *testing.T) {
		t.Parallel()
		c := newConsole(newSite(t), nil, "exec", "--", "sh", "-c", `read a; read b; echo "got $a and $b"`)
		c.send("one\ntwo\n")
		c.expect("got one and two")
		c.end(0)
	})
	t.Run("output elsewhere", func(t *testing.T) {
		t.Parallel()
		var out bytes.Buffer
		c := newConsole(newSite(t), &out, "exec", "--", "sh", "-c", `test -t 0 && ! test -t 1 && test -t 2 && echo asked >&2 && read x && echo "got $x"`)
		c.expect("asked")
		c.send("word\n")
		c.end(0)
		if out.String() != "got word\n" {
			t.Errorf("%q", out.String())
		}
	})
	t.Run("much output", func(t *testing.T) {
		t.Parallel()
		c := newConsole(newSite(t), nil, "exec", "--", "sh", "-c", `i=0; while test $i -lt 3000; do echo "line $i of the output"; i=$((i+1)); done; echo the end`)
		c.expect(`line 2999 of the output\r\nthe end`)
		c.end(0)
	})
}

// An interactive shell stops, lists, continues and interrupts its jobs.
func TestExecJobControl(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed")
	}
	c := newConsole(newSite(t), nil, "exec", "--", "bash", "--norc", "--noprofile", "-i")
	c.send("PS1='ready> '; unset PROMPT_COMMAND\n")
	c.expect(`\nready> `)
	if strings.Contains(c.text(), "no job control") {
		t.Errorf("%q", c.text())
	}
	long := longSleep()
	c.send(long + "\n")
	c.expect(long + `\r\n`)
	c.untilForeground(long)
	c.send("\x1a")
	c.expect(`Stopped +` + long)
	c.expect(`ready> `)
	c.send("jobs\n")
	c.expect(`Stopped +` + long)
	c.expect(`ready> `)
	c.send("fg\n")
	c.expect(`fg\r\n` + long + `\r\n`)
	c.untilForeground(long)
	c.send("\x03")
	c.expect(`ready> `)
	c.send("echo code $?\n")
	c.expect(`code 130`)
	c.send("exit 5\n")
	c.end(5)
}

// hashed is the content of a directory, names and modes included.
func hashed(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && e.Name() == ".answers" {
			return filepath.SkipDir // what git said is remembered
		}
		if strings.Contains(e.Name(), ".looks") {
			return nil // when a base was looked at
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		all[p] = fi.Mode().String()
		if fi.Mode().IsRegular() {
			b, err := os.ReadFile(p)
			all[p] += string(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// same wants a directory as it was.
func same(t *testing.T, before map[string]string, dir string) {
	t.Helper()
	now := hashed(t, dir)
	for p := range before {
		if now[p] != before[p] {
			t.Errorf("%s has changed or is gone", p)
		}
	}
	for p := range now {
		if _, ok := before[p]; !ok {
			t.Errorf("%s is new", p)
		}
	}
}

// everyday is a morning's work with git.
const everyday = `set -e
git status --short; echo one >src/one.txt; git add src/one.txt; git commit -qm one
echo two >>src/a.txt; git stash -q; git stash pop -q; git commit -qam two
git checkout -qb topic HEAD~1; echo three >src/three.txt; git add .; git commit -qm three; git rebase -q @{-1}
git branch -q -D @{-1}; git tag v1; git gc -q; git config user.editor vi; git log --oneline | wc -l
git reset -q --hard HEAD~1; git worktree prune; git fsck --no-dangling 2>&1 | grep -v notice || true
`

// Commits work in a main checkout and in a linked worktree, and nothing of the
// operator's git directory changes.
func TestExecGit(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"main checkout", "linked worktree", "subdirectory"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			dir := s.repo
			switch where {
			case "linked worktree":
				dir = s.place("linked")
				s.git("worktree", "add", "-q", dir)
			case "subdirectory":
				dir = filepath.Join(s.repo, "src")
			}
			git := filepath.Join(s.repo, ".git")
			s.git("status") // it may refresh the index
			before := hashed(t, git)
			var entry []byte
			if where == "linked worktree" {
				entry, _ = os.ReadFile(filepath.Join(dir, ".git"))
			}
			line := everyday
			if where == "subdirectory" {
				line = "cd ..\n" + everyday
			}
			cmd := s.command("exec", "--", "sh", "-c", line)
			cmd.Dir = dir
			o := s.try(cmd)
			if o.code != 0 || !strings.HasPrefix(o.out, "4\n") || !strings.Contains(o.err, "yours has not changed") {
				t.Errorf("%+v", o)
			}
			same(t, before, git)
			if now, _ := os.ReadFile(filepath.Join(dir, ".git")); where == "linked worktree" && !bytes.Equal(now, entry) {
				t.Errorf(".git is %q", now)
			}
			// What it wrote in the tree is there.
			if b, err := os.ReadFile(filepath.Join(s.repo, "src/one.txt")); where == "main checkout" && (err != nil || string(b) != "one\n") {
				t.Errorf("%q, %v", b, err)
			}
			// Its next run finds its commits.
			cmd = s.command("exec", "--", "git", "tag", "--list")
			cmd.Dir = dir
			if o := s.try(cmd); o.code != 0 || o.out != "v1\n" {
				t.Errorf("the next run: %+v", o)
			}
		})
	}
}

// warm copies a tool's directory into the operator's home.
func (s *site) tool(line string, dir string) {
	s.t.Helper()
	cmd := exec.Command("sh", "-ec", line)
	cmd.Dir, cmd.Env = dir, append(s.env, "HOME="+s.home)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Skipf("without a cell: %v\n%s", err, out)
	}
}

// Tools work under the default policy, without a network, with caches that are
// warm and stay as they are.
func TestExecTools(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		program string
		files   map[string]string
		before  string // without a cell: warms the cache
		line    string
		cache   string // in the home: unchanged
		own     bool   // it is installed in the home of whoever runs this test
	}{
		"go": {
			"go", map[string]string{"go.mod": "module toy\n\ngo 1.21\n", "toy.go": "package toy\n\nfunc Two() int { return 2 }\n",
				"toy_test.go": "package toy\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Fail()\n\t}\n}\n"},
			"go test ./...", "go build ./... && go vet ./... && go test -count=1 ./... && go test ./... | grep cached; echo '// more' >>toy.go; " +
				"go test ./...", ".cache", false,
		},
		"npm": {
			"npm", map[string]string{
				"package.json":      `{"name":"toy","version":"1.0.0","dependencies":{"dep":"file:./dep"},"scripts":{"test":"node -e \"require('dep')\""}}`,
				"dep/package.json":  `{"name":"dep","version":"1.0.0","main":"index.js"}`,
				"dep/index.js":      "module.exports = 1\n",
				"package-lock.json": `{"name":"toy","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"toy","version":"1.0.0","dependencies":{"dep":"file:./dep"}},"dep":{"version":"1.0.0"},"node_modules/dep":{"resolved":"dep","link":true}}}`,
			}, "", "npm ci --no-audit --no-fund && npm test", ".npm", false,
		},
		"cargo": {
			"cargo", map[string]string{"Cargo.toml": "[package]\nname = \"toy\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
				"src/lib.rs": "pub fn two() -> i32 { 2 }\n#[test]\nfn t() { assert_eq!(two(), 2) }\n"},
			"cargo --version", "cargo build --offline && cargo test --offline", ".cargo/registry", true,
		},
		"python": {
			"python3", map[string]string{"toy/setup.py": "from setuptools import setup\nsetup(name='toy', py_modules=['toy'])\n", "toy/toy.py": "two = 2\n"},
			"python3 -c 'import venv, ensurepip'", "python3 -m venv v && v/bin/python -m pip --version && v/bin/pip install --no-index --no-deps " +
				"--no-build-isolation ./toy 2>&1 | tail -1; v/bin/python -c 'print(2)'", ".cache", false,
		},
		"mvn": {"mvn", nil, "mvn -v", "mvn -o -v", ".m2", false},
		"make": {
			"make", map[string]string{"Makefile": "all: toy\n\t./toy\n", "toy.c": "#include <stdio.h>\nint main(void) { FILE *f = tmpfile(); return f == NULL; }\n"},
			"cc --version", "make -j2", ".cache", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(c.program); err != nil {
				t.Skipf("%s is not installed", c.program)
			}
			s := newSite(t)
			if c.own {
				s.home = os.Getenv("HOME")
				s.env = append(s.env, "HOME="+s.home)
			}
			for f, text := range c.files {
				s.write("repo/"+f, text)
			}
			if c.before != "" {
				s.tool(c.before, s.repo)
			}
			cache := filepath.Join(s.home, c.cache)
			before := map[string]string{}
			if _, err := os.Stat(cache); err == nil {
				before = hashed(t, cache)
			}
			o := s.try(s.command("exec", "--", "sh", "-ec", c.line))
			if o.code != 0 {
				t.Errorf("%d\n%s%s", o.code, o.out, o.err)
			}
			if len(before) > 0 {
				same(t, before, cache)
			} else if _, err := os.Stat(cache); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s came to be on the host", c.cache)
			}
		})
	}
}
