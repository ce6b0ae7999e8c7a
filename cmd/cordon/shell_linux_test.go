package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

func init() {
	programs["knocks"] = func() { os.Exit(knocks(os.Args[1])) }
}

// knocks connects to the door in a directory and says what came of it.
func knocks(dir string) int {
	place, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		fmt.Println("place:", err)
		return 1
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	if err == nil {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("/proc/self/fd/%d/visitors", place.Fd())})
	}
	if err != nil {
		fmt.Println("connect:", err)
		return 2
	}
	buf := make([]byte, 4096)
	n, err := unix.Read(fd, buf)
	fmt.Println("connected:", string(buf[:max(n, 0)]), err)
	return 0
}

// visited is a site with a worker that runs until it is told to end.
type visited struct {
	*running
	id string
}

// waiting is a worker that ends when there is a file src/stop.
const waiting = "echo own >/tmp/own; while ! test -e src/stop; do sleep 0.02; done; rm src/stop"

func newVisited(t *testing.T, args ...string) *visited {
	t.Helper()
	s := newSite(t)
	if args == nil {
		args = []string{"run", "--no-merge", "--", "sh", "-c", waiting}
	}
	v := &visited{running: s.start(nil, args...)}
	v.await("a worker runs", func() bool {
		all := s.workers()
		if len(all) == 1 && all[0].Status == "running" {
			v.id = all[0].Worker
		}
		return v.id != ""
	})
	v.await("visitors can come to the worker", func() bool { return v.inside("test", "-e", "/tmp/own").code == 0 })
	return v
}

// inside runs a command in the cell.
func (v *visited) inside(argv ...string) outcome {
	v.t.Helper()
	return v.try(v.command(append([]string{"shell", v.id, "--"}, argv...)...))
}

// count is how many processes in the cell begin with a text.
func (v *visited) count(text string) int {
	v.t.Helper()
	o, n := v.inside("sh", "-c", `for f in /proc/[0-9]*/cmdline; do tr "\0" " " <$f; echo; done 2>/dev/null`), 0
	if o.code != 0 {
		return -1 // nobody looked
	}
	for _, line := range strings.Split(o.out, "\n") {
		if strings.HasPrefix(line, text) {
			n++
		}
	}
	return n
}

// untilCount waits for a number of processes in the cell.
func (v *visited) untilCount(text string, n int) {
	v.t.Helper()
	v.await(fmt.Sprintf("there are %d processes %q", n, text), func() bool { return v.count(text) == n })
}

// tellToEnd tells the worker to end. A visitor who is slow to say what it wants is turned away, and the end of the
// worker ends the visit.
func (v *visited) tellToEnd() {
	v.t.Helper()
	v.site.await("the worker is told to end", func() bool {
		code := v.inside("touch", "src/stop").code
		return code == 0 || code == 137 || v.over()
	})
}

// stop lets the worker end well.
func (v *visited) stop() {
	v.t.Helper()
	v.tellToEnd()
	v.awaitEnd()
	if code := v.cmd.ProcessState.ExitCode(); code != 0 {
		v.t.Errorf("cordon run ended with %d\n%s", code, v.errs.String())
	}
	v.sound()
}

