package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"cordon/internal/lease"
	"cordon/internal/legible"
)

// How cordon talks: what happens goes to stderr, one line a step, the worker's
// name first, then one word for the step, then what is worth knowing. Data goes
// to stdout. Only states and verdicts have colours, and only on a terminal. No spinner,
// no exclamation mark. A line that cannot be undone says what to type next.

// voice tells a person what happens.
type voice struct {
	mu    sync.Mutex // what comes out of a cell is said by others than who runs it
	w     io.Writer
	width int
	live  bool // a terminal: one line may be rewritten
	open  bool // such a line is unfinished
	last  int  // quarter of the files last reported
}

func newVoice(w io.Writer) *voice { return &voice{w: w, width: min(width(w), 500), live: terminal(w)} }

// terminal reports whether w is one.
func terminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	return term.IsTerminal(int(f.Fd()))
}

// Step implements session.Voice.
func (v *voice) Step(id lease.ID, word, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	fmt.Fprintln(v.w, clip(legible.Text(fmt.Sprintf("%-16s %-10s %s", id, word, text)), v.width))
}

// Files implements session.Voice.
func (v *voice) Files(id lease.ID, done, total int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.live {
		fmt.Fprintf(v.w, "\r%-16s %-10s %d of %d files", id, "worktree", done, total)
		v.open = true
		return
	}
	if quarter := 4 * done / max(total, 1); total >= 5000 && quarter > v.last {
		v.last = quarter
		fmt.Fprintf(v.w, "%-16s %-10s %d of %d files\n", id, "worktree", done, total)
	}
}

func (v *voice) clear() {
	if v.open {
		fmt.Fprint(v.w, "\r\x1b[K")
		v.open = false
	}
}

// width is how many columns a line on w may take; on anything but a terminal
// lines are as long as they are.
func width(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return math.MaxInt
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns == 0 {
		return math.MaxInt
	}
	return columns
}

// size is a number of bytes for a person.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// age is a length of time for a person.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// clip shortens a line to n columns.
func clip(s string, n int) string { return legible.Clip(s, n) }

// plural counts things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
