package terminal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unicode"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Join joins a terminal to that of the worker whose screen is open in a directory. It
// returns when the operator types ctrl-\ or the context ends, and when there is nothing
// more to see. begun is called when the terminal is joined and about to be handed over.
func Join(ctx context.Context, dir string, tty *os.File, begun func()) (Parting, error) {
	fd, err := ConnectIn(dir, screenName, ErrNoScreen)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	j := &joining{fd: fd, tty: tty, in: newWake(), seen: glimpse{to: tty}}
	defer j.in.close()
	if err := j.size(); err != nil {
		return "", err
	}
	begun()
	before, err := term.MakeRaw(int(tty.Fd()))
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(tty.Fd()), before) }() // it may be gone
	_, _ = tty.WriteString(keepTitle)                          // it may be gone
	leave := context.AfterFunc(ctx, j.detach)
	defer leave()
	why, err := j.run()
	makePlain(tty, j.seen.asked())
	if why != Finished && err == nil {
		_, _ = tty.WriteString("\r\n") // it was in the middle of something
	}
	return why, err
}

// joining is a terminal that is joined to a worker's, seen from itself.
type joining struct {
	fd   int
	tty  *os.File
	in   *wake // ends the reading of the terminal
	seen glimpse
	left atomic.Bool
}

func (j *joining) run() (Parting, error) {
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH, syscall.SIGCONT)
	var others sync.WaitGroup
	others.Go(func() {
		for range resized {
			_ = j.size() // the end is noticed where it is read
		}
	})
	others.Go(j.read)
	why, err := j.show()
	signal.Stop(resized)
	close(resized)
	j.in.up()
	others.Wait()
	return why, err
}

// detach ends it from this side.
func (j *joining) detach() {
	j.left.Store(true)
	_ = unix.Shutdown(j.fd, unix.SHUT_RDWR)
}

// size tells the size of the terminal.
func (j *joining) size() error {
	size, err := unix.IoctlGetWinsize(int(j.tty.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return err
	}
	text := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, size.Row), size.Col)
	err = send(j.fd, packetSize, text)
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		return nil // it says why in what is read
	}
	return err
}

// show shows what comes, to the end.
func (j *joining) show() (Parting, error) {
	buf := make([]byte, packetRoom)
	for {
		kind, text, err := receive(j.fd, buf)
		switch {
		case j.left.Load():
			return Detached, nil
		case err != nil:
			return Gone, nil // whatever the error: nobody is there
		case kind == packetRefused:
			return "", &NotAdmittedError{Printable(string(text))}
		case kind == packetParting:
			return parting(text), nil
		case kind == packetShown:
			if _, err := j.seen.Write(text); err != nil {
				return Detached, nil // our own terminal is gone
			}
		}
	}
}

func parting(text []byte) Parting {
	for _, known := range []Parting{Finished, Behind} {
		if string(text) == string(known) {
			return known
		}
	}
	return Gone
}

// read sends what is typed until it is the key that detaches.
func (j *joining) read() {
	buf := make([]byte, 4096)
	for !j.in.awaits(int(j.tty.Fd()), unix.POLLIN) {
		n, err := unix.Read(int(j.tty.Fd()), buf)
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if n <= 0 || err != nil {
			j.detach()
			return
		}
		keys, leaves := untilDetach(buf[:n])
		if len(keys) > 0 && send(j.fd, packetKeys, keys) != nil {
			return // it says why in what is read
		}
		if leaves {
			j.detach()
			return
		}
	}
}

// untilDetach is what was typed before the key that detaches, if that is there.
func untilDetach(keys []byte) ([]byte, bool) {
	first := -1
	for _, k := range detachKeys {
		if i := bytes.Index(keys, []byte(k)); i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	if first < 0 {
		return keys, false
	}
	return keys[:first], true
}

// Printable takes out of the cell's words what would act on a terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
