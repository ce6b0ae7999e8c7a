package terminal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"
)

// Frame is a screenful for a terminal: what is printed into it is shown at once.
type Frame struct {
	bytes.Buffer
	on *os.File
}

// Full takes the whole screen of a terminal, and returns what gives it back as it was.
func Full(on *os.File) (restore func()) {
	fmt.Fprint(on, "\x1b[?1049h\x1b[?25l")
	return func() { fmt.Fprint(on, "\x1b[?25h\x1b[?1049l") }
}

// NewFrame is an empty one for a terminal.
func NewFrame(on *os.File) *Frame { return &Frame{on: on} }

// Draws reports whether a writer is a terminal that can show frames.
func Draws(w any) (on *os.File, ok bool) {
	on, ok = w.(*os.File)
	return on, ok && Is(on) && os.Getenv("TERM") != "dumb"
}

// Resized tells when the terminal of this process got another size, and when the process goes on
// after a stop. It ends with ctx.
func Resized(ctx context.Context) <-chan os.Signal {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGWINCH, syscall.SIGCONT)
	context.AfterFunc(ctx, func() { signal.Stop(told) })
	return told
}

// Extent is how many columns and rows the terminal has; what is not known is 80 and 24.
func (f *Frame) Extent() (columns, rows int) {
	columns, rows, err := term.GetSize(int(f.on.Fd()))
	if err != nil || columns < 1 || rows < 1 {
		return 80, 24
	}
	return columns, rows
}

// Show replaces what the terminal shows. What does not fit is counted in the last line.
func (f *Frame) Show() error {
	lines := strings.Split(strings.TrimRight(f.String(), "\n"), "\n")
	if _, height, err := term.GetSize(int(f.on.Fd())); err == nil && height > 1 && len(lines) > height {
		more := len(lines) - height + 1
		lines = append(lines[:height-1], fmt.Sprintf("… %s", Plural(more, "more line")))
	}
	_, err := fmt.Fprint(f.on, "\x1b[H\x1b[2J"+strings.Join(lines, "\r\n"))
	return err
}
