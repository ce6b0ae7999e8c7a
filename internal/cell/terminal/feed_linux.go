package terminal

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Feed gives a command the operator's standard input through a pipe of cordon's own.
// The operator's descriptor never enters the cell: a pipe or a file can be opened
// again for writing through /proc/self/fd/0, and a shell that reads its script from
// there would run what the command writes.
//
// Bytes leave the operator's input only when the command has read them. `bash <<X`
// and `while read` share their input with every command that they start, and what
// the command leaves unread is the rest of their script. The pipe therefore has one
// page: it can be written to when the command has read all of it. What is shown in
// it is looked at without being taken (tee, pread, MSG_PEEK) and taken afterwards.
// Devices cannot be looked at in that way; they lose up to half a page.
//
// The other half stays free: a command that opens its own input for writing can write a
// little into it, as into any pipe, and does not wait for itself.
type Feed struct {
	source source
	file   *os.File // the end of the pipe to write to
	into   int      // its descriptor; asking for it again would change its mode
	shown  int      // bytes in the pipe that are not taken from the source yet
	stop   *wake
	done   sync.WaitGroup
}

// source is an input that can be looked at.
type source interface {
	fd() int
	show(into, most int) (int, error) // writes its next bytes to a pipe without taking them; 0: its end
	take(n int)                       // removes bytes that were shown, and never waits
	close()
}

// StartFeed copies until the reader ends, the command stops reading, or end is called.
func StartFeed(r io.Reader, into *os.File) *Feed {
	f := &Feed{file: into, into: int(into.Fd()), stop: newWake()}
	file, ok := r.(*os.File)
	if ok {
		f.source = sourceOf(file)
	}
	if f.source == nil {
		go func() { // nobody waits: whoever holds the other end may never close it
			if r != nil {
				_, _ = io.Copy(into, r) // it may have stopped reading
			}
			into.Close()
		}()
		return f
	}
	_ = unix.SetNonblock(f.into, true) // our side alone
	_, _ = unix.FcntlInt(uintptr(f.into), unix.F_SETPIPE_SZ, os.Getpagesize())
	f.done.Go(f.run)
	return f
}

// End stops the copying. What the command has not read is the operator's.
func (f *Feed) End() {
	if f == nil {
		return
	}
	f.stop.up()
	f.done.Wait()
	f.stop.close()
}

func (f *Feed) run() {
	defer f.source.close()
	defer f.file.Close()
	defer f.settle()
	for f.awaitDrained() && !f.stop.awaits(f.source.fd(), unix.POLLIN) {
		n, err := f.source.show(f.into, os.Getpagesize()/2)
		switch {
		case err == unix.EINTR, err == unix.EAGAIN:
			time.Sleep(time.Millisecond) // another reader was faster, or the command writes to its own input
		case err == unix.ENOSYS, err == unix.EPERM, err == unix.ESPIPE:
			f.source = &consumed{inputFD(f.source.fd())}
		case n <= 0 || err != nil:
			return
		default:
			f.shown = n
		}
	}
}

// awaitDrained waits until the command has read everything, and takes that from the
// source. A command can enlarge its pipe or write to it: then room is not emptiness.
func (f *Feed) awaitDrained() bool {
	for !f.stop.awaits(f.into, unix.POLLOUT) {
		if f.unread() == 0 {
			f.settle()
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// settle takes what was read from the source.
func (f *Feed) settle() {
	if read := f.shown - f.unread(); read > 0 {
		f.source.take(read)
	}
	f.shown = 0
}

func (f *Feed) unread() int {
	n, err := unix.IoctlGetInt(f.into, unix.TIOCINQ)
	if err != nil {
		return 0
	}
	return n
}

// sourceOf tells the kinds of input apart. The descriptor is a duplicate: Go would
// change the mode of the operator's own when asked for it.
func sourceOf(f *os.File) source {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	dup := -1
	_ = raw.Control(func(fd uintptr) { dup, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3) })
	var st unix.Stat_t
	if dup < 0 || err != nil {
		return nil
	}
	if unix.Fstat(dup, &st) != nil {
		unix.Close(dup)
		return nil
	}
	d := inputFD(dup)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
		p := &pipe{inputFD: d}
		if unix.Pipe2(p.copies[:], unix.O_CLOEXEC|unix.O_NONBLOCK) == nil {
			return p
		}
	case unix.S_IFREG:
		return &regular{d}
	case unix.S_IFSOCK:
		if kind, err := unix.GetsockoptInt(dup, unix.SOL_SOCKET, unix.SO_TYPE); err == nil && kind == unix.SOCK_STREAM {
			return &stream{d}
		}
	}
	return &consumed{d}
}

type inputFD int

func (d inputFD) fd() int { return int(d) }

func (d inputFD) close() { unix.Close(int(d)) }

// pipe is looked at by tee, which copies between pipes and takes nothing. The copy is
// written into the command's pipe, because nothing can be added to a page that tee put there.
type pipe struct {
	inputFD
	copies [2]int // a pipe
}

func (p *pipe) show(into, most int) (int, error) {
	n, err := unix.Tee(p.fd(), p.copies[1], most, unix.SPLICE_F_NONBLOCK)
	if n <= 0 || err != nil {
		return int(n), err
	}
	buf := make([]byte, n)
	got, err := unix.Read(p.copies[0], buf)
	if err != nil {
		return got, err
	}
	return unix.Write(into, buf[:got])
}

// take moves bytes to the copies. Another reader may have taken them: a read would wait.
func (p *pipe) take(n int) {
	for buf := make([]byte, n); n > 0; {
		moved, err := unix.Splice(p.fd(), nil, p.copies[1], nil, n, unix.SPLICE_F_NONBLOCK)
		if err == unix.EINTR {
			continue
		}
		if moved <= 0 || err != nil {
			return
		}
		_, _ = unix.Read(p.copies[0], buf)
		n -= int(moved)
	}
}

func (p *pipe) close() {
	unix.Close(p.copies[0])
	unix.Close(p.copies[1])
	p.inputFD.close()
}

// regular is a file. Its offset is shared with whoever opened it.
type regular struct{ inputFD }

func (r *regular) show(into, most int) (int, error) {
	at, err := unix.Seek(r.fd(), 0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	buf := make([]byte, most)
	n, err := unix.Pread(r.fd(), buf, at)
	if n <= 0 || err != nil {
		return n, err
	}
	return unix.Write(into, buf[:n])
}

func (r *regular) take(n int) { _, _ = unix.Seek(r.fd(), int64(n), io.SeekCurrent) }

// stream is a connected socket, which node gives to its children.
type stream struct{ inputFD }

func (s *stream) show(into, most int) (int, error) {
	buf := make([]byte, most)
	n, _, err := unix.Recvfrom(s.fd(), buf, unix.MSG_PEEK|unix.MSG_DONTWAIT)
	if n <= 0 || err != nil {
		return n, err
	}
	return unix.Write(into, buf[:n])
}

func (s *stream) take(n int) {
	for buf := make([]byte, n); n > 0; {
		got, _, err := unix.Recvfrom(s.fd(), buf[:n], unix.MSG_DONTWAIT)
		if err == unix.EINTR {
			continue
		}
		if got <= 0 || err != nil {
			return // another reader was faster
		}
		n -= got
	}
}

// consumed is anything else: what is shown is taken.
type consumed struct{ inputFD }

func (d *consumed) show(into, most int) (int, error) {
	buf := make([]byte, most)
	n, err := unix.Read(d.fd(), buf)
	if n > 0 {
		_, err = unix.Write(into, buf[:n]) // the pipe was empty
	}
	return n, err
}

func (d *consumed) take(int) {}