func TestShellTerminal(t *testing.T) {
	t.Parallel()
	v := newVisited(t)
	t.Run("own", func(t *testing.T) {
		c := newConsole(v.site, nil, "shell", v.id, "--", "sh", "-c",
			`tty; stty size; test -t 0 && test -t 1 && test -t 2 && echo all three; cat /tmp/own; echo "$TERM"; exit 7`)
		c.expect(v.id + ` +view +beside the worker; what you change is audited`)
		c.expect(`/dev/pts/\d+\r\n33 77\r\nall three\r\nown\r\ndumb\r\n`)
		c.end(7)
	})
	t.Run("resize", func(t *testing.T) {
		c := newConsole(v.site, nil, "shell", v.id, "--", "sh", "-c", `trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.02; done`)
		c.expect("ready")
		if err := pty.Setsize(c.master, &pty.Winsize{Rows: 44, Cols: 99}); err != nil {
			t.Fatal(err)
		}
		c.expect(`44 99`)
		c.end(0)
	})
	t.Run("interrupt", func(t *testing.T) {
		c := newConsole(v.site, nil, "shell", v.id, "--", "sh", "-c", `trap 'echo mine' INT; sh -c "echo ready; exec sleep 600"; echo still here; exit 4`)
		c.expect("ready")
		c.send("\x03")
		c.expect(`mine\r\nstill here`)
		c.end(4)
	})
	t.Run("output elsewhere", func(t *testing.T) {
		var out bytes.Buffer
		c := newConsole(v.site, &out, "shell", v.id, "--", "sh", "-c", `test -t 0 && ! test -t 1 && test -t 2 && echo asked >&2 && read x && echo "got $x"`)
		c.expect("asked")
		c.send("word\n")
		c.end(0)
		if out.String() != "got word\n" {
			t.Errorf("%q", out.String())
		}
	})
	t.Run("much output", func(t *testing.T) {
		c := newConsole(v.site, nil, "shell", v.id, "--", "sh", "-c", `i=0; while test $i -lt 3000; do echo "line $i of the output"; i=$((i+1)); done; echo the end`)
		c.expect(`line 2999 of the output\r\nthe end`)
		c.end(0)
	})
	t.Run("kept open", func(t *testing.T) { // by somebody who left the session
		c := newConsole(v.site, nil, "shell", v.id, "--", "sh", "-c", `setsid sleep 31.5 & echo done; exit 3`)
		c.expect("done")
		c.end(3)
		v.inside("pkill", "-f", "sleep 31.5")
	})
	v.stop()
}

// An interactive shell of the operator's, with its jobs.
func TestShellJobControl(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	v := newVisited(t)
	c := newConsole(v.site.with("SHELL="+bash), nil, "shell", v.id)
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
	c.send("fg\n")
	c.expect(`fg\r\n` + long + `\r\n`)
	c.untilForeground(long)
	c.send("\x03")
	c.expect(`ready> `)
	c.send("echo code $?\n")
	c.expect(`code 130`)
	c.send("exit 5\n")
	c.end(5)
	v.stop()
}

// with is the same site with another variable in its environment.
func (s *site) with(variable string) *site {
	other := *s
	other.env = append(append([]string{}, s.env...), variable)
	return &other
}

func TestShellSignals(t *testing.T) {
	t.Parallel()
	v := newVisited(t)
	for name, sig := range map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "USR1": syscall.SIGUSR1} {
		r := v.start(nil, "shell", v.id, "--", "sh", "-c", fmt.Sprintf("trap 'echo handled; exit 42' %s; touch /tmp/%[1]s; while :; do sleep 0.01; done", name))
		v.await("the visitor handles "+name, func() bool { return v.inside("test", "-e", "/tmp/"+name).code == 0 })
		if o := r.signal(sig); o.code != 42 || o.out != "handled\n" {
			t.Errorf("%s: %+v", name, o)
		}
	}
	v.stop()
}

// A visitor that goes takes its command along, also one that does not want to, and
// the worker does not notice.
func TestShellVisitorGoes(t *testing.T) {
	t.Parallel()
	v := newVisited(t)
	stubborn := `trap "" HUP TERM INT; sleep 671.5 & sleep 671.5; sleep 671.5`
	for _, leave := range map[string]func(*console){
		"killed": func(c *console) { _ = c.cmd.Process.Kill() },
		"hup":    func(c *console) { _ = c.cmd.Process.Signal(syscall.SIGHUP) },
	} {
		c := newConsole(v.site, nil, "shell", v.id, "--", "sh", "-c", stubborn)
		v.untilCount("sleep 671.5", 2)
		leave(c)
		v.untilCount("sleep 671.5", 0)
		c.untilEnded()
	}
	hung := v.command("shell", v.id, "--", "sh", "-c", stubborn) // its terminal goes
	master := onTerminal(t, hung)
	v.untilCount("sleep 671.5", 2)
	master.Close()
	v.untilCount("sleep 671.5", 0)
	_ = hung.Wait()
	if code := hung.ProcessState.ExitCode(); code != 129 {
		t.Errorf("without its terminal it ended with %d", code)
	}
	r := v.start(nil, "shell", v.id, "--", "sh", "-c", stubborn) // without a terminal
	v.untilCount("sleep 671.5", 2)
	r.signal(syscall.SIGKILL)
	v.untilCount("sleep 671.5", 0)
	if v.over() {
		t.Error("the worker has ended too")
	}
	v.stop()
}

