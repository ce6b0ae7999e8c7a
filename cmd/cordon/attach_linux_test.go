package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/background"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// detached starts a worker in the background and returns its name and the process that
// runs it.
func (s *site) detached(args ...string) (id string, pid int) {
	s.t.Helper()
	o := s.cordon([]int{0}, append([]string{"run", "--merge", "-d", "--json"}, args...)...)
	var said struct {
		Worker  string
		Process int
	}
	if err := json.Unmarshal([]byte(o.out), &said); err != nil || said.Worker == "" || said.Process == 0 {
		s.t.Fatalf("%v: %s%s", err, o.out, o.err)
	}
	s.t.Cleanup(func() { _ = syscall.Kill(said.Process, syscall.SIGKILL) }) // of a test that failed
	return said.Worker, said.Process
}

// becomes waits until the one worker has a status.
func (s *site) becomes(status string) {
	s.t.Helper()
	s.await("the worker is "+status, func() bool { return s.only().Status == status })
}

// attached is a terminal that joined a worker's, at the prompt of its shell.
func (s *site) attached(id string) *console {
	s.t.Helper()
	s.becomes("running")
	c := newConsole(s, nil, "attach", id)
	c.expect(`attached to ` + id + `; ctrl-\\ detaches`)
	return c
}

// sized asks the shell for the size of its terminal until it is this one: it arrives as a signal, which keys overtake.
func (c *console) sized(want string) {
	c.t.Helper()
	c.site.await("the size of the terminal is "+want, func() bool {
		c.send("stty size\n")
		return strings.Contains(c.expect(`\d\d \d\d\r`), want)
	})
}

// bash is an interactive shell that nothing of the operator's changes.
var bash = []string{"env", "PS1=ready> ", "bash", "--norc", "--noprofile", "-i"}

func TestAttach(t *testing.T) {
	t.Parallel()
	for name, isolation := range map[string]string{"confined": "strict", "unconfined": "none"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			policy := s.write("policy.yaml", "version: 1\nisolation: "+isolation+"\n")
			id, pid := s.detached(append([]string{"-i", "--policy", policy, "--"}, bash...)...)
			c := s.attached(id)
			c.sized("33 77")
			c.send("echo one$((1+1))\n")
			c.expect(`one2\r\n`)
			c.expect(`ready> `)

			// A second one sees what was shown, and both see what is typed on either.
			d := s.attached(id)
			d.expect(`one2\r\n`)
			d.send("echo two$((1+1))\n")
			d.expect(`two2\r\n`)
			c.expect(`two2\r\n`)

			// The size is that of the last that changed.
			if err := pty.Setsize(d.master, &pty.Winsize{Rows: 44, Cols: 99}); err != nil {
				t.Fatal(err)
			}
			d.sized("44 99")

			// An interrupt is the worker's.
			c.expect(`44 99\r\n`)
			long := longSleep()
			c.send(long + " || echo code $?; echo after\n")
			c.untilForeground(long)
			c.send("\x03")
			d.expect(`\^C`)
			d.send("echo three$((1+1))\n")
			d.expect(`three2\r\n`)

			// Detaching leaves the worker and the other alone.
			c.send("\x1c")
			c.expect(`detached from ` + id + `, which keeps running`)
			c.end(0)
			d.send("\x1b[92;5u") // as a terminal says it that tells keys apart
			d.expect(`detached from ` + id)
			d.end(0)
			if st := s.only(); st.Status != "running" {
				t.Fatalf("%+v", st)
			}

			// And again, to the end. The worker has no way to where terminals join.
			e := s.attached(id)
			e.expect(`three2\r\n`)
			if name == "confined" {
				e.send("echo post: $(find $CORDON_POST -name sock | wc -l), terminals: $(find $CORDON_POST/../../.. -name terminal | wc -l) and $(grep -c " +
					"terminal /proc/net/unix)\n")
				e.expect(`post: 1, terminals: 0 and 0\r\n`)
			}
			e.send("echo new >src/new.txt; git add -A; git commit -qm new; echo status $?\n")
			e.expect(`status 0\r\n`)
			e.send("exit\n")
			e.expect(id + ` has ended; cordon show ` + id)
			e.end(0)
			s.becomes("merged")
			if text, err := os.ReadFile(filepath.Join(s.repo, "src/new.txt")); err != nil || string(text) != "new\n" {
				t.Errorf("%q %v", text, err)
			}
			awaitGone(t, strconv.Itoa(pid))
			if left := s.alive(id); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			f := newConsole(s, nil, "attach", id)
			f.expect(id + ` is not running \(cordon show ` + id)
			f.end(3)
			s.sound()
		})
	}
}

