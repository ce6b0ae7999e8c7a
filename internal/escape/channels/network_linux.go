package channels

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Network are attempts to reach servers of the host, and to be one. Every
// address is a loopback address.
func Network() []arena.Attempt {
	row := func(name, what string, prepare func(*arena.Fixture) error, attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Act: arena.Act{Prepare: prepare, Attack: attack, Judge: arena.JudgeReceived}}
	}
	list := []arena.Attempt{
		row("tcp4", "connect to a server on 127.0.0.1", arena.ListenTCP("127.0.0.1:0"), arena.DialTCP),
		row("tcp6", "connect to a server on ::1", arena.ListenTCP("[::1]:0"), arena.DialTCP),
		row("tcp-any", "connect to 0.0.0.0", arena.ListenTCP("127.0.0.1:0"), dialAs("0.0.0.0")),
		row("tcp-mapped", "connect to an IPv4 address in IPv6", arena.ListenTCP("127.0.0.1:0"), dialAs("::ffff:127.0.0.1")),
		row("tcp-other", "connect to another loopback address", arena.ListenTCP("127.7.7.7:0"), arena.DialTCP),
		row("tcp-fastopen", "send with the opening of a connection", arena.ListenTCP("127.0.0.1:0"), fastOpen),
		row("mptcp", "connect with multipath TCP", arena.ListenTCP("127.0.0.1:0"), dialProtocol(unix.IPPROTO_MPTCP)),
		row("udp4", "send a datagram to 127.0.0.1", listenUDP("127.0.0.1:0"), dialUDP),
		row("udp6", "send a datagram to ::1", listenUDP("[::1]:0"), dialUDP),
		row("udp-sendto", "send a datagram without connecting", listenUDP("127.0.0.1:0"), sendUDP),
		{Name: "raw", What: "send a packet of one's own making", Safe: true, Root: true, Act: arena.Act{Prepare: listenUDP("127.0.0.1:0"), Attack: rawUDP, Judge: arena.JudgeReceived}},
		{Name: "sniff", What: "read what others send over loopback", Safe: true, Root: true, Act: arena.Act{
			Prepare: listenUDP("127.0.0.1:0"), Attack: sniff, Judge: arena.JudgeLoot,
			During: func(f *arena.Fixture, done <-chan struct{}) {
				for {
					if c, err := net.Dial("udp", f.Args["address"]); err == nil {
						fmt.Fprint(c, f.Secret)
						c.Close()
					}
					select {
					case <-done:
						return
					case <-time.After(20 * time.Millisecond):
					}
				}
			},
		}},
		{Name: "netlink-address", What: "give the host's loopback another address", Root: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				f.Args["address"] = fmt.Sprintf("127.77.%d.%d", arena.RandomName()[0], arena.RandomName()[1])
				f.OnClose(func() { _ = changeAddress(f.Args["address"], unix.RTM_DELADDR) })
				return nil
			},
			Attack: func(a *arena.Arena) error { return changeAddress(a.Args["address"], unix.RTM_NEWADDR) },
			Judge: func(f *arena.Fixture) (string, error) {
				addrs, err := net.InterfaceAddrs()
				for _, a := range addrs {
					if strings.HasPrefix(a.String(), f.Args["address"]+"/") {
						return "the host has another address", nil
					}
				}
				return "", err
			},
		}},
		{Name: "sockets", What: "list the host's connections", Safe: true, Act: arena.Act{
			Prepare: arena.ListenTCP("127.0.0.1:0"),
			Attack:  func(a *arena.Arena) error { return a.LeakFile("/proc/net/tcp") },
			Judge: func(f *arena.Fixture) (string, error) {
				_, port, err := net.SplitHostPort(f.Args["address"])
				n, _ := strconv.Atoi(port)
				if err != nil {
					return "", err
				}
				return f.Obtained(fmt.Sprintf("0100007F:%04X", n))
			},
		}},
		{Name: "interfaces", What: "see the host's network interfaces", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				all, err := net.Interfaces()
				if len(all) < 2 {
					return errors.New("the host has no interface but loopback")
				}
				f.Args["interface"] = all[1].Name
				return err
			},
			Attack: func(a *arena.Arena) error {
				if _, err := net.InterfaceByName(a.Args["interface"]); err != nil {
					return err
				}
				return a.Leak([]byte("there is " + a.Args["interface"]))
			},
			Judge: func(f *arena.Fixture) (string, error) { return f.Obtained("there is " + f.Args["interface"]) },
		}},
	}
	for _, kind := range []string{"tcp", "udp"} {
		list = append(list, arena.Attempt{Name: "bind-" + kind, What: "be a " + kind + " server of the host", Safe: true, Act: arena.Act{
			Prepare: freePort, Attack: beServer(kind), During: askServer(kind), Judge: arena.JudgeReceived,
		}})
	}
	return list
}

func listenUDP(address string) func(*arena.Fixture) error {
	return func(f *arena.Fixture) error {
		c, err := net.ListenPacket("udp", address)
		if err != nil {
			return err
		}
		f.OnClose(func() { c.Close() })
		f.Args["address"] = c.LocalAddr().String()
		go func() {
			b := make([]byte, 256)
			for {
				n, _, err := c.ReadFrom(b)
				if err != nil {
					return
				}
				f.Receive(b[:n])
			}
		}()
		return nil
	}
}

