package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"

	"cordon/internal/testfile"
)

const screenPlan = `version: 1
plan: screens
parallel: 2
stages:
  - {id: first, task: t, write: [src/a.txt], command: [sh, -c, "mkdir -p src && echo a >src/a.txt"], artifacts: [src/a.txt]}
  - {id: long, task: t, after: [first], write: [src/b.txt], command: [sh, -c, "printf 'here\\033[2Jnow'; echo; exec sleep 600"], artifacts: [src/b.txt]}
  - {id: last, task: t, after: [long], write: [src/c.txt], command: ["true"], artifacts: [src/c.txt]}
`

// A plan on a terminal fits one screen, follows its size, and gives it back at ctrl-c; nothing that
// a worker prints acts on it.
func TestPlanScreen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	file := filepath.Join(t.TempDir(), "plan.yaml")
	testfile.Write(t, file, screenPlan)
	c := consoleOf(s, "xterm", s.command("plan", "run", "--merge", file), nil)
	c.expect(`\x1b\[\?1049h`)
	v := watch(c)
	long, seen := regexp.MustCompile(`long +.*running +\d+s +[a-z-]+ +now`), ""
	wanted := []string{"screens: 1 of 3 stages done, 1 running, began", "critical path: long → last (about", "last   waiting", "waits for long"}
	v.until(fmt.Sprintf("%q and %q are on the screen", long, wanted), func(screen string) bool { // at a look it may be half drawn
		seen = screen
		return long.MatchString(screen) && hasAll(screen, wanted)
	})
	if strings.Count(seen, "\n") > 33 {
		t.Errorf("it does not fit:\n%s", seen)
	}
	c.read = len(c.text())
	if err := pty.Setsize(c.master, &pty.Winsize{Rows: 6, Cols: 40}); err != nil {
		t.Fatal(err)
	}
	c.expect(`\x1b\[H\x1b\[2Jscreens: 1 of 3 stages done, 1 running,…\r+\n\r+\nSTAGE`)
	c.send("\x03")
	c.expect(`\x1b\[\?25h\x1b\[\?1049l`)
	c.end(130)
	if after := c.text()[strings.LastIndex(c.text(), "\x1b[?1049l"):]; strings.Contains(after, "\x1b[2J") || strings.Contains(after, "\x1b[H") {
		t.Errorf("it draws after it gave the terminal back: %q", after)
	}

	// Where stdout is no terminal, lines say what happens.
	o := s.try(s.command("plan", "stop", "screens"))
	if o.code != 0 || strings.Contains(o.out+o.err, "\x1b") {
		t.Errorf("%+v", o)
	}
}

// Ctrl-z gives the screen back to the shell, which can be used, and fg goes on where it was.
func TestPlanScreenStopped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	file := filepath.Join(t.TempDir(), "plan.yaml")
	testfile.Write(t, file, screenPlan)
	shell := exec.Command("bash", "--norc", "--noprofile", "-i")
	shell.Dir, shell.Env = s.repo, s.env
	c := consoleOf(s, "xterm", shell, nil)
	c.send("cordon plan run --merge '" + file + "'\n")
	c.expect(`\x1b\[\?1049h`)
	c.expect(`long +.*running`)
	c.send("\x1a")
	c.expect(`\x1b\[\?25h\x1b\[\?1049l`)
	c.expect(`Stopped`)
	stopped := len(c.text())
	c.send("echo the shell has $((40 + 2))\n")
	c.expect(`the shell has 42`)
	if after := c.text()[stopped:]; strings.Contains(after, "\x1b[2J") {
		t.Errorf("it draws while it is stopped: %q", after)
	}
	c.send("fg\n")
	c.expect(`\x1b\[\?1049h`)
	c.expect(`long +.*running`)
	c.send("\x03")
	c.expect(`\x1b\[\?25h\x1b\[\?1049l`)
	c.send("exit $?\n")
	c.end(130)
}