// The terminal that a worker was started from goes on working.
func TestAttachBesideItsOwnTerminal(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	own := newConsole(s, nil, append([]string{"run", "--merge", "-i", "--"}, bash...)...)
	own.expect(`ready> `)
	id := s.only().Worker
	c := s.attached(id)
	c.expect(`ready> `)
	c.send("echo from$((1+1))\n")
	c.expect(`from2\r\n`)
	own.expect(`from2\r\n`)
	own.send("echo own$((1+1))\n")
	own.expect(`own2\r\n`)
	c.expect(`own2\r\n`)
	c.send("exit\n")
	c.expect(id + ` has ended`)
	c.end(0)
	own.expect(id + ` +no change`)
	own.end(0)
	s.sound()
}

// A cordon that is killed takes its worker with it, and says so to who is attached.
func TestAttachKilled(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, pid := s.detached(append([]string{"-i", "--"}, bash...)...)
	c := s.attached(id)
	c.expect(`ready> `)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.expect(`the supervisor of ` + id + ` exited, and the worker ended with it; cordon resume ` + id)
	c.end(1)
	s.untilDead(id)
	d := newConsole(s, nil, "attach", id)
	d.expect(id + ` is not running: its supervisor exited`)
	d.end(3)
	if got := s.only().Status; got != "lost" {
		t.Errorf("it is %s", got)
	}
	s.cordon([]int{0}, "discard", id, "--yes")
	s.sound()
}

// A worker without a terminal runs in the background as well, with what cordon says in
// a file; what goes wrong before is said at once.
func TestDetached(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, pid := s.detached("--", "sh", "-c", "while ! test -e src/stop; do sleep 0.02; done; rm src/stop; tty; echo new >src/new.txt")
	c := newConsole(s, nil, "attach", id)
	c.expect(id + ` (has no terminal that another can join|is not running)`) // or has not begun: it has its name before that
	c.end(3)
	s.await("the worker runs, and is open to visitors", func() bool {
		code := s.try(s.command("shell", id, "--", "touch", "src/stop")).code
		return code == 0 || code == 137 // the worker's end ends the visit
	})
	s.becomes("merged")
	awaitGone(t, strconv.Itoa(pid))
	if o := s.cordon([]int{0}, "logs", id); !strings.Contains(o.out, "not a tty") {
		t.Errorf("%q", o.out)
	}
	said, err := filepath.Glob(s.place("state/cordon/*/workers/" + id + "/" + background.ConsoleFile))
	if err != nil || len(said) != 1 {
		t.Fatal(said, err)
	}
	text, err := os.ReadFile(said[0])
	if err != nil || !strings.Contains(string(text), `"status": "merged"`) || !strings.Contains(string(text), "running") {
		t.Errorf("%q %v", text, err)
	}
	if o := s.cordon([]int{2}, "run", "-d", "--base", "nothing", "--", "true"); !strings.Contains(o.err, "nothing") || o.out != "" {
		t.Errorf("%+v", o)
	}
	if o := s.try(s.with(background.Variable+"=none").command("run", "--", "true")); o.code != 2 || !strings.Contains(o.err, background.Variable) {
		t.Errorf("%+v", o)
	}
	s.sound()
}

