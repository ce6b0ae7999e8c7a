package deskterm

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"cordon/internal/testwait"
)

// emulated is a desk whose bytes go to the emulator of a terminal.
type emulated struct {
	t       *testing.T
	screen  *vt.SafeEmulator
	program *tea.Program
	keys    *io.PipeWriter
	ended   chan error
}

// cooked begins a line at its start, as a terminal does whose input is no terminal.
type cooked struct{ io.Writer }

func (c cooked) Write(p []byte) (int, error) {
	_, err := c.Writer.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n")))
	return len(p), err
}

// emulate runs a desk in a terminal of a size.
func emulate(t *testing.T, f *fake, width, height int, profile colorprofile.Profile) *emulated {
	t.Helper()
	in, keys := io.Pipe()
	e := &emulated{t: t, screen: vt.NewSafeEmulator(width, height), keys: keys, ended: make(chan error, 1)}
	go func() { _, _ = io.Copy(io.Discard, e.screen) }() // what a terminal answers; a question would wait for ever
	m := New(context.Background(), f, f.acts(), func() time.Time { return noon })
	e.program = tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(cooked{e.screen}), tea.WithWindowSize(width, height), tea.WithColorProfile(profile),
		tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithoutSignals())
	go func() { _, err := e.program.Run(); e.ended <- err }()
	t.Cleanup(func() {
		e.program.Quit()
		if err := <-e.ended; err != nil {
			t.Error(err)
		}
		keys.Close()
	})
	return e
}

// shown is what the terminal shows.
func (e *emulated) shown() string {
	var lines []string
	for _, l := range strings.Split(ansi.Strip(e.screen.Render()), "\n") {
		lines = append(lines, strings.TrimRight(strings.TrimRight(l, "\r"), " "))
	}
	return strings.Join(lines, "\n")
}

// until waits until the terminal shows something.
func (e *emulated) until(want func(string) bool) string {
	e.t.Helper()
	var got string
	testwait.Until(e.t, "the terminal shows it", func() bool { got = e.shown(); return want(got) }, e.shown)
	return got
}

// A terminal shows what the desk has drawn, at both sizes, with and without colours, after keys and after a
// change of its size.
func TestEmulator(t *testing.T) {
	for _, profile := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI, colorprofile.ASCII} {
		for _, size := range [][2]int{{80, 24}, {160, 50}} {
			f := payments("")
			e := emulate(t, f, size[0], size[1], profile)
			m := opened(t, payments(""), size[0], size[1])
			same := func(got string) bool { return strings.TrimSpace(got) == trimmed(screen(m)) }
			e.until(same)
			for _, key := range []string{"j", "j", "\r", "2"} { // each when the review it acts on has been read
				if _, err := io.WriteString(e.keys, key); err != nil {
					t.Fatal(err)
				}
				press(m, strings.ReplaceAll(key, "\r", "enter"))
				e.until(same)
			}
			e.screen.Resize(100, 30)
			e.program.Send(tea.WindowSizeMsg{Width: 100, Height: 30})
			m.Update(tea.WindowSizeMsg{Width: 100, Height: 30})
			e.until(same)
		}
	}
}

func trimmed(text string) string {
	var lines []string
	for _, l := range strings.Split(text, "\n") {
		lines = append(lines, strings.TrimRight(l, " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// Whatever a worker writes, the terminal shows what the desk has drawn: no byte of it acted.
func TestEmulatorIsNotFooled(t *testing.T) {
	for _, evil := range hostile {
		if strings.ContainsAny(evil, "\ufe0f\u0301") {
			continue // terminals do not agree how wide it is, and this one draws no marks
		}
		e := emulate(t, payments(evil), 80, 24, colorprofile.TrueColor)
		m := opened(t, payments(evil), 80, 24)
		e.until(func(got string) bool { return strings.TrimSpace(got) == trimmed(screen(m)) })
	}
}
