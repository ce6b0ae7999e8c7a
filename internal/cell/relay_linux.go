package cell

import (
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// relay joins the operator's terminal to the worker's own. The worker never holds
// a descriptor of the operator's.
type relay struct {
	tty, master *os.File
	before      *term.State
	signals     chan os.Signal
	wake        [2]int // closing it ends the reading of the operator's terminal
	reading     sync.WaitGroup
	writing     sync.WaitGroup
}

func startRelay(master *os.File, c Command) *relay {
	r := &relay{tty: c.Terminal, master: master, signals: make(chan os.Signal, 4)}
	in := terminals(c)[0]
	_ = pty.InheritSize(r.tty, master) // a terminal without a size has none to pass on
	if in {
		r.before, _ = term.MakeRaw(int(r.tty.Fd()))
	}
	signal.Notify(r.signals, syscall.SIGWINCH, syscall.SIGCONT)
	go r.follow(in)
	var out io.Writer = r.tty
	if c.Transcript != nil {
		out = io.MultiWriter(r.tty, c.Transcript)
	}
	r.writing.Go(func() { _, _ = io.Copy(out, master) }) // ends with the last holder of the worker's terminal
	if in && unix.Pipe2(r.wake[:], unix.O_CLOEXEC) == nil {
		r.reading.Go(r.read)
	}
	return r
}

// follow passes the size on, and is raw again when the operator comes back to us.
func (r *relay) follow(in bool) {
	for s := range r.signals {
		if s == syscall.SIGCONT && in {
			_, _ = term.MakeRaw(int(r.tty.Fd()))
		}
		_ = pty.InheritSize(r.tty, r.master)
	}
}

// read copies what is typed until the worker has ended: what is typed after that
// is not for it.
func (r *relay) read() {
	buf := make([]byte, 4096)
	for {
		fds := []unix.PollFd{{Fd: int32(r.tty.Fd()), Events: unix.POLLIN}, {Fd: int32(r.wake[0]), Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != nil && err != unix.EINTR {
			return
		}
		if fds[1].Revents != 0 {
			return
		}
		if fds[0].Revents == 0 {
			continue
		}
		n, err := unix.Read(int(r.tty.Fd()), buf)
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if n <= 0 || err != nil {
			return
		}
		if _, err := r.master.Write(buf[:n]); err != nil {
			return
		}
	}
}

// end restores the operator's terminal.
func (r *relay) end() {
	r.writing.Wait()
	signal.Stop(r.signals)
	close(r.signals)
	if r.wake != [2]int{} {
		unix.Close(r.wake[1])
		r.reading.Wait()
		unix.Close(r.wake[0])
	}
	if r.before != nil {
		_ = term.Restore(int(r.tty.Fd()), r.before)
	}
	r.master.Close()
}
