package publish

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// pool is the sockets of a cell. A connection takes one, and gives it back at its end: the
// kernel lets a socket that was disconnected connect again.
type pool struct {
	families []family
	done     chan struct{}
	once     sync.Once
}

// family is the sockets of IPv4 or IPv6.
type family struct {
	loopback func(port int) unix.Sockaddr
	free     chan *os.File
}

// How long a connection waits for a socket, and for the server to take it.
const (
	waitFree   = 5 * time.Second
	waitServer = 3 * time.Second
)

var (
	errBusy    = errors.New("every socket of the cell is in use")
	errNothing = errors.New("nothing listens there")
)

func newPool(files []*os.File) (*pool, error) {
	four := family{func(port int) unix.Sockaddr { return &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}} }, make(chan *os.File, len(files))}
	six := family{func(port int) unix.Sockaddr { return &unix.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}} }, make(chan *os.File, len(files))}
	for _, f := range files {
		domain, err := control(f, func(fd int) (int, error) { return unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN) })
		if err != nil {
			return nil, err
		}
		switch domain {
		case unix.AF_INET:
			four.free <- f
		case unix.AF_INET6:
			six.free <- f
		}
	}
	p := &pool{done: make(chan struct{})}
	for _, one := range []family{four, six} {
		if len(one.free) > 0 {
			p.families = append(p.families, one)
		}
	}
	if len(p.families) == 0 {
		return nil, errors.New("the cell has no sockets to reach its servers")
	}
	return p, nil
}

// close lets nobody wait any more. The sockets are their owner's.
func (p *pool) close() { p.once.Do(func() { close(p.done) }) }

// control uses the descriptor of a file.
func control[T any](f *os.File, use func(fd int) (T, error)) (v T, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return v, err
	}
	return v, errors.Join(raw.Control(func(fd uintptr) { v, err = use(int(fd)) }), err)
}

// dial connects to a port of the cell's loopback, of whichever family its server is.
func (p *pool) dial(port int) (net.Conn, error) {
	err := errNothing
	for _, one := range p.families {
		var c net.Conn
		if c, err = p.dialOne(one, port); err == nil {
			return c, nil
		}
	}
	return nil, err
}

func (p *pool) dialOne(one family, port int) (net.Conn, error) {
	var f *os.File
	select {
	case f = <-one.free:
	case <-p.done:
		return nil, errNothing
	case <-time.After(waitFree):
		return nil, errBusy
	}
	back := func() {
		if _, err := control(f, func(fd int) (struct{}, error) { return struct{}{}, disconnect(fd) }); err == nil {
			one.free <- f
		}
	}
	_, err := control(f, func(fd int) (struct{}, error) { return struct{}{}, connect(fd, one.loopback(port)) })
	if err != nil {
		back()
		return nil, errNothing
	}
	c, err := net.FileConn(f)
	if err != nil {
		back()
		return nil, err
	}
	return &lent{TCPConn: c.(*net.TCPConn), back: sync.OnceFunc(back)}, nil
}

// connect waits until a server of the cell has taken a connection.
func connect(fd int, to unix.Sockaddr) error {
	err := unix.Connect(fd, to)
	if !errors.Is(err, unix.EINPROGRESS) && !errors.Is(err, unix.EINTR) {
		return err
	}
	until := time.Now().Add(waitServer)
	for {
		left := time.Until(until)
		if left <= 0 {
			return unix.ETIMEDOUT
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, int(left.Milliseconds())+1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		if n > 0 {
			code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
			if err == nil && code != 0 {
				err = unix.Errno(code)
			}
			return err
		}
	}
}

// lent is a connection through a socket of the pool.
type lent struct {
	*net.TCPConn
	back func()
}

// Close ends the connection, and gives its socket back. Nobody uses it any more.
func (l *lent) Close() error {
	_ = l.TCPConn.CloseWrite() // a server that is done already hears no reset
	err := l.TCPConn.Close()
	l.back()
	return err
}
