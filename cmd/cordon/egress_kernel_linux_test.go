package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"

	"golang.org/x/sys/unix"
)

// The acts of the probe that go to the kernel and not to a server.

// socketAct opens a socket of a kind.
func socketAct(a []string) (string, error) {
	kinds := map[string][3]int{
		"raw":     {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_TCP},
		"raw6":    {unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6},
		"packet":  {unix.AF_PACKET, unix.SOCK_RAW, 0x0300},
		"sctp":    {unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP},
		"vsock":   {unix.AF_VSOCK, unix.SOCK_STREAM, 0},
		"netlink": {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE},
		"diag":    {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER},
	}
	k, ok := kinds[a[0]]
	if !ok {
		return "", errors.New("no such kind of socket")
	}
	fd, err := unix.Socket(k[0], k[1]|unix.SOCK_CLOEXEC, k[2])
	if err != nil {
		return "", err
	}
	return "opened", unix.Close(fd)
}

// optionAct sets an option of a socket that could lead it elsewhere.
func optionAct(a []string) (string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	switch a[0] {
	case "mark":
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_MARK, 7)
	case "transparent":
		err = unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_TRANSPARENT, 1)
	case "freebind":
		err = unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_FREEBIND, 1)
	default:
		err = errors.New("no such option")
	}
	if err != nil {
		return "", err
	}
	return "set", nil
}

// routeAct asks the kernel to delete the route by which everything leads here.
func routeAct([]string) (string, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	m := binary.NativeEndian.AppendUint32(nil, 28)
	m = binary.NativeEndian.AppendUint16(m, unix.RTM_DELROUTE)
	m = binary.NativeEndian.AppendUint16(m, unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	m = append(m, 1, 0, 0, 0, 0, 0, 0, 0)
	m = append(m, unix.AF_INET, 0, 0, 0, unix.RT_TABLE_LOCAL, 0, unix.RT_SCOPE_HOST, unix.RTN_LOCAL, 0, 0, 0, 0)
	if err := unix.Sendto(fd, m, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return "", err
	}
	reply := make([]byte, 4096)
	if _, _, err := unix.Recvfrom(fd, reply, 0); err != nil {
		return "", err
	}
	if code := int32(binary.NativeEndian.Uint32(reply[unix.NLMSG_HDRLEN:])); code != 0 {
		return "", unix.Errno(-code)
	}
	return "deleted", nil
}

// bindAct listens at addresses with every option that could let it take a port that
// is taken, and gives the first error.
func bindAct(a []string) (string, error) {
	for _, at := range a {
		host, port, err := net.SplitHostPort(at)
		if err != nil {
			return "", err
		}
		n, err := strconv.Atoi(port)
		if err != nil {
			return "", err
		}
		if err := bindHard(net.ParseIP(host), n); err != nil {
			return "", fmt.Errorf("%s: %w", at, err)
		}
	}
	return "bound", nil
}

func bindHard(ip net.IP, port int) error {
	family, at := unix.AF_INET, unix.Sockaddr(nil)
	if v4 := ip.To4(); v4 != nil {
		at = &unix.SockaddrInet4{Port: port, Addr: [4]byte(v4)}
	} else {
		family, at = unix.AF_INET6, &unix.SockaddrInet6{Port: port, Addr: [16]byte(ip)}
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, 1); err != nil {
			return err
		}
	}
	if err := unix.Bind(fd, at); err != nil {
		return err
	}
	return unix.Listen(fd, 1)
}

// abstractAct speaks to a socket that has a name and no file.
func abstractAct(a []string) (string, error) {
	c, err := net.DialTimeout("unix", "@"+a[0], patience)
	if err != nil {
		return "", err
	}
	defer c.Close()
	b, err := io.ReadAll(c)
	return string(b), err
}

// listenAct is a server of the worker's own, that it reaches itself.
func listenAct(a []string) (string, error) {
	l, err := net.Listen("tcp", a[0])
	if err != nil {
		return "", err
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.WriteString(c, "from myself")
			c.Close()
		}
	}()
	return tcp(l.Addr().String(), nil, false)
}
