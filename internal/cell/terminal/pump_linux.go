package terminal

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Pump copies what a worker writes. It ends with the last that holds the other
// side, or when it is told to: a process that keeps it open keeps nobody.
type Pump struct {
	From    *os.File
	to      io.Writer
	stop    *wake
	running sync.WaitGroup
}

// StartPump copies from a terminal or a pipe until there is no more, or until its End.
func StartPump(from *os.File, to io.Writer) *Pump {
	p := &Pump{From: from, to: to, stop: newWake()}
	_ = unix.SetNonblock(int(from.Fd()), true) // our side alone
	p.running.Go(p.run)
	return p
}

// lastWords is how much is copied once the end was said: more than the kernel keeps
// for a reader, and not for ever when somebody goes on writing.
const lastWords = 4 << 20

func (p *Pump) run() {
	buf := make([]byte, 32<<10)
	ending, left := false, lastWords
	for left > 0 {
		if !ending {
			ending = p.stop.awaits(int(p.From.Fd()), unix.POLLIN)
		}
		n, err := unix.Read(int(p.From.Fd()), buf)
		switch {
		case err == unix.EINTR, err == unix.EAGAIN && !ending:
			continue
		case n <= 0:
			return
		}
		if _, err := p.to.Write(buf[:n]); err != nil {
			return
		}
		if ending {
			left -= n
		}
	}
}

// End waits until everything is copied that was written before.
func (p *Pump) End() {
	p.stop.up()
	p.running.Wait()
	p.stop.close()
}

// wake ends the waiting for a descriptor.
type wake struct {
	read, write int // of a pipe that is closed, or -1
	woken       atomic.Bool
}

// newWake may find no descriptor left: then who waits looks now and then.
func newWake() *wake {
	var fds [2]int
	if unix.Pipe2(fds[:], unix.O_CLOEXEC) != nil {
		return &wake{read: -1, write: -1}
	}
	return &wake{read: fds[0], write: fds[1]}
}

// wakeEvery is how often who cannot be woken looks.
const wakeEvery = 50 * time.Millisecond

// awaits waits until a descriptor is ready, and reports whether it was woken.
func (w *wake) awaits(fd int, events int16) bool {
	timeout := -1
	if w.read < 0 {
		timeout = int(wakeEvery.Milliseconds())
	}
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: events}, {Fd: int32(w.read), Events: unix.POLLIN}} // -1 is passed over
		if _, err := unix.Poll(fds, timeout); err != nil && err != unix.EINTR {
			return true
		}
		switch {
		case w.woken.Load(), fds[1].Revents != 0:
			return true
		case fds[0].Revents != 0:
			return false
		}
	}
}

// up wakes whoever waits, for good.
func (w *wake) up() {
	w.woken.Store(true)
	if w.write >= 0 {
		unix.Close(w.write)
	}
}

func (w *wake) close() {
	if w.read >= 0 {
		unix.Close(w.read)
	}
}
