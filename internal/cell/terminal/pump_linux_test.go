package terminal

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"cordon/internal/testwait"
)

// Without a descriptor to be woken by, an end is noticed all the same: of what is
// typed, and of what is written, while somebody holds the other side of both.
func TestRelayEndsWithoutWake(t *testing.T) {
	tty, held, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal here: %v", err)
	}
	defer tty.Close()
	defer held.Close()
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[1])
	from := os.NewFile(uintptr(pipe[0]), "pipe")
	_ = unix.SetNonblock(pipe[0], true) // as a pump does
	blind := func() *wake { return &wake{read: -1, write: -1} }
	r := &Relay{tty: held, master: from, signals: make(chan os.Signal), in: blind(), Lost: make(chan struct{})}
	r.writing = &Pump{From: from, to: io.Discard, stop: blind()}
	r.writing.running.Go(r.writing.run)
	r.reading.Go(r.read)
	done := make(chan struct{})
	go func() { r.End(); close(done) }()
	select {
	case <-done:
	case <-time.After(testwait.Bound):
		t.Fatal("it waits for ever")
	}
}
