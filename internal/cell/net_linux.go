package cell

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
)

// socket says what a socket of a cell's network is for.
type socket string

// The kinds.
const (
	tcpSocket   socket = "tcp"
	querySocket socket = "queries"
	watchSocket socket = "watch"
	proxySocket socket = "proxy"
	inSocket    socket = "inward"
)

const (
	backlog = 1024
	// buffer bounds what the kernel holds for one side of a connection, which would
	// else grow to several times that.
	buffer = 256 << 10
)

// network opens the sockets of the cell's network and hands them out. This process
// keeps none of them, and the worker never has one.
func (w *warden) network() error {
	if w.spec.Inward {
		if err := w.openInward(); err != nil {
			return fmt.Errorf("sockets to reach its servers: %w", err)
		}
	}
	if w.spec.Net == nil {
		return nil
	}
	err := w.openNetwork(*w.spec.Net)
	if err != nil && w.spec.Has(plan.Network) {
		return &plan.LayerError{Layer: plan.Network, Err: err}
	}
	return err
}

func (w *warden) openNetwork(n plan.Net) error {
	if n.Names {
		// A kernel that refuses it leaves programs without an answer, as before.
		_ = w.handOut(querySocket, plan.NamePort, hearQueries, &unix.SockaddrInet4{Port: plan.NamePort, Addr: [4]byte{127, 0, 0, 1}})
		return nil
	}
	six := true
	if n.Anywhere {
		var err error
		if six, err = leadHere(); err != nil {
			return err
		}
	}
	for _, port := range n.Wide() {
		if err := w.handOut(tcpSocket, port, listenTCP, everywhere(six, port)); err != nil {
			return err
		}
	}
	for _, port := range n.Narrow() {
		if err := w.atLoopback(tcpSocket, port); err != nil {
			return err
		}
	}
	if !n.Anywhere {
		return w.handOut(proxySocket, w.spec.Proxy, listenTCP, &unix.SockaddrInet4{Port: int(w.spec.Proxy), Addr: [4]byte{127, 0, 0, 1}})
	}
	if err := w.handOut(querySocket, plan.NamePort, hearQueries, everywhere(six, plan.NamePort)); err != nil {
		return err
	}
	// Nothing depends on what is seen there.
	if fd, err := watchPackets(n.Wide()); err == nil {
		return w.give(watchSocket, fd)
	}
	return nil
}

// inwardSockets is how many connections of a family there can be at once from outside to
// servers in the cell.
const inwardSockets = 48

// openInward hands out sockets that connect in the namespace of the cell, whoever uses
// them: what is published is reached through them. It is done before the worker runs, so
// that nothing is asked of the cell afterwards.
func (w *warden) openInward() error {
	for range inwardSockets {
		for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
			fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
			if errors.Is(err, unix.EAFNOSUPPORT) && family == unix.AF_INET6 {
				continue
			}
			if err == nil {
				err = w.give(inSocket, fd)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// everywhere is the address that stands for all, of both families where there are
// two.
func everywhere(six bool, port uint16) unix.Sockaddr {
	if six {
		return &unix.SockaddrInet6{Port: int(port)}
	}
	return &unix.SockaddrInet4{Port: int(port)}
}

// atLoopback listens at a port of the loopback, for both families where there are
// two.
func (w *warden) atLoopback(s socket, port uint16) error {
	if err := w.handOut(s, port, listenTCP, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return err
	}
	err := w.handOut(s, port, listenTCP, &unix.SockaddrInet6{Port: int(port), Addr: [16]byte{15: 1}})
	if errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL) {
		return nil
	}
	return err
}

// handOut opens a socket at an address and gives it away.
func (w *warden) handOut(s socket, port uint16, open func(unix.Sockaddr) (int, error), at unix.Sockaddr) error {
	fd, err := open(at)
	if err != nil {
		return fmt.Errorf("port %d: %w", port, err)
	}
	return w.give(s, fd)
}

// give sends a socket to cordon and lets go of it.
func (w *warden) give(s socket, fd int) error {
	defer unix.Close(fd)
	return w.control.send(message{Socket: s}, fd)
}

// option is one of a socket's.
type option struct{ level, name, value int }

// listenTCP listens at an address. Nobody else can: the kernel lets two share a
// port only when both say so before.
func listenTCP(at unix.Sockaddr) (int, error) {
	fd, err := openSocket(unix.SOCK_STREAM, at,
		option{unix.SOL_SOCKET, unix.SO_RCVBUF, buffer}, option{unix.SOL_SOCKET, unix.SO_SNDBUF, buffer})
	if err != nil {
		return -1, err
	}
	if err := unix.Listen(fd, backlog); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// hearQueries takes datagrams. An answer has to come from the address that was asked:
// whoever serves the socket asks the kernel for that.
func hearQueries(at unix.Sockaddr) (int, error) { return openSocket(unix.SOCK_DGRAM, at) }

// openSocket opens a socket with options at an address. The one that stands for all
// of IPv6 stands for IPv4 as well, whatever the system's default is.
func openSocket(kind int, at unix.Sockaddr, options ...option) (int, error) {
	family := unix.AF_INET
	if to, six := at.(*unix.SockaddrInet6); six {
		family = unix.AF_INET6
		if to.Addr == [16]byte{} {
			options = append(options, option{unix.SOL_IPV6, unix.IPV6_V6ONLY, 0})
		}
	}
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	for _, o := range options {
		if err == nil {
			err = unix.SetsockoptInt(fd, o.level, o.name, o.value)
		}
	}
	if err == nil {
		err = unix.Bind(fd, at)
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
