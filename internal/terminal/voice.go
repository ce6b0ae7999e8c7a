package terminal

import (
	"fmt"
	"io"
	"math"
	"os"
	"sync"

	"golang.org/x/term"

	"cordon/internal/lease"
	"cordon/internal/legible"
)

// How cordon talks: what happens goes to stderr, one line a step, the worker's
// name first, then one word for the step, then what is worth knowing. Data goes
// to stdout. Only states and verdicts have colours, and only on a terminal. No spinner,
// no exclamation mark. A line that cannot be undone says what to type next.

// voice tells a person what happens.
type Voice struct {
	mu    sync.Mutex // what comes out of a cell is said by others than who runs it
	w     io.Writer
	width int
	live  bool // a terminal: one line may be rewritten
	open  bool // such a line is unfinished
	last  int  // quarter of the files last reported
	lent  bool // the terminal is another's: nothing is written on it
	held  []func()
}

func NewVoice(w io.Writer) *Voice { return &Voice{w: w, width: min(Width(w), 500), live: Is(w)} }

// terminal reports whether w is one.
func Is(w any) bool {
	if frame, ok := w.(*Frame); ok {
		w = frame.of.on
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	return term.IsTerminal(int(f.Fd()))
}

// Same reports whether two writers are one terminal, pipe or file. The order of what is
// written to both is then worth keeping.
func Same(a, b any) bool {
	one, ok := a.(*os.File)
	other, ok2 := b.(*os.File)
	if !ok || !ok2 {
		return false
	}
	at, err := one.Stat()
	there, err2 := other.Stat()
	return err == nil && err2 == nil && os.SameFile(at, there)
}

// Step implements session.Voice.
func (v *Voice) Step(id lease.ID, word, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	line := Clip(legible.Text(fmt.Sprintf("%-16s %-10s %s", id, word, text)), v.width)
	v.orLater(func() {
		v.clear()
		fmt.Fprint(v.w, line, LineEnd(v.w))
	})
}

// Files implements session.Voice.
func (v *Voice) Files(id lease.ID, done, total int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.lent:
		return
	case v.live:
		fmt.Fprintf(v.w, "\r%-16s %-10s %d of %d files", id, "worktree", done, total)
		v.open = true
		return
	}
	if quarter := 4 * done / max(total, 1); total >= 5000 && quarter > v.last {
		v.last = quarter
		fmt.Fprintf(v.w, "%-16s %-10s %d of %d files\n", id, "worktree", done, total)
	}
}

func (v *Voice) clear() {
	if v.open {
		fmt.Fprint(v.w, "\r\x1b[K")
		v.open = false
	}
}

// width is how many columns a line on w may take; on anything but a terminal
// lines are as long as they are.
func Width(w io.Writer) int {
	if frame, ok := w.(*Frame); ok {
		w = frame.of.on
	}
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
