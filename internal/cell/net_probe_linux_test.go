package cell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
)

// probeNet does what a worker may try with its network, one act after the other,
// and says what came of each. What is refused is refused at once.
func probeNet(acts string) error {
	for act := range strings.SplitSeq(acts, " ") {
		kind, arg, _ := strings.Cut(act, "=")
		began := time.Now()
		said, err := netActs[kind](arg)
		if err != nil {
			said = why(err)
		}
		if time.Since(began) > patience {
			said += " LATE"
		}
		fmt.Println(act, said)
	}
	return nil
}

func why(err error) string {
	var no syscall.Errno
	if errors.As(err, &no) {
		return unix.ErrnoName(no)
	}
	return err.Error()
}

var netActs = map[string]func(string) (string, error){
	"tcp":    probeTCP,
	"udp":    probeUDP,
	"cut":    probeCut,
	"listen": func(at string) (string, error) { return probeListen(at, unix.SO_REUSEADDR) },
	"share":  func(at string) (string, error) { return probeListen(at, unix.SO_REUSEPORT) },
	"packet": func(string) (string, error) { return probeSocket(unix.AF_PACKET, unix.SOCK_DGRAM, 0) },
	"raw":    func(string) (string, error) { return probeSocket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_UDP) },
	"ping":   func(string) (string, error) { return probeSocket(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP) },
	"address": func(string) (string, error) {
		return probeNetlink(func(n *netlink) error { return n.address(unix.AF_INET, []byte{10, 1, 2, 3}) })
	},
	"route": func(string) (string, error) {
		return probeNetlink(func(n *netlink) error {
			body := []byte{unix.AF_INET, 0, 0, 0, unix.RT_TABLE_MAIN, unix.RTPROT_BOOT, unix.RT_SCOPE_LINK, unix.RTN_UNICAST, 0, 0, 0, 0}
			return n.ask(unix.RTM_NEWROUTE, attribute(body, unix.RTA_OIF, []byte{loIndex, 0, 0, 0}))
		})
	},
	"four": func(string) (string, error) { return probeFour() },
	"proxy": func(string) (string, error) {
		_, at, _ := strings.Cut(os.Getenv("https_proxy"), "@")
		return probeTCP(at)
	},
	"read": func(path string) (string, error) { b, err := os.ReadFile(path); return string(b), err },
	"files": func(of string) (string, error) {
		entries, err := os.ReadDir("/proc/" + of + "/fd")
		var list []string
		for _, e := range entries {
			to, _ := os.Readlink("/proc/" + of + "/fd/" + e.Name())
			if strings.HasPrefix(to, "socket:") {
				list = append(list, to)
			}
		}
		return fmt.Sprint(len(list)), err
	},
}

func probeTCP(to string) (string, error) {
	c, err := net.DialTimeout("tcp", to, patience)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	b, err := io.ReadAll(c)
	return string(b), err
}

// probeFour opens sockets as a cell does whose kernel has no IPv6, and uses them.
func probeFour() (string, error) {
	s := &served{}
	tcp, err := listenTCP(everywhere(false, 9001))
	if err != nil {
		return "", err
	}
	udp, err := hearQueries(everywhere(false, 9001))
	if err != nil {
		return "", err
	}
	if _, err := s.serve(Sockets{TCP: []*os.File{os.NewFile(uintptr(tcp), "tcp")}, Queries: os.NewFile(uintptr(udp), "udp")}); err != nil {
		return "", err
	}
	one, err := probeTCP("10.9.8.7:9001")
	if err != nil {
		return "", err
	}
	other, err := probeUDP("10.9.8.7:9001")
	return one + ", " + other, err
}

func probeUDP(to string) (string, error) {
	c, err := net.Dial("udp", to)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	if _, err := c.Write([]byte("query")); err != nil {
		return "", err
	}
	b := make([]byte, 512)
	n, err := c.Read(b)
	return string(b[:n]), err
}

// probeCut connects to a server of its own, which answers with a reset.
func probeCut(at string) (string, error) {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return "", err
	}
	defer l.Close()
	c, err := net.Dial("tcp", at)
	if err != nil {
		return "", err
	}
	defer c.Close()
	other, err := l.Accept()
	if err == nil {
		err = errors.Join(other.(*net.TCPConn).SetLinger(0), other.Close())
	}
	if err != nil {
		return "", err
	}
	_, err = c.Read(make([]byte, 1))
	return "", err
}

func probeListen(at string, option int) (string, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, 1) }), err)
	}}
	l, err := config.Listen(context.Background(), "tcp", at)
	if err != nil {
		return "", err
	}
	return "taken", l.Close()
}

func probeSocket(family, kind, protocol int) (string, error) {
	fd, err := unix.Socket(family, kind, protocol)
	if err != nil {
		return "", err
	}
	return "opened", unix.Close(fd)
}

