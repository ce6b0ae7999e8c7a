package main

import (
	"fmt"
	"io"

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