// onTerminal starts a command on a terminal that nobody else holds.
func onTerminal(t *testing.T, cmd *exec.Cmd) (master *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal here: %v", err)
	}
	defer slave.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return master
}

// The worker's end, and that of cordon, ends the visits.
func TestShellWorkerEnds(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*visited){
		"stops":  func(v *visited) { v.stop() },
		"signal": func(v *visited) { v.signal(syscall.SIGTERM) },
		"killed": func(v *visited) { v.signal(syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVisited(t)
			mark := fmt.Sprintf("81.%d", time.Now().UnixNano())
			on := newConsole(v.site, nil, "shell", v.id, "--", "sh", "-c", "trap '' HUP TERM; sleep "+mark)
			piped := v.start(nil, "shell", v.id, "--", "sh", "-c", "trap '' HUP TERM; setsid sleep "+mark)
			v.untilCount("sleep "+mark, 2)
			end(v)
			on.expect(v.id + " has ended, and the visit with it")
			on.end(137)
			<-piped.done
			if o := ended(piped.cmd, piped.out.String(), piped.errs.String()); o.code != 137 || !strings.Contains(o.err, "has ended, and the visit with it") {
				t.Errorf("%+v", o)
			}
			v.awaitNone(mark)
			v.untilFree()
			if o := v.inside("true"); o.code != 0 || !strings.Contains(o.err, "the files it left") {
				t.Errorf("afterwards: %+v", o)
			}
		})
	}
}

// untilFree waits until no cell has the files of the worker: one may outlive a cordon that was killed by a moment.
func (v *visited) untilFree() {
	v.t.Helper()
	dirs := v.stateEntries("layers")
	if len(dirs) != 1 {
		v.t.Fatal(dirs)
	}
	dir, err := os.Open(dirs[0])
	if err != nil {
		v.t.Fatal(err)
	}
	defer dir.Close() // and with it the lock
	v.site.await("no cell has "+dirs[0], func() bool { return unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil })
}

// There are eight places. Requests beyond that, and visitors that say nothing or
// do not read, keep neither the worker nor cordon from their work.
func TestShellMany(t *testing.T) {
	t.Parallel()
	v := newVisited(t)
	var all []*running
	for range 7 {
		all = append(all, v.start(nil, "shell", v.id, "--", "sleep", "691.5"))
	}
	v.untilCount("sleep 691.5", 7)
	// The eighth writes for ever and is not read. It may come before the place of the one who counted is free.
	var flood *exec.Cmd
	v.await("the eighth is in", func() bool {
		flood = v.command("shell", v.id, "--", "yes")
		out, err := flood.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := flood.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err == nil {
			return true
		}
		_ = flood.Wait() // it was turned away
		return false
	})
	if o := v.inside("true"); o.code != 3 || !strings.Contains(o.err, "8 visitors are in it already") {
		t.Errorf("the ninth: %+v", o)
	}
	var hundred sync.WaitGroup
	for range 8 {
		hundred.Go(func() {
			for range 12 {
				v.inside("true")
			}
		})
	}
	hundred.Wait()
	// A place that is left is free.
	all[0].signal(syscall.SIGKILL)
	v.await("a place that was left is free", func() bool { return v.inside("echo", "in").out == "in\n" })
	// cordon hears its own signals.
	if o := v.signal(syscall.SIGTERM); o.code != 130 {
		t.Errorf("%+v", o)
	}
	_ = flood.Process.Kill()
	_ = flood.Wait()
}