func probeNetlink(ask func(*netlink) error) (string, error) {
	n, err := openNetlink()
	if err != nil {
		return "", err
	}
	defer n.close()
	return "changed", ask(n)
}

// served answers for a cell's network and remembers what came.
type served struct {
	t     *testing.T
	given Sockets
	watch [][]byte
	calls int
	ended bool
	lines []net.Listener
	udp   *net.UDPConn
}

// serve says to whoever connects, or asks, where it was reached.
func (s *served) serve(given Sockets) (func(), error) {
	s.given, s.calls = given, s.calls+1
	for _, f := range append(slices.Clone(given.TCP), given.Proxy) {
		if f == nil {
			continue
		}
		l, err := net.FileListener(f)
		if err != nil {
			return nil, err
		}
		s.lines = append(s.lines, l)
		go s.accept(l)
	}
	if given.Queries != nil {
		c, err := net.FilePacketConn(given.Queries)
		if err != nil {
			return nil, err
		}
		s.udp = c.(*net.UDPConn)
		if err := tellWhereAsked(s.udp); err != nil {
			return nil, err
		}
		go s.answer()
	}
	return s.end, nil
}

// tellWhereAsked makes a socket of either family tell where each datagram arrived, and
// lets it answer from there.
func tellWhereAsked(c *net.UDPConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	set := func(fd uintptr) {
		if err = unix.SetsockoptInt(int(fd), unix.SOL_IPV6, unix.IPV6_RECVPKTINFO, 1); err == nil {
			err = unix.SetsockoptInt(int(fd), unix.SOL_IPV6, unix.IPV6_FREEBIND, 1)
			return
		}
		err = unix.SetsockoptInt(int(fd), unix.SOL_IP, unix.IP_PKTINFO, 1)
	}
	if closed := raw.Control(set); closed != nil {
		return closed
	}
	return err
}

func (s *served) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		fmt.Fprint(c, "at "+c.LocalAddr().String())
		c.Close()
	}
}

// answer answers from the address that was asked: the probe's socket is connected
// and takes nothing else.
func (s *served) answer() {
	b, with := make([]byte, 512), make([]byte, 512)
	for {
		n, m, _, from, err := s.udp.ReadMsgUDP(b, with)
		if err != nil {
			return
		}
		_, _, _ = s.udp.WriteMsgUDP([]byte("heard "+string(b[:n])), with[:m], from)
	}
}

func (s *served) end() {
	s.ended = true
	for _, l := range s.lines {
		l.Close()
	}
	if s.udp != nil {
		s.udp.Close()
	}
	if s.given.Watch == nil {
		return
	}
	// The worker has ended, and all that was seen of it lies there. A read with a deadline would leave some of it when this
	// process has to wait for its turn.
	raw, err := s.given.Watch.SyscallConn()
	if err != nil {
		s.t.Error(err)
		return
	}
	err = raw.Control(func(fd uintptr) {
		for {
			b := make([]byte, 512)
			n, _, err := unix.Recvfrom(int(fd), b, unix.MSG_DONTWAIT)
			if err != nil {
				return
			}
			s.watch = append(s.watch, b[:n])
		}
	})
	if err != nil {
		s.t.Error(err)
	}
}

// netRoom is a room whose cell has a network.
func netRoom(t *testing.T, n plan.Net) (*room, *served) {
	r, s := newRoom(t), &served{t: t}
	r.order.Net, r.command.Serve = &n, s.serve
	r.probe()
	return r, s
}

// acts runs the probe in the cell: what came of each.
func (r *room) acts(acts ...string) map[string]string {
	r.t.Helper()
	exit, out, err := r.run("./probe", "net", strings.Join(acts, " "))
	if err != nil || !exit.OK() {
		r.t.Fatalf("%+v, %v\n%s", exit, err, out)
	}
	return results(out)
}

// without runs a program in a cell that has some layers less. It is how a cell is
// launched when they turned out to be missing.
func (r *room) without(layer plan.Layer, argv ...string) (Exit, string, error) {
	r.t.Helper()
	var out bytes.Buffer
	c, o := r.command, r.order
	c.Cell, c.Argv, c.Stdout, c.Stderr = &o, argv, &out, &out
	order, host, err := complete(c)
	if err != nil {
		r.t.Fatal(err)
	}
	spec, err := plan.Plan(order, host, layer)
	if err != nil {
		r.t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	exit, err := launch(context.Background(), c, spec, nil)
	return exit, out.String(), err
}

func results(out string) map[string]string {
	said := map[string]string{}
	for line := range strings.Lines(out) {
		act, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		said[act] = text
	}
	return said
}

// expect runs acts in the cell and wants something to come of each.
func (r *room) expect(want map[string]string) {
	r.t.Helper()
	var acts []string
	for act := range want {
		acts = append(acts, act)
	}
	slices.Sort(acts)
	got := r.acts(acts...)
	for act, text := range want {
		if got[act] != text {
			r.t.Errorf("%s: %q, want %q", act, got[act], text)
		}
	}
}
