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
	of *Screen
}

// Frame is an empty one for the screen.
func (s *Screen) Frame() *Frame { return &Frame{of: s} }

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
	columns, rows, err := term.GetSize(int(f.of.on.Fd()))
	if err != nil || columns < 1 || rows < 1 {
		return 80, 24
	}
	return columns, rows
}

// Show replaces what the terminal shows. What does not fit is counted in the last line.
func (f *Frame) Show() error {
	lines := strings.Split(strings.TrimRight(f.String(), "\n"), "\n")
	if _, height, err := term.GetSize(int(f.of.on.Fd())); err == nil && height > 1 && len(lines) > height {
		more := len(lines) - height + 1
		lines = append(lines[:height-1], fmt.Sprintf("… %s", Plural(more, "more line")))
	}
	f.of.mutex.Lock()
	defer f.of.mutex.Unlock()
	_, err := fmt.Fprint(f.of.on, "\x1b[H\x1b[2J"+strings.Join(lines, "\r\n"))
	return err
}