// A cordon in the background is stopped like one in front.
func TestDetachedIsStopped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, pid := s.detached("-i", "--", "sh", "-c", "echo ready; exec sleep 600")
	c := s.attached(id)
	c.expect(`ready`)
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	c.expect(id + ` has ended`)
	c.end(0)
	awaitGone(t, strconv.Itoa(pid))
	if got := s.only().Status; got != "interrupted" {
		t.Errorf("it is %s", got)
	}
	if left := s.alive(id); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	s.sound()
}

// A terminal that does not read keeps nobody, and is told so.
func TestAttachKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	const lines, portion = 36000, 500
	s := newSite(t)
	id, _ := s.detached("-i", "--", "sh", "-c", fmt.Sprintf(
		`i=0; while test $i -lt %d; do test $((i %% %d)) -gt 0 || read x; echo "line $i of what is shown on the terminal"; i=$((i+1)); done
		echo done >src/done; read y`, lines, portion)) // no more than who reads has asked for: on a busy machine that terminal would be behind too
	c := s.attached(id)
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	d := s.attached(id)
	for last := portion - 1; last < lines; last += portion {
		d.send("\n")
		d.expect(fmt.Sprintf(`line %d of what is shown`, last))
	}
	if err := c.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	c.expect(`it prints faster than this terminal can keep up`)
	c.end(1)
	d.send("\n")
	d.expect(id + ` has ended`)
	d.end(0)
	s.becomes("merged")
}

// inner is the side of a terminal on which programs are.
func (c *console) inner() *os.File {
	c.t.Helper()
	n, err := unix.IoctlGetInt(int(c.master.Fd()), unix.TIOCGPTN)
	if err != nil {
		c.t.Fatal(err)
	}
	f, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

// flow stops what is shown on a terminal (unix.TCOOFF) or lets it go on (unix.TCOON). Who writes there waits meanwhile.
func (c *console) flow(how int) {
	c.t.Helper()
	f := c.inner()
	defer f.Close()
	if err := unix.IoctlSetInt(int(f.Fd()), unix.TCXONC, how); err != nil {
		c.t.Fatal(err)
	}
}

// typedBehind is how much was typed on a terminal that nobody has read.
func (c *console) typedBehind() int {
	c.t.Helper()
	f := c.inner()
	defer f.Close()
	if _, err := term.MakeRaw(int(f.Fd())); err != nil { // what waits for the end of a line counts too
		c.t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCINQ)
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// A worker that ends leaves nothing of what it did to the terminal, neither there nor
// where another is joined, and no answer of the terminal's to whoever reads next.
func TestTerminalIsGivenBack(t *testing.T) {
	t.Parallel()
	for name, isolation := range map[string]string{"confined": "strict", "unconfined": "none"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			policy := s.write("policy.yaml", "version: 1\nisolation: "+isolation+"\n")
			own := newConsole(s, nil, "run", "--merge", "-i", "--policy", policy, "--", "sh", "-c",
				`stty -echo; echo ready; read x; printf '\033[?1003h\033[?1049h\033[8m\033[c'; read y`)
			own.expect(`ready\r\n`)
			id := s.only().Worker
			consoles := []*console{own}
			if name == "confined" {
				consoles = append(consoles, s.attached(id))
			}
			own.send("\n")
			for _, c := range consoles {
				c.expect(`\x1b\[8m\x1b\[c`)
			}
			// cordon waits for an answer when it has made the terminal plain, and not for long. What it writes is
			// held back until the answer has come: late, as over a slow line, and when nobody reads there any more.
			for _, c := range consoles {
				c.flow(unix.TCOOFF)
			}
			own.send("\n")
			s.untilDead(id)
			for _, c := range consoles {
				s.await("an answer stays in the terminal", func() bool {
					c.send("\x1b[?62;22c")
					return c.typedBehind() > 0
				})
				c.flow(unix.TCOON)
				c.expect(`\x1b\[\?1049l`)
				c.expect(`\x1b\[\?1003l`)
				c.expect(`\x1b\[0m`)
			}
			for _, c := range consoles {
				c.end(0)
				if n := c.typedBehind(); n > 0 {
					t.Errorf("%d bytes are left to the shell", n)
				}
			}
			s.sound()
		})
	}
}
