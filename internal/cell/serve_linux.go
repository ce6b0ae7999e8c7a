package cell

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/host"
	"cordon/internal/cell/plan"
	"cordon/internal/cell/walls"
)

// network is the sockets of a cell's network, seen from outside.
type network struct {
	Sockets
	end       func() // of the serving
	unpublish func() // the ports
}

// errNoServer refuses a cell whose network nobody would serve.
var errNoServer = errors.New("the cell needs a network, but nothing serves it")

// hostProxy opens the proxy of a command without namespaces: it has the host's
// loopback, where everybody is, and so has to show a token.
func (n *network) hostProxy(s *plan.Spec) error {
	if s.Net == nil || s.Has(plan.Namespaces) {
		return nil
	}
	fd, err := listenTCP(&unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	if err != nil {
		return fmt.Errorf("a proxy on the loopback: %w", err)
	}
	n.Proxy, n.Token = os.NewFile(uintptr(fd), "proxy"), rand.Text()
	port, err := walls.PortOf(fd)
	if err != nil {
		return err
	}
	s.TellProxy(port, n.Token)
	s.Dial = append(s.Dial, port)
	return nil
}

// take keeps a socket that came out of a cell whose worker has not been started. It
// closes what is not expected.
func (n *network) take(s plan.Spec, kind socket, files []*os.File) {
	if kind == inSocket && s.Inward && len(files) == 1 && kind.is(files[0]) && len(n.Inward) < 2*inwardSockets {
		n.Inward = append(n.Inward, files[0])
		return
	}
	if s.Net == nil || !s.Has(plan.Namespaces) || len(files) != 1 || !kind.is(files[0]) {
		closeFiles(files)
		return
	}
	most := len(s.Net.Wide()) + 2*len(s.Net.Narrow())
	f := files[0]
	switch {
	case kind == tcpSocket && len(n.TCP) < most:
		n.TCP = append(n.TCP, f)
	case kind == querySocket && n.Queries == nil && (s.Net.Anywhere || s.Net.Names):
		n.Queries = f
	case kind == watchSocket && n.Watch == nil && s.Net.Anywhere:
		n.Watch = f
	case kind == proxySocket && n.Proxy == nil && !s.Net.Anywhere && !s.Net.Names:
		n.Proxy = f
	default:
		f.Close()
	}
}

// is reports whether a descriptor is a socket of a kind.
func (kind socket) is(f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	var family, style, listens int
	err = errors.Join(raw.Control(func(fd uintptr) {
		get := func(name int) int {
			v, gone := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, name)
			err = errors.Join(err, gone)
			return v
		}
		family, style, listens = get(unix.SO_DOMAIN), get(unix.SO_TYPE), get(unix.SO_ACCEPTCONN)
	}), err)
	internet := family == unix.AF_INET || family == unix.AF_INET6
	switch {
	case err != nil:
		return false
	case kind == tcpSocket, kind == proxySocket:
		return internet && style == unix.SOCK_STREAM && listens == 1
	case kind == querySocket:
		return internet && style == unix.SOCK_DGRAM
	case kind == inSocket:
		return internet && style == unix.SOCK_STREAM && listens == 0
	}
	return kind == watchSocket && family == unix.AF_PACKET && style == unix.SOCK_DGRAM
}

// serve hands the network of a proven cell to whoever serves it.
func (n *network) serve(p *cellProcess) error {
	n.Pid = p.cmd.Process.Pid
	if p.spec.Inward {
		if len(n.Inward) < inwardSockets {
			return errors.New("the cell did not hand out the sockets to reach its servers")
		}
		end, err := p.command.Publish(n.Sockets)
		if err != nil {
			return fmt.Errorf("publish its ports: %w", err)
		}
		n.unpublish = end
	}
	if p.spec.Net == nil || p.spec.Net.Names && n.Queries == nil {
		return nil
	}
	if n.Queries == nil && n.Proxy == nil || p.spec.Has(plan.Namespaces) && len(n.TCP) < len(p.spec.Net.Wide())+len(p.spec.Net.Narrow()) {
		return errors.New("the cell did not hand out its network")
	}
	n.forget()
	end, err := p.command.Serve(n.Sockets)
	if err != nil {
		return fmt.Errorf("the network: %w", err)
	}
	n.end = end
	return nil
}

// forget drops what was seen of the proof: it was not the worker's.
func (n *network) forget() {
	if n.Watch == nil {
		return
	}
	raw, err := n.Watch.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, seen)
	_ = raw.Control(func(fd uintptr) {
		for range 1000 {
			if _, _, err := unix.Recvfrom(int(fd), buf, unix.MSG_DONTWAIT); err != nil {
				return
			}
		}
	})
}

// close ends the serving and lets the sockets go, and with them the namespace.
func (n *network) close() {
	for _, end := range []func(){n.unpublish, n.end} {
		if end != nil {
			end()
		}
	}
	closeFiles(n.TCP)
	closeFiles(n.Inward)
	for _, f := range []*os.File{n.Queries, n.Proxy} {
		if f != nil {
			f.Close()
		}
	}
	if n.Watch != nil {
		go n.Watch.Close() // the kernel takes its time for this kind of socket
	}
}

// networkBare says what a network is without namespaces.
func networkBare(version int) plan.Missing {
	m := plan.Missing{Layer: plan.Network, Why: "it needs namespaces", Means: plan.NotHeldWithout[plan.Network],
		Fix: host.Fix(&plan.LayerError{Layer: plan.Namespaces})}
	if version < 4 {
		m.Why += fmt.Sprintf(", and Landlock here (version %d) knows nothing of TCP", version)
		m.Means = "TCP is not restricted: only programs that use proxy variables are limited to the allowed names"
		return m
	}
	m.Means += ", but at the proxy's port and the host ports, which are open at every address"
	return m
}
