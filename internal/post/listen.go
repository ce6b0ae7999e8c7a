package post

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Listener is the supervisor's end.
type Listener struct {
	inner *net.UnixListener
	name  string // of the socket
	made  os.FileInfo

	ctx    context.Context // of the handlers
	cancel context.CancelFunc
	slots  chan struct{}
	work   sync.WaitGroup
	close  func() error
}

// Listen makes the socket of a directory, for its owner alone. One that nobody
// listens on any more is replaced; anything else in its place is refused.
func Listen(dir string) (*Listener, error) {
	l := &Listener{name: filepath.Join(dir, Socket), slots: make(chan struct{}, atOnce)}
	if err := removeStale(l.name); err != nil {
		return nil, err
	}
	short, release, err := reach(dir)
	if err != nil {
		return nil, err
	}
	defer release()
	private := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), 0o600) }) // before it has a name
		return errors.Join(err, failed)
	}}
	inner, err := private.Listen(context.Background(), "unix", short)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.name, err)
	}
	l.inner = inner.(*net.UnixListener)
	l.inner.SetUnlinkOnClose(false) // the short name is nobody's by then
	l.made, err = os.Lstat(l.name)
	if err == nil {
		err = os.Chmod(l.name, 0o600) // where the kernel does not keep the mode
	}
	if err != nil {
		l.inner.Close()
		return nil, err
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	l.close = sync.OnceValue(l.end)
	return l, nil
}

// removeStale removes a socket that was left behind.
func removeStale(name string) error {
	fi, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if fi.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s already exists and is not a socket", name)
	}
	return os.Remove(name)
}

// Close ends the socket, cancels what its handlers wait for, and returns when the
// last of them has.
func (l *Listener) Close() error { return l.close() }

func (l *Listener) end() error {
	l.cancel()
	err := l.inner.Close()
	if now, lerr := os.Lstat(l.name); lerr == nil && os.SameFile(now, l.made) {
		err = errors.Join(err, os.Remove(l.name))
	}
	l.work.Wait()
	return err
}