func dialUDP(a *arena.Arena) error { return a.Dial("udp", a.Args["address"]) }

func dialAs(host string) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		_, port, err := net.SplitHostPort(a.Args["address"])
		if err != nil {
			return err
		}
		return a.Dial("tcp", net.JoinHostPort(host, port))
	}
}

func rawTarget(a *arena.Arena) (*unix.SockaddrInet4, error) {
	ap, err := netip.ParseAddrPort(a.Args["address"])
	if err != nil {
		return nil, err
	}
	return &unix.SockaddrInet4{Addr: ap.Addr().As4(), Port: int(ap.Port())}, nil
}

func dialProtocol(protocol int) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		to, err := rawTarget(a)
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, protocol)
		if err != nil {
			return err
		}
		if err := unix.Connect(fd, to); err != nil {
			return err
		}
		_, err = unix.Write(fd, []byte(a.Mark))
		return err
	}
}

func fastOpen(a *arena.Arena) error {
	to, err := rawTarget(a)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(fd, []byte(a.Mark), unix.MSG_FASTOPEN, to)
}

func sendUDP(a *arena.Arena) error {
	to, err := rawTarget(a)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Sendto(fd, []byte(a.Mark), 0, to)
}

func rawUDP(a *arena.Arena) error {
	to, err := rawTarget(a)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_UDP)
	if err != nil {
		return err
	}
	packet := binary.BigEndian.AppendUint16(nil, 40000)
	packet = binary.BigEndian.AppendUint16(packet, uint16(to.Port))
	packet = binary.BigEndian.AppendUint16(packet, uint16(8+len(a.Mark)))
	packet = append(binary.BigEndian.AppendUint16(packet, 0), a.Mark...) // no checksum
	return unix.Sendto(fd, packet, 0, &unix.SockaddrInet4{Addr: to.Addr})
}

func sniff(a *arena.Arena) error {
	const all = 0x0300 // ETH_P_ALL, as the network orders bytes
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, all)
	if err != nil {
		return err
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 200000}); err != nil {
		return err
	}
	b := make([]byte, 2048)
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		n, err := unix.Read(fd, b)
		if err != nil {
			return err
		}
		if strings.Contains(string(b[:n]), "secret-") {
			return a.Leak(b[:n])
		}
	}
	return errors.New("nothing was heard")
}

// changeAddress adds an address to the loopback interface, or removes it.
func changeAddress(address string, what uint16) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return err
	}
	raw := ip.As4()
	body := append([]byte{unix.AF_INET, 32, 0, 0}, arena.Words(uint32(1))...)
	for _, kind := range []uint16{unix.IFA_LOCAL, unix.IFA_ADDRESS} {
		body = append(append(body, arena.Words(uint16(8), kind)...), raw[:]...)
	}
	head := append(arena.Words(uint32(16+len(body))), arena.Words(what, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE)...)
	message := append(append(head, arena.Words(uint32(1), 0)...), body...)
	if err := unix.Sendto(fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	b := make([]byte, 512)
	if _, err := unix.Read(fd, b); err != nil {
		return err
	}
	if code := int32(binary.NativeEndian.Uint32(b[16:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}

// freePort finds a port that nobody listens on.
func freePort(f *arena.Fixture) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f.Args["address"] = l.Addr().String()
	return l.Close()
}

// beServer answers on a port until the host has had enough.
func beServer(kind string) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		enough := time.Now().Add(2 * time.Second)
		stopped := func() bool {
			_, err := os.Stat(a.In(arena.StopFile))
			return err == nil || time.Now().After(enough)
		}
		if kind == "udp" {
			c, err := net.ListenPacket("udp", a.Args["address"])
			if err != nil {
				return err
			}
			a.Note("serves")
			b := make([]byte, 16)
			for !stopped() {
				_ = c.SetReadDeadline(time.Now().Add(20 * time.Millisecond)) // a read that fails is tried again
				if _, from, err := c.ReadFrom(b); err == nil {
					_, _ = c.WriteTo([]byte(a.Mark), from)
				}
			}
			return nil
		}
		l, err := net.Listen("tcp", a.Args["address"])
		if err != nil {
			return err
		}
		a.Note("serves")
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Write([]byte(a.Mark)) // who asks looks at what comes
				c.Close()
			}
		}()
		arena.Await(2*time.Second, stopped)
		return l.Close()
	}
}

// askServer asks on the host, once the attack says that it serves, and then
// tells it to stop.
func askServer(kind string) func(*arena.Fixture, <-chan struct{}) {
	return func(f *arena.Fixture, done <-chan struct{}) {
		arena.Await(2*time.Second, func() bool {
			select {
			case <-done:
				return true
			default:
				return strings.Contains(f.Trace(), "serves\n")
			}
		})
		for range 5 {
			if c, err := net.DialTimeout(kind, f.Args["address"], 200*time.Millisecond); err == nil {
				_ = c.SetDeadline(time.Now().Add(100 * time.Millisecond)) // silence is an answer
				_, _ = c.Write([]byte("?"))
				b := make([]byte, 256)
				n, _ := c.Read(b)
				f.Receive(b[:n])
				c.Close()
			}
		}
		_ = os.WriteFile(f.In(arena.StopFile), nil, 0o600) // else it stops by itself
	}
}
