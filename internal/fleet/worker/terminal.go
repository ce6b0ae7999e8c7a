package worker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"cordon/internal/fleet/protocol"
)

// An interactive stage runs on a terminal of the node's. What it shows goes to the home with everything else that the
// stage prints, and what the operator types at home comes back as the home's answers to questions of this node.

const (
	listenEvery = time.Second           // while nobody types
	typingEvery = 50 * time.Millisecond // while somebody does
	typingLasts = time.Minute           // after the last stroke
	// lastShown is how long is waited for the last that a stage shows.
	lastShown = time.Second
)

// cordonOnTerminal is cordonSaying with a terminal that the operator can join.
func (b *Bench) cordonOnTerminal(ctx context.Context, r *relay, to any, args ...string) error {
	outer, inner, err := openTerminal()
	if err != nil {
		return err
	}
	defer outer.Close()
	listening, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	shown := make(chan struct{})
	go func() {
		_, _ = io.Copy(r, outer) // it fails when nobody has the other side any more
		close(shown)
	}()
	all.Go(func() { r.listen(listening, outer) })
	cmd := b.command(ctx, to, args...)
	cmd.Stdin, cmd.SysProcAttr = inner, onTerminal()
	if os.Getenv("TERM") == "" { // of a service
		cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	}
	err = b.run(cmd, lines{r}, to, args[0])
	inner.Close()
	select {
	case <-shown:
	case <-time.After(lastShown): // somebody keeps it open
	}
	return errors.Join(err, outer.SetDeadline(time.Unix(1, 0))) // ends who reads and types
}

// openTerminal makes a terminal. Whoever reads from its outer side or types there can be told to stop: the library
// opens one for which that is not so.
func openTerminal() (outer, inner *os.File, err error) {
	made, inner, err := pty.Open()
	if err != nil {
		return nil, nil, err
	}
	defer made.Close()
	fd, err := unix.FcntlInt(made.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, errors.Join(err, inner.Close())
	}
	err = unix.SetNonblock(fd, true)
	outer = os.NewFile(uintptr(fd), made.Name())
	if err = errors.Join(err, resize(outer, 24, 80)); err != nil {
		return nil, nil, errors.Join(err, outer.Close(), inner.Close())
	}
	return outer, inner, nil
}

func resize(tty *os.File, rows, cols uint16) error {
	raw, err := tty.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	})
	return errors.Join(err, failed)
}

// listen types what the operator types, until ctx ends. Without an answer there is nothing to type.
func (r *relay) listen(ctx context.Context, on *os.File) {
	var heard uint64
	typed := time.Now()
	for ctx.Err() == nil {
		strokes, err := r.hold.Listen(ctx, heard)
		if err != nil {
			strokes = nil
		}
		for _, s := range strokes {
			if typeOn(on, s) != nil {
				return
			}
		}
		heard += uint64(len(strokes))
		wait := listenEvery
		if len(strokes) > 0 {
			typed = time.Now()
		}
		if time.Since(typed) < typingLasts {
			wait = typingEvery
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

func typeOn(tty *os.File, s protocol.Stroke) error {
	if s.Rows > 0 && s.Columns > 0 {
		return resize(tty, s.Rows, s.Columns)
	}
	_, err := tty.Write(s.Keys)
	return err
}

// lines ends lines as a terminal does: what cordon says is seen on one.
type lines struct{ to io.Writer }

func (l lines) Write(p []byte) (int, error) {
	if _, err := l.to.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
