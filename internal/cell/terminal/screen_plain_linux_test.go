package terminal

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"cordon/internal/testwait"
)

// wild is what leaves a terminal in another state, and asks it who it is.
const wild = "\x1b[?1003h\x1b[?1049h\x1b[8m\x1b[c"

// emulator is a terminal that answers, and remembers what it was shown.
type emulator struct {
	outer, inner *os.File
	mu           sync.Mutex
	shown        bytes.Buffer
	answered     bool // all that it will
}

// newEmulator is a terminal that types an answer as soon as it is told to leave the
// other screen: its answers come late.
func newEmulator(t *testing.T) *emulator {
	t.Helper()
	outer, inner, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal here: %v", err)
	}
	if err := pty.Setsize(outer, &pty.Winsize{Rows: 30, Cols: 90}); err != nil {
		t.Fatal(err)
	}
	e := &emulator{outer: outer, inner: inner}
	var reading sync.WaitGroup
	t.Cleanup(func() { inner.Close(); reading.Wait(); outer.Close() })
	reading.Go(func() {
		buf := make([]byte, 4096)
		asked := false
		for {
			n, err := outer.Read(buf)
			if err != nil {
				return
			}
			e.mu.Lock()
			e.shown.Write(buf[:n])
			late := !asked && bytes.Contains(e.shown.Bytes(), []byte("\x1b[?1049l"))
			e.mu.Unlock()
			if late {
				asked = true
				time.AfterFunc(10*time.Millisecond, func() {
					_, err := outer.WriteString("\x1b[?62;22c")
					e.mu.Lock()
					defer e.mu.Unlock()
					e.answered = err == nil
				})
			}
		}
	})
	return e
}

func (e *emulator) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.shown.String()
}

// shows waits until something was shown.
func (e *emulator) shows(t *testing.T, text string) {
	t.Helper()
	testwait.Until(t, fmt.Sprintf("it shows %q", text), func() bool { return strings.Contains(e.text(), text) }, e.text)
}

// plain demands that a terminal is as it was before anything wild, with nothing typed.
func (e *emulator) plain(t *testing.T, before unix.Termios) {
	t.Helper()
	first, last, ok := strings.Cut(e.text(), wild)
	if !ok {
		t.Fatalf("nothing wild was shown: %q", e.text())
	}
	if strings.Count(first, keepTitle) != 1 {
		t.Errorf("the title is not noted in %q", first)
	}
	for _, reset := range []string{
		"\x1b[?1049l", "\x1b[?1000l", "\x1b[?1002l", "\x1b[?1003l", "\x1b[?1005l", "\x1b[?1006l", "\x1b[?1015l", "\x1b[?1004l",
		"\x1b[?2004l", "\x1b[?25h", "\x1b>", "\x1b[<99u", "\x1b[>4;0m", "\x1b(B", "\x0f", "\x1b[23;0t", "\x1b[0m",
	} {
		if !strings.Contains(last, reset) {
			t.Errorf("without %q it ends with %q", reset, last)
		}
	}
	if !strings.HasSuffix(strings.TrimSuffix(last, "\r\n"), "\x1b[0m") {
		t.Errorf("it ends with %q", last)
	}
	after, err := unix.IoctlGetTermios(int(e.inner.Fd()), unix.TCGETS)
	if err != nil || *after != before {
		t.Errorf("its modes are others: %v", err)
	}
	if _, err := term.MakeRaw(int(e.inner.Fd())); err != nil { // what waits for the end of a line counts too
		t.Fatal(err)
	}
	testwait.Until(t, "the terminal has answered", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.answered
	})
	if _, err := e.outer.WriteString("."); err != nil { // it is read after all that was typed before it
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	if n, err := e.inner.Read(buf); err != nil || string(buf[:n]) != "." {
		t.Errorf("%q was typed for whoever reads next, %v", strings.TrimSuffix(string(buf[:n]), "."), err)
	}
}

func modesOf(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// The terminal that a worker was started from is given back plain.
func TestRelayLeavesAPlainTerminal(t *testing.T) {
	e := newEmulator(t)
	before := modesOf(t, e.inner)
	master, worker, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	r := StartRelay(master, e.inner, true, nil, nil)
	if _, err := worker.WriteString(wild); err != nil {
		t.Fatal(err)
	}
	e.shows(t, wild)
	worker.Close()
	r.End()
	e.plain(t, before)
}

// One that only wrote letters needs nothing.
func TestRelayOfPlainLetters(t *testing.T) {
	e := newEmulator(t)
	master, worker, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	r := StartRelay(master, e.inner, true, nil, nil)
	if _, err := worker.WriteString("done\n"); err != nil {
		t.Fatal(err)
	}
	e.shows(t, "done\r\n")
	worker.Close()
	r.End()
	if _, err := e.inner.WriteString("later"); err != nil { // it is shown after all that was written before it
		t.Fatal(err)
	}
	e.shows(t, "later")
	if got := e.text(); got != "done\r\nlater" {
		t.Errorf("%q", got)
	}
}

// So is one that joined, when the worker ends.
func TestJoinLeavesAPlainTerminal(t *testing.T) {
	s, k, dir := opened(t)
	e := newEmulator(t)
	before := modesOf(t, e.inner)
	parted := make(chan Parting, 1)
	go func() {
		how, _ := Join(t.Context(), dir, e.inner, func() {})
		parted <- how
	}()
	await(t, k.got, "30x90")
	_, _ = s.Write([]byte(wild))
	e.shows(t, wild)
	s.leave()
	s.Close()
	await(t, parted, Finished)
	e.plain(t, before)
}

// And one that a worker without a cell had itself.
func TestFreeCommandLeavesAPlainTerminal(t *testing.T) {
	e := newEmulator(t)
	before := modesOf(t, e.inner)
	back := Lend(e.inner)
	raw := before
	raw.Lflag &^= syscall.ECHO | syscall.ICANON
	if err := unix.IoctlSetTermios(int(e.inner.Fd()), unix.TCSETS, &raw); err != nil {
		t.Fatal(err)
	}
	if _, err := e.inner.WriteString(wild); err != nil {
		t.Fatal(err)
	}
	e.shows(t, wild)
	back()
	e.plain(t, before)
}
