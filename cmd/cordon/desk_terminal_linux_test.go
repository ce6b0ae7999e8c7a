package main

import (
	"io"
	"strings"
	"time"

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
	d := &terminalDesk{console: sizedConsole(s, "xterm-256color", size, s.command("ui"), nil), emulator: vt.NewSafeEmulator(width, height)}
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
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		got, missing := d.screen(), ""
		for _, text := range texts {
			if !strings.Contains(got, text) {
				missing = text
			}
		}
		if missing == "" {
			return got
		}
		if time.Now().After(end) {
			d.t.Fatalf("%q is not on the screen:\n%s", missing, got)
		}
	}
}

// goTo opens the review of a worker.
func (d *terminalDesk) goTo(id string) { d.send(":" + id + "\r") }

// kill kills the desk with SIGKILL.
func (d *terminalDesk) kill() {
	_ = d.cmd.Process.Kill()
	<-d.done
}
