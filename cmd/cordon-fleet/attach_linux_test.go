package main

import (
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
)

// console is a terminal at home, with cordon on it.
type console struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	done   chan struct{}
	mu     sync.Mutex
	shown  strings.Builder
	read   int // so much of it was expected
}

// console starts cordon on a terminal of the machine.
func (m machine) console(args ...string) *console {
	m.t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		m.t.Fatal(err)
	}
	defer slave.Close()
	if err := pty.Setsize(master, &pty.Winsize{Rows: 33, Cols: 77}); err != nil {
		m.t.Fatal(err)
	}
	c := &console{t: m.t, master: master, cmd: exec.Command(filepath.Join(programs, "cordon"), args...), done: make(chan struct{})}
	c.cmd.Env, c.cmd.Dir = append(m.environ(), "TERM=dumb"), m.in
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = slave, slave, slave
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	go func() {
		for buf := make([]byte, 4096); ; {
			n, err := master.Read(buf)
			c.mu.Lock()
			c.shown.Write(buf[:n])
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() { _ = c.cmd.Wait(); close(c.done) }()
	m.t.Cleanup(func() { _ = c.cmd.Process.Kill(); <-c.done; master.Close() })
	showing(m.t, func() string { return fmt.Sprintf("--- terminal of %s\n%q", strings.Join(args, " "), c.text()) })
	return c
}

func (c *console) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shown.String()
}

// expect waits for a text after what was expected before it.
func (c *console) expect(pattern string) {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	testwait.Until(c.t, pattern+" is on the terminal", func() bool {
		at := re.FindStringIndex(c.text()[c.read:])
		if at == nil {
			return false
		}
		c.read += at[1]
		return true
	}, func() string { return fmt.Sprintf("after\n%q", c.text()[c.read:]) }, evidence(c.t))
}

func (c *console) send(text string) {
	c.t.Helper()
	if _, err := c.master.WriteString(text); err != nil {
		c.t.Fatal(err)
	}
}

// end waits for cordon and wants a status.
func (c *console) end(code int) {
	c.t.Helper()
	testwait.Until(c.t, "cordon has ended", func() bool {
		select {
		case <-c.done:
			return true
		default:
			return false
		}
	}, evidence(c.t))
	if got := c.cmd.ProcessState.ExitCode(); got != code {
		c.t.Errorf("it ended with %d, want %d\n%q", got, code, c.text())
	}
}

// inForeground reports whether a process with this command line runs in the foreground of its terminal, which sends its signals to it.
func inForeground(command string) bool {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		if b, err := os.ReadFile(f); err != nil || strings.TrimSuffix(strings.ReplaceAll(string(b), "\x00", " "), " ") != command {
			continue // it may have ended by now
		}
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		// state, parent, group, session, terminal, group in the foreground of the terminal
		if field := strings.Fields(rest); len(field) > 5 && field[2] == field[5] {
			return true
		}
	}
	return false
}

// TestAttach joins the terminal of a worker on a node, types there, leaves and comes back, outlives the home, and sees it to
// its end.
func TestAttach(t *testing.T) {
	t.Parallel()
	here, one := newProject(t), newMachine(t)
	home, address := startHome(here, "--listen", ownLoopback())
	node := one.start(here.token(), "node", "--name", "one", "-")
	node.await("ready")

	c := here.console("run", "-i", "--on", "one", "--", "true")
	c.expect(`cordon run -d -i --on NODE`)
	c.end(2)

	out, _ := here.cordon(0, "run", "-d", "-i", "--merge", "--on", "one", "--", "env", "PS1=ready> ", "bash", "--norc", "--noprofile", "-i")
	id := strings.TrimSpace(out)
	attach := func() *console {
		t.Helper()
		var c *console
		eventually(t, "its terminal can be joined", func() bool {
			c = here.console("attach", id)
			c.expect(`attached to ` + id + `|cordon: ` + id + ` .*\r\n`)
			return strings.Contains(c.text(), "attached to")
		})
		return c
	}
	c = attach()
	c.expect(`ready> `)
	c.send("echo one$((1+1)) in $HOME\n")
	c.expect(`one2 in ` + regexp.QuoteMeta(one.dir) + `\r\n`)
	// The size arrives as a signal, which keys overtake. The line fits into both sizes: bash draws a longer one anew over what is above it.
	c.send("until [ \"$(stty size)\" = '33 77' ]; do sleep .1; done; echo its size\n")
	c.expect(`its size\r\n`)
	long := fmt.Sprintf("sleep 600.%d", time.Now().UnixNano()) // no other test runs it
	c.send(long + "\n")
	c.expect(long + `\r\n`)
	eventually(t, long+" has the keys of its terminal", func() bool { return inForeground(long) })
	c.send("\x03")
	c.expect(`\^C`)
	c.expect(`ready> `)

	c.send("\x1c")
	c.expect(`detached from ` + id + `, which keeps running`)
	c.end(0)
	if w := here.worker(id); w.Status != "running" {
		t.Fatalf("%+v", w)
	}

	c = attach()
	c.expect(`one2 in`) // what was shown before
	home.kill()
	c.expect(`keeps running on its node`)
	c.end(1)
	here.console("attach", id).expect("cordon fleet home must run")
	startHome(here, "--listen", address)

	c = attach()
	c.send("echo two$((1+1)) >src/done\n")
	c.expect(`ready> `)
	c.send("exit\n")
	c.expect(id + ` has ended`)
	c.end(0)
	here.cordon(0, "wait", id)
	if got := here.git("show", "main:src/done"); got != "two2" {
		t.Errorf("it wrote %q", got)
	}
	if out, _ := here.cordon(0, "logs", id); !strings.Contains(out, "one2 in") {
		t.Errorf("its output:\n%s", out)
	}
}
