package testnet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// linkUp brings a link up.
func linkUp(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	ifr.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr); err != nil {
		return fmt.Errorf("%s up: %w", name, err)
	}
	return nil
}

// addresses makes every address lead here, without being this machine's own; two
// are.
func addresses() error {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		return err
	}
	for _, a := range []string{Own, Own6} {
		own := netip.MustParseAddr(a)
		if err := request(unix.RTM_NEWADDR, addressMessage(own, own, lo.Index)); err != nil {
			return fmt.Errorf("address %s: %w", a, err)
		}
	}
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		if err := request(unix.RTM_NEWROUTE, routeMessage(family, lo.Index)); err != nil {
			return fmt.Errorf("every address: %w", err)
		}
	}
	return nil
}

// addressMessage is a struct ifaddrmsg and its attributes. The other address is the one at the other end of the link.
func addressMessage(a, other netip.Addr, link int) []byte {
	family := byte(unix.AF_INET6)
	if a.Is4() {
		family = unix.AF_INET
	}
	m := []byte{family, byte(a.BitLen()), unix.IFA_F_NODAD, unix.RT_SCOPE_UNIVERSE}
	m = binary.NativeEndian.AppendUint32(m, uint32(link))
	return attribute(attribute(m, unix.IFA_LOCAL, a.AsSlice()), unix.IFA_ADDRESS, other.AsSlice())
}

// routeMessage is a struct rtmsg: a local route to everything.
func routeMessage(family byte, link int) []byte {
	m := []byte{family, 0, 0, 0, unix.RT_TABLE_LOCAL, unix.RTPROT_BOOT, unix.RT_SCOPE_HOST, unix.RTN_LOCAL, 0, 0, 0, 0}
	return attribute(m, unix.RTA_OIF, binary.NativeEndian.AppendUint32(nil, uint32(link)))
}

func attribute(m []byte, kind uint16, value []byte) []byte {
	m = binary.NativeEndian.AppendUint16(m, uint16(4+len(value)))
	m = binary.NativeEndian.AppendUint16(m, kind)
	m = append(m, value...)
	for len(m)%unix.NLMSG_ALIGNTO != 0 {
		m = append(m, 0)
	}
	return m
}

// request asks the kernel for a change and waits for its answer.
func request(kind uint16, body []byte) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	m := binary.NativeEndian.AppendUint32(nil, uint32(unix.NLMSG_HDRLEN+len(body)))
	m = binary.NativeEndian.AppendUint16(m, kind)
	m = binary.NativeEndian.AppendUint16(m, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE)
	m = append(m, 1, 0, 0, 0, 0, 0, 0, 0) // a number, and no port
	if err := unix.Sendto(fd, append(m, body...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	reply := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, reply, 0)
	if err != nil {
		return err
	}
	if n < unix.NLMSG_HDRLEN+4 {
		return errors.New("the kernel's answer is short")
	}
	if code := int32(binary.NativeEndian.Uint32(reply[unix.NLMSG_HDRLEN:])); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}
