package limit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The kernel keeps data that was sent and not yet read, and no process's memory shows
// it. Where no control group counts it, the warden asks the kernel about the sockets
// of the cell's own network namespace (sock_diag), which holds those of every process
// and those that no process has open any more.

// SocketMeter adds up the buffers of a namespace's sockets. It is opened before the
// worker starts: the system call filter refuses such a socket later.
type SocketMeter struct {
	fd      int
	queries []socketQuery
	tried   bool  // which of them the kernel answers
	hidden  int64 // what a socket may hold that the kernel does not list
}

// OpenSocketMeter returns nil where the kernel does not tell: then the buffers are not
// counted, and doctor says so.
func OpenSocketMeter() *SocketMeter {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil
	}
	return &SocketMeter{fd: fd, queries: socketQueries}
}

// try leaves out the kinds of socket that the kernel does not list. It costs as much as a
// look at all sockets of the machine, so it waits for the first look: most commands have
// ended by then.
func (m *SocketMeter) try() error {
	m.hidden = 2 * defaultSendBuffer
	if n, err := strconv.ParseInt(strings.TrimSpace(readText("/proc/sys/net/core/wmem_max")), 10, 64); err == nil {
		m.hidden = 2 * n
	}
	var answered []socketQuery
	for _, q := range m.queries {
		switch _, _, err := m.dump(q); {
		case err == nil:
			answered = append(answered, q)
		case notListed(err):
			m.hidden = 0 // a kind that is never listed is not closed: how many of those there are is not known
		default:
			return err // the worker runs already: this is not an answer about the kernel
		}
	}
	m.queries, m.tried = answered, true
	return nil
}

// notListed recognises a kernel that has no list of a kind of socket.
func notListed(err error) bool {
	for _, no := range []unix.Errno{unix.ENOENT, unix.EINVAL, unix.EOPNOTSUPP, unix.EPROTONOSUPPORT, unix.EAFNOSUPPORT} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}

const (
	// defaultSendBuffer is the kernel's own limit for SO_SNDBUF.
	defaultSendBuffer = 212992
	// unlisted is how many sockets may be missing from the kernel's lists without
	// being counted: those of netlink, and the warden's own.
	unlisted = 64
	// socketSize is what a socket takes that holds nothing.
	socketSize = 2 << 10
)

// used is the memory in all sockets of the namespace.
func (m *SocketMeter) used() (int64, error) {
	if m == nil {
		return 0, nil
	}
	if !m.tried {
		if err := m.try(); err != nil {
			return 0, err
		}
	}
	if len(m.queries) == 0 {
		return 0, nil
	}
	var total, listed int64
	for _, q := range m.queries {
		bytes, n, err := m.dump(q)
		if err != nil {
			return 0, err
		}
		total, listed = total+bytes, listed+n
	}
	// A socket that was closed after it had sent something lives on, unlisted, until
	// that is read. It may hold as much as its sending buffer.
	all := socketsAlive()
	if missing := all - listed - unlisted; missing > 0 {
		total += missing * m.hidden
	}
	return total + all*socketSize, nil
}

// socketsAlive is the number of sockets in the namespace, listed or not.
func socketsAlive() int64 {
	for line := range strings.Lines(readText("/proc/self/net/sockstat")) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "sockets:" {
			n, _ := strconv.ParseInt(f[2], 10, 64) // the kernel writes a number
			return n
		}
	}
	return 0
}

// socketQuery asks for one kind of socket.
type socketQuery struct {
	request []byte
	fixed   int    // bytes of an answer before its attributes
	memory  uint16 // the attribute that holds the sizes
}

var socketQueries = []socketQuery{
	unixQuery(),
	inetQuery(unix.AF_INET, unix.IPPROTO_TCP), inetQuery(unix.AF_INET6, unix.IPPROTO_TCP),
	inetQuery(unix.AF_INET, unix.IPPROTO_UDP), inetQuery(unix.AF_INET6, unix.IPPROTO_UDP),
}