// policyOf writes a policy.
func policyOf(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte("version: 1\n"+text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A visitor's processes are the worker's: they count.
func TestShellCounts(t *testing.T) {
	t.Parallel()
	v := newVisited(t, "run", "--no-merge", "--policy", policyOf(t, "limits: {processes: 20}"), "--", "sh", "-c", waiting)
	v.site.await("a visitor has started too many processes", func() bool { // one who is slow to say what it wants is turned away
		return v.inside("sh", "-c", `i=0; while test $i -lt 22; do sleep 60 & i=$((i+1)); done; wait`).code != exitRefused || v.over()
	})
	v.awaitEnd()
	if !strings.Contains(v.errs.String(), "process limit") {
		t.Errorf("%s%s", v.out.String(), v.errs.String())
	}
}

// A worker cannot come to the door of another, nor to its own. The control: the
// operator can, with the same program.
func TestShellDoorIsHidden(t *testing.T) {
	t.Parallel()
	v := newVisited(t)
	doors, err := filepath.Glob(filepath.Join(filepath.Dir(v.repo), "state/cordon/*/workers/*/visitors"))
	if err != nil || len(doors) != 1 {
		t.Fatalf("%v, %v", doors, err)
	}
	dir := filepath.Dir(doors[0])
	if fi, err := os.Stat(doors[0]); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi, err)
	}
	knock := exec.Command("knocks", dir)
	if out, err := knock.CombinedOutput(); err != nil || !strings.Contains(string(out), "connected:") {
		t.Fatalf("the control: %v\n%s", err, out)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	put := v.command("shell", v.id, "--", "sh", "-c", "cat >/tmp/knocks; chmod +x /tmp/knocks")
	put.Stdin = bytes.NewReader(b)
	if o := v.try(put); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	if o := v.inside("/tmp/knocks", dir); o.code != 1 || !strings.Contains(o.out, "place:") {
		t.Errorf("%+v", o)
	}
	v.stop()
}

// The second wall: whoever sits in a user namespace of its own is turned away.
func TestShellRefusesOtherNamespaces(t *testing.T) {
	t.Parallel()
	v := newVisited(t)
	doors, _ := filepath.Glob(filepath.Join(filepath.Dir(v.repo), "state/cordon/*/workers/*/visitors"))
	if len(doors) != 1 {
		t.Fatal(doors)
	}
	knock := exec.Command("knocks", filepath.Dir(doors[0]))
	knock.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}},
	}
	if out, err := knock.CombinedOutput(); err != nil || !strings.Contains(string(out), "only the operator enters") {
		t.Errorf("%v\n%s", err, out)
	}
	v.stop()
}

// Arguments that are not text, and many of them; a place with a long path.
func TestShellArguments(t *testing.T) {
	t.Parallel()
	v := newVisited(t)
	if o := v.inside("printf", "%s", "\xff\xfe text"); o.out != "\xff\xfe text" {
		t.Errorf("%+v", o)
	}
	long := strings.Repeat("x", 100<<10)
	if o := v.inside("sh", "-c", `echo ${#1} ${#2}`, "sh", long, long); o.out != "102400 102400\n" {
		t.Errorf("%+v", o)
	}
	var log struct {
		Events []struct {
			Type string
			Data struct{ Command []string }
		}
	}
	v.parse(v.cordon([]int{0}, "log", "--json").out, &log)
	found := false
	for _, e := range log.Events {
		found = found || e.Type == "worker.visited" && len(e.Data.Command) == 6 && e.Data.Command[4] == long
	}
	if !found {
		t.Error("the journal does not have it")
	}
	v.stop()
}

func TestShellLongPlace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.env = append(s.env, "XDG_STATE_HOME="+s.place(strings.Repeat("long/", 30)+"state"))
	r := s.start(nil, "run", "--no-merge", "--", "sh", "-c", waiting)
	r.await("a worker runs", func() bool { return len(s.workers()) > 0 && s.only().Status == "running" })
	v := &visited{r, s.only().Worker}
	v.await("a visitor is in", func() bool { return v.inside("echo", "in").out == "in\n" })
	v.stop()
}

