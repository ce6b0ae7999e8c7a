package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// Lend gives the terminal to a program that draws on it. From hold on, nothing is
// written there until back, which writes what was held, in order. A voice that does not
// speak on a terminal goes on speaking.
func (v *Voice) Lend() (hold, back func()) {
	if !v.live {
		return func() {}, func() {}
	}
	return v.hold, v.takeBack
}

func (v *Voice) hold() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	v.lent = true
}

func (v *Voice) takeBack() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.lent {
		return
	}
	v.lent = false
	fmt.Fprint(v.w, FreshLine(v.w))
	for _, say := range v.held {
		say()
	}
	v.held = nil
}

// orLater writes now, or when the terminal is had back. The lock is held.
func (v *Voice) orLater(write func()) {
	if v.lent {
		v.held = append(v.held, write)
		return
	}
	write()
}

// Behind is a writer to the same terminal that writes when it is not lent.
func (v *Voice) Behind(w io.Writer) io.Writer { return &behind{v: v, to: w} }

type behind struct {
	v  *Voice
	to io.Writer
}

func (b *behind) Write(p []byte) (int, error) {
	b.v.mu.Lock()
	defer b.v.mu.Unlock()
	text := string(p)
	b.v.orLater(func() { _, _ = io.WriteString(b.to, text) }) // a terminal that is gone is told nothing
	return len(p), nil
}

// FreshLine takes the cursor of a terminal to the beginning of an empty line: this one,
// if it is at its beginning. As many spaces as there are columns end in the next line
// otherwise. What a program left to the right of the cursor and below it goes.
func FreshLine(w io.Writer) string {
	columns := Width(w)
	if name := os.Getenv("TERM"); columns > 1<<12 || name == "" || name == "dumb" {
		return ""
	}
	return "\x1b[J" + strings.Repeat(" ", columns) + "\r\x1b[J"
}

// LineEnd is what ends a line on w: a terminal that a program has in its raw mode does
// not go back to the first column by itself.
func LineEnd(w io.Writer) string {
	if frame, ok := w.(*Frame); ok {
		w = frame.of.on
	}
	if raw(w) {
		return "\r\n"
	}
	return "\n"
}
