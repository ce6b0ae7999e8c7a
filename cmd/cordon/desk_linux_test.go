package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// tmux is a terminal in which a desk runs, as an operator has it.
type tmux struct {
	*site
	socket string
}

// inTmux starts a cordon command in a terminal of a size.
func inTmux(s *site, width, height int, args ...string) *tmux {
	s.t.Helper()
	m := &tmux{s, filepath.Join(s.t.TempDir(), "tmux")}
	m.tmux(append([]string{"-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), "cordon"}, args...)...)
	s.t.Cleanup(func() { _ = exec.Command("tmux", "-S", m.socket, "kill-server").Run() })
	s.sources.add(func() string {
		shown, err := m.process("tmux", "-u", "-S", m.socket, "capture-pane", "-p").CombinedOutput()
		return fmt.Sprintf("--- screen of cordon %s %s\n%s", strings.Join(args, " "), problem(err), shown)
	})
	return m
}

// tmux runs the program that holds the terminal. Where it is missing, the test fails.
func (m *tmux) tmux(args ...string) string {
	m.t.Helper()
	out, err := m.process("tmux", append([]string{"-u", "-S", m.socket}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// keys presses keys, by the names that tmux has for them.
func (m *tmux) keys(names ...string) {
	m.t.Helper()
	m.tmux(append([]string{"send-keys"}, names...)...)
}

// screen is what the operator sees.
func (m *tmux) screen() string { return m.tmux("capture-pane", "-p") }

// until waits until the screen has all of some texts.
func (m *tmux) until(texts ...string) string {
	m.t.Helper()
	got := ""
	m.await(fmt.Sprintf("%q are on the screen", texts), func() bool { got = m.screen(); return hasAll(got, texts) })
	return got
}

// hasAll reports whether a screen has all of some texts.
func hasAll(screen string, texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(screen, text) })
}

// TestDeskInTmux: an operator with real workers sees who needs them, decides, and kills the desk.
func TestDeskInTmux(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{exitQuarantined}, "run", "--write", "src", "--", "sh", "-c", "echo x >src/x.txt; echo 'Call me.' >>docs/d.txt")
	id := s.only().Worker
	live, _ := s.detached("--", "sleep", "600")
	// It runs a moment before it takes visitors.
	s.await("visitors can come to the worker", func() bool { return s.try(s.command("shell", live, "--", "true")).code == 0 })

	// cordon without a command opens the desk: who needs the operator, and why.
	first := inTmux(s, 80, 24)
	first.until("1 needs you", "NEEDS YOU 1", id, "quarantined", "modified docs/d.txt: outside", "RUNNING 1", live, "One of two changes is outside its lease")
	first.await("the title says who needs the operator", func() bool { // it is set beside what is drawn
		return strings.TrimSpace(first.tmux("display-message", "-p", "#{pane_title}")) == "(1) cordon · repo"
	}, func() string { return first.tmux("display-message", "-p", "#{pane_title}") })
	first.keys("Enter")
	first.until("1 why", "CHANGES")
	first.keys("]")
	first.until("+ Call me.")
	first.keys("}", "j", "V", "j", "c")
	first.until("comment "+id, "docs/d.txt:1-2")
	first.keys("W", "h", "y", "?", "C-s")
	first.until("you, not sent: Why?")
	if o := s.cordon([]int{0}, "comments", "ls", id); !strings.Contains(o.out, "Why?") {
		t.Errorf("%s", o.out)
	}
	first.tmux("resize-window", "-x", "160", "-y", "50")
	first.until("│", "+ Call me.", "JOURNAL")
	first.keys("Escape")
	first.until("NEEDS YOU 1")

	// A second desk has the same; killing the first stops nothing.
	second := inTmux(s, 100, 30, "ui")
	second.until(id, live, "YOU CAN")
	pid, err := strconv.Atoi(strings.TrimSpace(first.tmux("display-message", "-p", "#{pane_pid}")))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := s.statusOf(live); got != "running" {
		t.Errorf("%s is %s after its desk was killed", live, got)
	}

	// x gives the terminal to a shell in the cell, and takes it back.
	second.keys("j")
	second.until("▌ ● " + live)
	second.keys("x")
	second.await("the desk gives the terminal away", func() bool { return !strings.Contains(second.screen(), "RUNNING 1") })
	second.until("beside the worker")
	second.keys("echo visit $((6*7))", "Enter")
	second.until("visit 42")
	second.keys("exit", "Enter")
	second.until("the visit to "+live+" has ended", "NEEDS YOU 1")
	second.keys("k")
	second.until("▌ ⊘ "+id, "YOU CAN")

	// A release: no key decides but ctrl-s, and the other desk shows it by itself.
	second.keys("r")
	second.until("release "+id, "0 of 1 paths chosen")
	second.keys("Space")
	second.until("cordon quarantine release " + id + " --write=docs/d.txt")
	second.keys("f", "i", "n", "e")
	if got := s.statusOf(id); got != "quarantined" {
		t.Fatalf("%s is %s before it was decided", id, got)
	}
	third := inTmux(s, 80, 24, "ui")
	third.until("NEEDS YOU 1", "YOU CAN")
	third.keys("D")
	third.until("discard " + id)
	second.keys("C-s")
	second.until("0 need you", "LANDED TODAY 1")
	if text := s.git("show", "HEAD:docs/d.txt"); !strings.Contains(text, "Call me.") {
		t.Errorf("main has %q", text)
	}
	if log := s.cordon([]int{0}, "journal", "--json").out; !strings.Contains(log, " via tui") {
		t.Error("the journal does not say through what it was decided")
	}

	// The third desk saw it as it was before: its decision is refused, and it says what happened.
	third.keys("C-s")
	third.until("is not as you saw it")
	if got := s.statusOf(id); got != "merged" {
		t.Errorf("%s is %s", id, got)
	}
	third.keys("Escape", "q")
	second.keys("q")
	s.cordon([]int{0}, "stop", live)
}

// statusOf is the word for a worker.
func (s *site) statusOf(id string) string {
	s.t.Helper()
	var shown struct{ Status string }
	if err := json.Unmarshal([]byte(s.cordon([]int{0}, "show", "--json", id).out), &shown); err != nil {
		s.t.Fatal(err)
	}
	return shown.Status
}

// TestDemoDesk: a newcomer sees why each worker of the demo needs them, and releases one with five keys.
func TestDemoDesk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	m := inTmux(s, 80, 24, "demo", "--ui", "--dir", s.place("toy"))
	m.until("NEEDS YOU 4", "modified docs/guide.md: outside", "deleted docs/guide.md: outside",
		"the command ended with 2", "added loot.txt: outside", "YOU CAN", "r release")
	keys := []string{"r", "Space", "o", "k", "C-s"}
	if len(keys) > 6 {
		t.Fatal("too many keys")
	}
	for i, k := range keys {
		m.keys(k)
		if i == 0 {
			m.until("ctrl-s release")
		}
	}
	m.until("NEEDS YOU 3", "merged", "LANDED TODAY 2")
	m.keys("q")
}

// Where nobody looks, cordon without a command prints the plain list, and cordon ui says what it needs.
func TestDeskNeedsATerminal(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{6}, "run", "--", "sh", "-c", "exit 3")
	if o := s.cordon([]int{0}); !strings.Contains(o.out, "NEEDS YOU") || strings.Contains(o.out, "\x1b[?1049h") {
		t.Errorf("%q", o.out)
	}
	if o := s.cordon([]int{2}, "ui"); !strings.Contains(o.err, "needs a terminal") {
		t.Errorf("%q", o.err)
	}
	if o := s.cordon([]int{0}, "ui", "--plain"); !strings.Contains(o.out, "1 needs you") ||
		!strings.Contains(o.out, "failed, the command ended with 3") || strings.Contains(o.out, "\x1b") {
		t.Errorf("%q", o.out)
	}
	for _, c := range []struct{ term, variable string }{{"xterm", "CI=true"}, {"xterm", "CORDON_NO_UI=1"}, {"dumb", "LANG=C"}} {
		cmd := s.command()
		cmd.Env = append(slices.Clone(cmd.Env), c.variable)
		on := consoleOf(s, c.term, cmd, nil)
		on.expect(`NEEDS YOU`)
		on.end(0)
	}
}
