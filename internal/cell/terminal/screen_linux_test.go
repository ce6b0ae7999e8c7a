package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"cordon/internal/testwait"
)

func TestTailBeginsWithALine(t *testing.T) {
	if got := tail([]byte("short")); string(got) != "short" {
		t.Errorf("%q", got)
	}
	lines := bytes.Repeat([]byte("\x1b[31mten\x1b[0m\n"), screenKept/8)
	got := tail(lines)
	if len(got) > screenKept || len(got) < screenKept/2 || !bytes.HasPrefix(got, []byte("\x1b[31mten")) || !bytes.HasSuffix(lines, got) {
		t.Errorf("%d bytes that begin with %q", len(got), got[:20])
	}
	if got := tail(bytes.Repeat([]byte("x"), 3*screenKept)); len(got) != screenKept {
		t.Errorf("a long line: %d bytes", len(got))
	}
}

func TestUntilDetach(t *testing.T) {
	for in, want := range map[string]struct {
		keys   string
		leaves bool
	}{
		"ls\r":            {"ls\r", false},
		"\x03":            {"\x03", false},
		"\x1c":            {"", true},
		"ab\x1ccd":        {"ab", true},
		"x\x1b[92;5u":     {"x", true},
		"x\x1b[27;5;92~y": {"x", true},
		"\x1b[92u":        {"\x1b[92u", false},
		"a\x1b[92;5u\x1c": {"a", true},
	} {
		if keys, leaves := untilDetach([]byte(in)); string(keys) != want.keys || leaves != want.leaves {
			t.Errorf("%q: %q %v", in, keys, leaves)
		}
	}
}

// What a program asked of the terminal before another joined is not asked again; what
// it only told stays.
func TestAnswered(t *testing.T) {
	for _, ask := range []string{
		"\x1b[c", "\x1b[0c", "\x1b[>c", "\x1b[>0q", "\x1b[?u", "\x1b[6n", "\x1b[?6n", "\x1b[5n", "\x1b[?2026$p", "\x1b[18t", "\x1b[14;2t",
		"\x1b]11;?\x07", "\x1b]4;1;?\x1b\\", "\x1b]7501;?\x07", "\x1bP+q544e\x1b\\", "\x1bP$qm\x1b\\", "\x05",
	} {
		if got := string(answered([]byte("a" + ask + "b"))); got != "ab" {
			t.Errorf("%q: %q", ask, got)
		}
	}
	for _, tells := range []string{"plain c n q", "\x1b[0m", "\x1b[2J", "\x1b[1;5H", "\x1b[0 q", "\x1b[>4;0m", "\x1b[>1u", "\x1b[?2004h",
		"\x1b]0;title?\x07", "\x1b]8;;http://x/?a\x07", "\x1b[22;0t"} {
		if got := string(answered([]byte(tells))); got != tells {
			t.Errorf("%q: %q", tells, got)
		}
	}
}

// typed is a keyboard that remembers.
type typed struct{ got chan string }

func (k typed) enter(keys []byte) bool   { k.got <- string(keys); return true }
func (k typed) resize(rows, cols uint16) { k.got <- fmt.Sprintf("%dx%d", rows, cols) }

// opened is a screen at a directory, and what is typed into it.
func opened(t *testing.T) (*Screen, typed, string) {
	t.Helper()
	s, err := NewScreen(nil)
	if err != nil {
		t.Fatal(err)
	}
	k := typed{make(chan string, 100)}
	s.join(k)
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 30)) // than the address of a socket
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.Open(dir); err != nil {
		t.Fatal(err)
	}
	return s, k, dir
}

// joins joins a terminal of its own to a screen, and says how that ended.
func joins(t *testing.T, ctx context.Context, dir string) (*os.File, <-chan Parting) {
	t.Helper()
	outer, inner, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal here: %v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done; outer.Close(); inner.Close() })
	if err := pty.Setsize(outer, &pty.Winsize{Rows: 30, Cols: 90}); err != nil {
		t.Fatal(err)
	}
	before, err := unix.IoctlGetTermios(int(inner.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	parted := make(chan Parting, 1)
	go func() {
		defer close(done)
		how, err := Join(ctx, dir, inner, func() {})
		if err != nil {
			how = Parting(err.Error())
		}
		if after, err := unix.IoctlGetTermios(int(inner.Fd()), unix.TCGETS); err != nil || *after != *before {
			how += " and the terminal is not as it was"
		}
		parted <- how
	}()
	return outer, parted
}

func await[T comparable](t *testing.T, from <-chan T, want T) {
	t.Helper()
	select {
	case got := <-from:
		if got != want {
			t.Errorf("%v, want %v", got, want)
		}
	case <-time.After(testwait.Bound):
		t.Fatalf("nothing comes, want %v", want)
	}
}

func TestScreenEnds(t *testing.T) {
	t.Run("with the worker", func(t *testing.T) {
		s, k, dir := opened(t)
		_, _ = s.Write([]byte("before\n"))
		outer, parted := joins(t, t.Context(), dir)
		await(t, k.got, "30x90")
		_, _ = s.Write([]byte("last words\n"))
		s.leave()
		s.Close()
		await(t, parted, Finished)
		buf := make([]byte, len(keepTitle)+len("before\nlast words\n"))
		n, err := io.ReadFull(outer, buf)
		if err != nil || string(buf[:n]) != keepTitle+"before\nlast words\n" {
			t.Errorf("%q %v", buf[:n], err)
		}
		if _, err := Join(t.Context(), dir, outer, func() {}); !errors.Is(err, ErrNoScreen) {
			t.Error(err)
		}
	})
	t.Run("with the context", func(t *testing.T) {
		s, k, dir := opened(t)
		ctx, cancel := context.WithCancel(t.Context())
		_, parted := joins(t, ctx, dir)
		await(t, k.got, "30x90")
		cancel()
		await(t, parted, Detached)
		s.Close()
	})
	t.Run("with the key", func(t *testing.T) {
		s, k, dir := opened(t)
		outer, parted := joins(t, t.Context(), dir)
		await(t, k.got, "30x90")
		testwait.Until(t, "its terminal is raw", func() bool { return modesOf(t, outer).Lflag&unix.ICANON == 0 })
		if _, err := outer.WriteString("ab\x03\x1cc"); err != nil {
			t.Fatal(err)
		}
		await(t, k.got, "ab\x03")
		await(t, parted, Detached)
		s.Close()
		if len(k.got) > 0 {
			t.Errorf("%q was typed after that", <-k.got)
		}
	})
}

// There is room for so many, and one that leaves makes room.
func TestScreenIsFull(t *testing.T) {
	s, k, dir := opened(t)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	_, first := joins(t, ctx, dir)
	await(t, k.got, "30x90")
	for range maxJoined - 1 {
		joins(t, t.Context(), dir)
		await(t, k.got, "30x90")
	}
	_, refused := joins(t, t.Context(), dir)
	await(t, refused, Parting(fmt.Sprintf("%d terminals are joined to it already", maxJoined)))
	cancel()
	await(t, first, Detached)
	testwait.Until(t, "the one that left has made room", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.joined) < maxJoined
	})
	joins(t, t.Context(), dir)
	await(t, k.got, "30x90")
}
