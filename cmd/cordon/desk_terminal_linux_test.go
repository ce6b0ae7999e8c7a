package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// terminalDesk is cordon ui in a terminal of its own, which an emulator shows.
type terminalDesk struct {
	*console
	emulator *vt.SafeEmulator
	fed      int
}

// inTerminal opens the desk in a terminal of a size.
func inTerminal(s *site, width, height int) *terminalDesk {
	s.t.Helper()
	size := &pty.Winsize{Rows: uint16(height), Cols: uint16(width)}
	d := &terminalDesk{console: startConsole(s, "xterm-256color", size, s.command("ui"), nil, nil), emulator: vt.NewSafeEmulator(width, height)}
	go func() { _, _ = io.Copy(io.Discard, d.emulator) }() // what a terminal answers; a question would wait for ever
	return d
}

// screen is what the operator sees.
func (d *terminalDesk) screen() string {
	text := d.text()
	_, _ = io.WriteString(d.emulator, text[d.fed:])
	d.fed = len(text)
	return ansi.Strip(d.emulator.Render())
}

// until waits until the screen has all of some texts.
func (d *terminalDesk) until(texts ...string) string {
	d.t.Helper()
	got := ""
	d.site.await(fmt.Sprintf("%q are on the screen", texts), func() bool { got = d.screen(); return hasAll(got, texts) },
		func() string { return "--- screen of the desk\n" + d.screen() })
	return got
}

// goTo opens the review of a worker.
func (d *terminalDesk) goTo(id string) { d.send(":" + id + "\r") }

// kill kills the desk with SIGKILL.
func (d *terminalDesk) kill() {
	_ = d.cmd.Process.Kill()
	<-d.done
}

// TestTerminalForms: a release adds no path to the lease that nobody chose, however many there are, and a bare number
// answers with its option.
func TestTerminalForms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cordon([]int{exitQuarantined}, "run", "--write", "src", "--", "sh", "-c",
		"mkdir -p docs/zzz; for i in $(seq 40); do echo x >docs/translated-chapter-of-the-long-manual-$i.md; done; echo x >docs/zzz/install.sh")
	id := s.only().Worker
	d := inTerminal(s, 80, 24)
	d.until(id, "YOU CAN")
	d.send("r")
	d.until("0 of 41 paths chosen", "ctrl-s release")
	d.send("\tfine\x13")
	d.until(id + " was not released")
	if got := s.statusOf(id); got != "quarantined" {
		t.Fatalf("%s is %s", id, got)
	}
	d.send("\x1b[Z" + strings.Repeat(" ", 41)) // back to the paths, and each of them
	d.until("41 of 41 paths chosen")
	d.send("\x13")
	s.becomes("merged")

	asks, _ := s.detached("--write", "src", "--", "sh", "-c", "cordon ask Which --option red --option blue >src/colour")
	d.until(asks, "1 needs you")
	d.goTo(asks)
	d.until("a answer")
	d.send("a1")
	d.until("sends “red”")
	d.send("\x13")
	s.await(asks+" is merged", func() bool { return s.statusOf(asks) == "merged" })
	if got := s.git("show", "HEAD:src/colour"); !strings.Contains(got, "red") {
		t.Errorf("the worker was told %q", got)
	}
}