// inetQuery is a struct inet_diag_req_v2 for sockets in every state.
func inetQuery(family, protocol byte) socketQuery {
	const skMemInfo = 7 // INET_DIAG_SKMEMINFO
	b := make([]byte, 56)
	b[0], b[1], b[2] = family, protocol, 1<<(skMemInfo-1)
	binary.NativeEndian.PutUint32(b[4:], ^uint32(0))
	return socketQuery{request: b, fixed: 72, memory: skMemInfo}
}

// unixQuery is a struct unix_diag_req for sockets in every state.
func unixQuery() socketQuery {
	const showMemInfo, memInfo = 0x20, 5 // UDIAG_SHOW_MEMINFO, UNIX_DIAG_MEMINFO
	b := make([]byte, 24)
	b[0] = unix.AF_UNIX
	binary.NativeEndian.PutUint32(b[4:], ^uint32(0))
	binary.NativeEndian.PutUint32(b[12:], showMemInfo)
	return socketQuery{request: b, fixed: 16, memory: memInfo}
}

// dump returns the bytes in one kind of socket, and how many there are.
func (m *SocketMeter) dump(q socketQuery) (bytes, n int64, err error) {
	const byFamily = 20 // SOCK_DIAG_BY_FAMILY
	b := binary.NativeEndian.AppendUint32(nil, uint32(unix.NLMSG_HDRLEN+len(q.request)))
	b = binary.NativeEndian.AppendUint16(b, byFamily)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	b = append(append(b, make([]byte, 8)...), q.request...)
	if err := unix.Sendto(m.fd, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, 0, fmt.Errorf("sock_diag: %w", err)
	}
	buffer := make([]byte, 64<<10)
	for {
		size, _, err := unix.Recvfrom(m.fd, buffer, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, 0, fmt.Errorf("sock_diag: %w", err)
		}
		more, err := q.add(buffer[:size], &bytes, &n)
		if err != nil || !more {
			return bytes, n, err
		}
	}
}

// add reads the messages of one answer, and says whether more follow.
func (q socketQuery) add(b []byte, bytes, n *int64) (more bool, err error) {
	for len(b) >= unix.NLMSG_HDRLEN {
		size := int(binary.NativeEndian.Uint32(b))
		if size < unix.NLMSG_HDRLEN || size > len(b) {
			break
		}
		body := b[unix.NLMSG_HDRLEN:size]
		switch binary.NativeEndian.Uint16(b[4:]) {
		case unix.NLMSG_DONE:
			return false, nil
		case unix.NLMSG_ERROR:
			if len(body) < 4 {
				return false, unix.EBADMSG
			}
			return false, os.NewSyscallError("sock_diag", unix.Errno(-int32(binary.NativeEndian.Uint32(body))))
		}
		if len(body) >= q.fixed {
			*n++
			*bytes += heldBy(body[q.fixed:], q.memory)
		}
		b = b[min(len(b), align4(size)):]
	}
	return true, nil
}

// heldBy reads the sizes of one socket (SK_MEMINFO_*): received and unread, sent and
// unread, queued, optional, and waiting for the socket's owner.
func heldBy(attributes []byte, memory uint16) (total int64) {
	for len(attributes) >= 4 {
		size := int(binary.NativeEndian.Uint16(attributes))
		if size < 4 || size > len(attributes) {
			return 0
		}
		if binary.NativeEndian.Uint16(attributes[2:]) == memory {
			values := attributes[4:size]
			for _, i := range []int{0, 2, 6, 7} { // RMEM_ALLOC, WMEM_ALLOC, OPTMEM, BACKLOG
				if len(values) >= 4*(i+1) {
					total += int64(binary.NativeEndian.Uint32(values[4*i:]))
				}
			}
			return total
		}
		attributes = attributes[min(len(attributes), align4(size)):]
	}
	return 0
}

func align4(n int) int { return (n + 3) &^ 3 }
