package arena

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ListenAt serves a socket below the base, or an abstract one.
func ListenAt(kind, at string) func(*Fixture) error {
	return func(f *Fixture) error {
		if at == "@" {
			return f.ListenUnix(kind, "@cordon-escape-"+RandomName())
		}
		path := filepath.Join(f.Base, at)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return f.ListenUnix(kind, path)
	}
}

// SocketKinds are the kinds of unix sockets by their names.
var SocketKinds = map[string]int{"stream": unix.SOCK_STREAM, "dgram": unix.SOCK_DGRAM, "seqpacket": unix.SOCK_SEQPACKET}

// ListenUnix serves a unix socket until the fixture is closed.
func (f *Fixture) ListenUnix(kind, name string) error {
	fd, err := unix.Socket(unix.AF_UNIX, SocketKinds[kind]|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	f.OnClose(func() { unix.Close(fd) })
	if !strings.HasPrefix(name, "@") {
		f.OnClose(func() { _ = os.Remove(name) })
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: name}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f.Args["socket"], f.Args["kind"] = name, kind
	if kind != "dgram" {
		err = unix.Listen(fd, 8)
	}
	f.Serve(fd, kind != "dgram")
	return err
}

// Serve collects what arrives at a socket. It polls, so that closing ends it.
func (f *Fixture) Serve(fd int, accept bool) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	f.OnClose(func() { close(stop); <-stopped })
	go func() {
		defer close(stopped)
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		b := make([]byte, 4096)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if n, err := unix.Poll(fds, 20); err != nil || n == 0 {
				continue
			}
			for i, p := range fds {
				switch {
				case p.Revents == 0:
				case i == 0 && accept:
					if c, _, err := unix.Accept4(fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC); err == nil {
						defer unix.Close(c)
						fds = append(fds, unix.PollFd{Fd: int32(c), Events: unix.POLLIN})
					}
				default:
					if n, err := unix.Read(int(p.Fd), b); err == nil && n > 0 {
						f.Receive(b[:n])
					} else if i > 0 {
						fds[i].Fd = -1
					}
				}
			}
		}
	}()
}

// ListenTCP serves an address of this machine until the fixture is closed.
func ListenTCP(address string) func(*Fixture) error {
	return func(f *Fixture) error {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		f.OnClose(func() { l.Close() })
		f.Args["address"] = l.Addr().String()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.SetDeadline(time.Now().Add(RunLimit)) // nothing read is nothing received
				b := make([]byte, 256)
				n, _ := c.Read(b)
				f.Receive(b[:n])
				c.Close()
			}
		}()
		return nil
	}
}

// Dial sends the mark to an address.
func (a *Arena) Dial(kind, address string) error {
	c, err := net.DialTimeout(kind, address, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte(a.Mark))
	return err
}

// DialTCP sends the mark to the address of the fixture.
func DialTCP(a *Arena) error { return a.Dial("tcp", a.Args["address"]) }