// A visit is an event of the worker's that a reader of JSON finds.
func TestShellIsInTheJournal(t *testing.T) {
	t.Parallel()
	v := newVisited(t)
	v.inside("echo", "one")
	v.stop()
	var last string
	for _, e := range v.events() {
		if e == "worker.ended" && last != "worker.visited" {
			t.Errorf("%v", v.events())
		}
		last = e
	}
	if w := v.only(); w.Status != "finished" {
		t.Errorf("it is %s", w.Status)
	}
	var shown struct{ Visits int }
	v.parse(v.cordon([]int{0}, "show", "--json", v.id).out, &shown)
	n := strings.Count(strings.Join(v.events(), " "), "worker.visited")
	if row := fmt.Sprintf("visits   %d with cordon shell", n); n < 3 || shown.Visits != n || !strings.Contains(v.cordon([]int{0}, "show", v.id).out, row) {
		t.Errorf("%d visits, shown as %d\n%s", n, shown.Visits, v.cordon([]int{0}, "show", v.id).out)
	}
	if _, err := json.Marshal(v.events()); err != nil {
		t.Error(err)
	}
}

// leaves is a worker that leaves something everywhere where it may write.
const leaves = `echo own >/tmp/own; echo mine >$HOME/mine; mkdir -p $HOME/.ssh; echo own key >$HOME/.ssh/own
echo new >src/new.txt; rm docs/d.txt; git add -A; git commit -qm work`

// looks is a visitor that sees all of that and changes it.
const looks = `cat /tmp/own $HOME/mine $HOME/.ssh/own src/new.txt src/a.txt; cat docs/d.txt; cat $HOME/.ssh/id
git log --format=%s; git status --short
echo over >/tmp/own; echo over >$HOME/mine; echo over >src/new.txt; rm src/a.txt; git add -A; git commit -qm over; git log -1 --format=%s
cat /tmp/own src/new.txt; test -e src/a.txt || echo removed`

// What a worker left is seen as it saw it, and a visitor changes nothing of it: not
// in a tree of either kind, not in a directory of another tool's, not in
// quarantine.
func TestShellLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"overlay":            {[]string{"--tree=overlay", "--no-merge"}, 0},
		"copy":               {[]string{"--tree=copy", "--no-merge"}, 0},
		"adopted":            {[]string{"--adopt", "../linked", "--no-merge"}, 0},
		"quarantined":        {[]string{"--tree=overlay", "--write", "docs"}, 4},
		"quarantined frozen": {[]string{"--tree=copy", "--write", "docs"}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.write("home/.ssh/id", "secret\n")
			s.git("worktree", "add", "-q", s.place("linked"))
			s.cordon([]int{c.code}, append(append([]string{"run"}, c.args...), "--", "sh", "-c", leaves)...)
			id := s.only().Worker
			places := []string{s.place("state"), s.place("linked"), s.repo, s.home}
			var before []map[string]string
			s.git("status")
			for _, p := range places {
				open(t, p)
				before = append(before, hashed(t, p))
			}
			for range 2 { // the second sees nothing of the first
				o := s.try(s.command("shell", id, "--", "sh", "-c", looks))
				want := "own\nmine\nown key\nnew\na\nwork\nbase\nover\nover\nover\nremoved\n"
				if o.code != 0 || o.out != want {
					t.Errorf("%d %q, want %q\n%s", o.code, o.out, want, o.err)
				}
				if !strings.Contains(o.err, "are discarded") || strings.Contains(o.out, "secret") || !strings.Contains(o.err, "d.txt") {
					t.Errorf("%s", o.err)
				}
			}
			for i, p := range places {
				open(t, p)
				same(t, before[i], p)
			}
			s.sound()
			if s.try(s.command("shell", id, "--", "sh", "-c", "exit 9")).code != 9 {
				t.Error("the status is not the command's")
			}
		})
	}
}

