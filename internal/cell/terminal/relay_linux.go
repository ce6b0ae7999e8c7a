package terminal

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

// Relay joins the operator's terminal to the worker's own. The worker never holds
// a descriptor of the operator's.
type Relay struct {
	tty, master *os.File
	before      *term.State
	signals     chan os.Signal
	in          *wake         // ends the reading of the operator's terminal
	Lost        chan struct{} // closed when that terminal is gone
	following   sync.WaitGroup
	reading     sync.WaitGroup
	writing     *Pump
	seen        *glimpse
	screen      *Screen // that others join
}

// StartRelay joins a terminal to the worker's. typed says that what is typed there is
// for the worker; the transcript and the screen may be nil.
func StartRelay(master, tty *os.File, typed bool, transcript io.Writer, screen *Screen) *Relay {
	r := &Relay{tty: tty, master: master, signals: make(chan os.Signal, 4), in: newWake(), Lost: make(chan struct{}), screen: screen}
	r.inheritSize()
	if typed {
		r.before, _ = term.MakeRaw(int(r.tty.Fd()))
	}
	signal.Notify(r.signals, syscall.SIGWINCH, syscall.SIGCONT)
	r.following.Go(func() { r.follow(typed) })
	r.seen = &glimpse{to: r.tty, tty: r.tty}
	if transcript != nil {
		r.seen.to = io.MultiWriter(r.tty, transcript)
	}
	r.writing = StartPump(master, r.seen)
	if typed {
		r.reading.Go(r.read)
		r.screen.join(r)
	}
	return r
}

// follow passes the size on, and is raw again when the operator comes back to us.
func (r *Relay) follow(in bool) {
	for s := range r.signals {
		if s == syscall.SIGCONT && in {
			_, _ = term.MakeRaw(int(r.tty.Fd()))
		}
		r.inheritSize()
	}
}

// inheritSize gives the worker's terminal the size of the operator's. One without a size
// has none to pass on.
func (r *Relay) inheritSize() {
	if size, err := pty.GetsizeFull(r.tty); err == nil {
		r.screen.sized(size.Rows, size.Cols)
		_ = pty.Setsize(r.master, size)
	}
}

// read copies what is typed until the worker has ended: what is typed after that
// is not for it.
func (r *Relay) read() {
	buf := make([]byte, 4096)
	for !r.in.awaits(int(r.tty.Fd()), unix.POLLIN) {
		n, err := unix.Read(int(r.tty.Fd()), buf)
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if n <= 0 || err != nil {
			close(r.Lost)
			return
		}
		if !r.enter(buf[:n]) {
			return
		}
	}
}

// enter writes to the worker's terminal. Nobody may read there.
func (r *Relay) enter(b []byte) bool {
	for len(b) > 0 {
		n, err := unix.Write(int(r.master.Fd()), b)
		switch {
		case n > 0:
			b = b[n:]
		case err == unix.EINTR:
		case err != unix.EAGAIN, r.in.awaits(int(r.master.Fd()), unix.POLLOUT):
			return false
		}
	}
	return true
}

// End gives the operator's terminal back as it was, and plain.
func (r *Relay) End() {
	r.writing.End()
	signal.Stop(r.signals)
	close(r.signals)
	r.following.Wait()
	r.in.up()
	r.screen.leave()
	r.reading.Wait()
	r.in.close()
	if r.seen != nil && r.seen.acted {
		makePlain(r.tty, r.seen.asked())
	}
	if r.before != nil {
		_ = term.Restore(int(r.tty.Fd()), r.before)
	}
	r.master.Close()
}
