package cell

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/terminal"
)

// loIndex is the number of the loopback interface in every network namespace.
const loIndex = 1

// The addresses of a cell. Programs that ask only for the kinds of addresses that
// their machine has itself find one of each.
var (
	ownFour = []byte{198, 18, 0, 1}
	ownSix  = []byte{0xfd, 0x63, 0x6f, 0x72, 0x64, 0x6f, 0, 0x6e, 15: 1}
)

// netlink is a line to the kernel about this namespace's addresses and routes.
type netlink struct {
	fd  int
	seq uint32
}

func openNetlink() (*netlink, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("netlink: %w", err)
	}
	return &netlink{fd: fd}, nil
}

func (n *netlink) close() { unix.Close(n.fd) }

// leadHere makes every address of this namespace lead to itself. It reports whether
// that is so for IPv6 too: a kernel may do without.
func leadHere() (six bool, err error) {
	n, err := openNetlink()
	if err != nil {
		return false, err
	}
	defer n.close()
	if err := n.address(unix.AF_INET, ownFour); err != nil {
		return false, fmt.Errorf("an address: %w", err)
	}
	if err := n.everything(unix.AF_INET); err != nil {
		return false, fmt.Errorf("a route: %w", err)
	}
	if n.address(unix.AF_INET6, ownSix) != nil {
		return false, nil
	}
	return n.everything(unix.AF_INET6) == nil, nil
}

// address adds one to the loopback.
func (n *netlink) address(family byte, a []byte) error {
	// Nobody else could have it, and until that was asked it could not be used.
	body := []byte{family, byte(len(a) * 8), unix.IFA_F_NODAD, unix.RT_SCOPE_UNIVERSE}
	body = binary.NativeEndian.AppendUint32(body, loIndex)
	body = append(attribute(body, unix.IFA_LOCAL, a), attribute(nil, unix.IFA_ADDRESS, a)...)
	return n.ask(unix.RTM_NEWADDR, body)
}

// everything makes all addresses of a family local ones.
func (n *netlink) everything(family byte) error {
	body := []byte{family, 0, 0, 0, unix.RT_TABLE_LOCAL, unix.RTPROT_BOOT, unix.RT_SCOPE_HOST, unix.RTN_LOCAL, 0, 0, 0, 0}
	return n.ask(unix.RTM_NEWROUTE, attribute(body, unix.RTA_OIF, binary.NativeEndian.AppendUint32(nil, loIndex)))
}

// attribute appends one whose value needs no filling up.
func attribute(to []byte, kind uint16, value []byte) []byte {
	to = binary.NativeEndian.AppendUint16(to, uint16(unix.SizeofRtAttr+len(value)))
	to = binary.NativeEndian.AppendUint16(to, kind)
	return append(to, value...)
}

// ask sends a request and waits for the kernel's answer.
func (n *netlink) ask(kind uint16, body []byte) error {
	n.seq++
	m := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(body)))
	m = binary.NativeEndian.AppendUint16(m, kind)
	m = binary.NativeEndian.AppendUint16(m, unix.NLM_F_REQUEST|unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_EXCL)
	m = binary.NativeEndian.AppendUint32(m, n.seq)
	m = append(binary.NativeEndian.AppendUint32(m, 0), body...)
	if err := terminal.Again(func() error { return unix.Sendto(n.fd, m, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}) }); err != nil {
		return err
	}
	return n.answer()
}

// answer is what the kernel says to the last request.
func (n *netlink) answer() error {
	buf := make([]byte, 4096)
	var got int
	err := terminal.Again(func() (err error) { got, _, err = unix.Recvfrom(n.fd, buf, 0); return err })
	if err != nil {
		return err
	}
	const code = unix.SizeofNlMsghdr
	if got < code+4 || binary.NativeEndian.Uint16(buf[4:]) != unix.NLMSG_ERROR || binary.NativeEndian.Uint32(buf[8:]) != n.seq {
		return errors.New("the kernel answered something else")
	}
	if errno := -int32(binary.NativeEndian.Uint32(buf[code:])); errno != 0 {
		return unix.Errno(errno)
	}
	return nil
}