// open makes the kernel's own directories beside an upper layer readable: an ordinary
// user may not look into them.
func open(t *testing.T, dir string) {
	t.Helper()
	works, err := filepath.Glob(filepath.Join(dir, "cordon/*/layers/*/*/work/work"))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range works {
		if err := os.Chmod(w, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// Nobody writes what a visitor looks at.
func TestShellLeftIsKeptStill(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{6}, "run", "--merge", "--", "sh", "-c", leaves+"; exit 1")
	id := s.only().Worker
	c := newConsole(s, nil, "shell", id, "--", "sh", "-c", "stty size; echo ready; read x; cat src/new.txt; exit 4")
	c.expect("33 77\r\nready")
	if w := s.only(); w.Status != "failed" {
		t.Errorf("a visit makes it %s", w.Status)
	}
	if o := s.try(s.command("resume", id, "--", "true")); o.code != 6 || !strings.Contains(o.err, "another cell has it") ||
		!strings.Contains(o.err, "waiting    "+looked) {
		t.Errorf("%+v", o)
	}
	c.send("\n")
	c.expect("new")
	c.end(4)
	if o := s.cordon([]int{0}, "resume", id, "--", "true"); strings.Contains(o.err, looked) {
		t.Errorf("nobody looks any more: %+v", o)
	}
}

const looked = "someone is looking at it with cordon shell"

// Nobody takes away what a visitor looks at, whatever the kind of the tree.
func TestShellLeftIsNotTakenAway(t *testing.T) {
	t.Parallel()
	for _, tree := range []string{"overlay", "copy"} {
		t.Run(tree, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.cordon([]int{0}, "run", "--merge", "--write", "src", "--tree="+tree, "--", "sh", "-c", "echo mine >$HOME/mine; echo new >src/new.txt")
			id := s.only().Worker
			c := newConsole(s, nil, "shell", id, "--", "sh", "-c", "echo ready; read x; cat $HOME/mine src/new.txt src/a.txt; exit 4")
			c.expect("ready")
			if o := s.try(s.command("discard", "--yes", id)); o.code != 3 || !strings.Contains(o.err, looked) {
				t.Errorf("discard: %+v", o)
			}
			if o := s.cordon([]int{0}, "gc", "--yes", "--wait"); !strings.Contains(o.err, "("+looked+")") || !strings.Contains(o.err, "keep") {
				t.Errorf("gc: %+v", o)
			}
			if w := s.only(); w.Status != "merged" {
				t.Errorf("it is %s", w.Status)
			}
			c.send("\n")
			c.expect("mine\r\nnew\r\na\r\n")
			c.end(4)
			if o := s.cordon([]int{0}, "gc", "--yes", "--wait"); strings.Contains(o.err, looked) || !strings.Contains(o.out, "removed") {
				t.Errorf("gc afterwards: %+v", o)
			}
			if o := s.try(s.command("shell", id, "--", "true")); o.code != 3 {
				t.Errorf("shell afterwards: %+v", o)
			}
			s.sound()
		})
	}
}

// The default place of the state is in the home, which is a layer of the view: what
// the worker wrote there and removed there is seen all the same.
func TestShellLeftInTheHome(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]string{"deny": `filesystem: {read_roots: [/, "~"]}`, "capture": `filesystem: {outside: capture, read_roots: [/, "~"]}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.env = append(s.env, "XDG_STATE_HOME=")
			t.Cleanup(func() { open(t, s.place("home/.local/state")) })
			s.write("home/removed", "operator's\n")
			s.write("home/dir/kept", "operator's\n")
			s.write("home/.ssh/id", "secret\n")
			s.cordon([]int{0, 4}, "run", "--no-merge", "--policy", policyOf(t, policy), "--", "sh", "-c", leaves+`; rm $HOME/removed; echo worker >$HOME/dir/new`)
			id := s.only().Worker
			if _, err := os.Stat(filepath.Join(s.home, ".local/state/cordon")); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				o := s.try(s.command("shell", id, "--", "sh", "-c", `cat $HOME/mine $HOME/.ssh/own $HOME/dir/kept $HOME/dir/new /tmp/own src/new.txt
test -e $HOME/removed || echo gone; test -e $HOME/.ssh/id || echo hidden; test -e $HOME/.local/state/cordon/bases || echo no state
echo over >$HOME/dir/kept; echo over >$HOME/mine; cat $HOME/dir/kept $HOME/mine`))
				want := "mine\nown key\noperator's\nworker\nown\nnew\ngone\nhidden\nno state\nover\nover\n"
				if o.code != 0 || o.out != want {
					t.Errorf("%d %q, want %q\n%s", o.code, o.out, want, o.err)
				}
			}
			s.sound()
		})
	}
}

func TestShellHelpHasItsOwnCodes(t *testing.T) {
	t.Parallel()
	o := newSite(t).cordon([]int{0}, "shell", "--help")
	if strings.Contains(o.out, "quarantined\n") || strings.Contains(o.out, "130  interrupted") || !strings.Contains(o.out, "128+n") {
		t.Error(o.out)
	}
}
