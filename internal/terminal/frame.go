package terminal

import (
	"bytes"
	"fmt"
	"os"
	"strings"

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
