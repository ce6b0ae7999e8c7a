package cell

import (
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
)

// What is sent to a port that nobody listens to is refused by the kernel, and
// nobody would hear of it. A socket sees such packets pass on the loopback: the
// first of every TCP connection, and every datagram but a query for a name. What
// goes to the loopback's own addresses is the worker's own business, but for the
// answer of a TCP port there that is closed: a port of the operator's may have been
// meant.

const (
	// seen is how much of a packet is kept: the longest header of IPv4, and TCP's.
	seen = 80
	// watchBuffer is small: a worker that sends more than is read loses nothing but
	// its being told of.
	watchBuffer = 64 << 10
)

// watchPackets opens that socket, for all ports but those that are listened to.
func watchPackets(listened []uint16) (int, error) {
	// Of no protocol yet: it sees nothing until its filter is there.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, err
	}
	// The loopback shows every packet as it leaves and as it comes. Old kernels cannot
	// leave out the former: there the filter does.
	_ = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1)
	program := unseenPackets(listened)
	err = errors.Join(
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, watchBuffer),
		unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}),
	)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: bigEndian(unix.ETH_P_ALL), Ifindex: loIndex})
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// bigEndian is a number as packets have it.
func bigEndian(v uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v))
}

// bpf is a program of the kernel's packet filter. A packet starts with its IP
// header, and the program's result is how much of it is kept.
type bpf []unix.SockFilter

func (b bpf) do(code uint16, k uint32) bpf { return append(b, unix.SockFilter{Code: code, K: k}) }

// The places from which a program loads, beside the packet.
const (
	adOff     = 0xfffff000 // SKF_AD_OFF
	adPktType = adOff + 4  // SKF_AD_PKTTYPE
)

const (
	loadByte  = unix.BPF_LD | unix.BPF_B | unix.BPF_ABS
	loadHalf  = unix.BPF_LD | unix.BPF_H | unix.BPF_ABS
	loadWord  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	byteAfter = unix.BPF_LD | unix.BPF_B | unix.BPF_IND // behind the IP header
	halfAfter = unix.BPF_LD | unix.BPF_H | unix.BPF_IND
	wordAfter = unix.BPF_LD | unix.BPF_W | unix.BPF_IND
	loadCell  = unix.BPF_LD | unix.BPF_MEM
	load      = unix.BPF_LD | unix.BPF_IMM
	and       = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
	equal     = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	result    = unix.BPF_RET | unix.BPF_K
)

// The cells in which a program keeps what it has read of the IP header. Its length
// is in X.
const (
	protocol = iota
	fromSelf // whether the source is a loopback address
	toSelf   // whether the destination is one
)

// only drops what is not k.
func (b bpf) only(k uint32) bpf {
	return append(b, unix.SockFilter{Code: equal, Jt: 1, K: k}).do(result, 0)
}

// not drops what is k.
func (b bpf) not(k uint32) bpf {
	return append(b, unix.SockFilter{Code: equal, Jf: 1, K: k}).do(result, 0)
}

// when does something with what is k, and goes on behind it with the rest. What is
// done is short, or the kernel refuses the program.
func (b bpf) when(k uint32, then bpf) bpf {
	return append(append(b, unix.SockFilter{Code: equal, Jf: uint8(len(then)), K: k}), then...)
}

// unseenPackets is the filter.
func unseenPackets(listened []uint16) bpf {
	four, six := fourHeader(), sixHeader()
	four = four.do(unix.BPF_JMP|unix.BPF_JA, uint32(len(six)+2)) // over the test for the other and its header
	b := bpf{}.do(loadWord, adPktType).only(unix.PACKET_HOST)
	b = b.do(load, 0).do(unix.BPF_ST, fromSelf).do(unix.BPF_ST, toSelf)
	b = b.do(loadByte, 0).do(unix.BPF_ALU|unix.BPF_RSH|unix.BPF_K, 4)
	b = b.when(4, four).only(6)
	b = append(b, six...)
	const source, destination, sequence, flags = 0, 2, 4, 13
	datagram := bpf{}.do(loadCell, toSelf).only(0).do(halfAfter, destination).not(plan.NamePort)
	datagram = datagram.do(halfAfter, source).not(plan.NamePort).do(result, seen) // which no worker sends from: an answer
	b = b.do(loadCell, protocol).when(unix.IPPROTO_UDP, datagram).only(unix.IPPROTO_TCP)
	const fin, syn, rst, ack = 0x01, 0x02, 0x04, 0x10
	// What ends a connection that there was has a number in it.
	closed := bpf{}.do(loadCell, fromSelf).only(1).do(wordAfter, sequence).only(0).do(result, seen)
	b = b.do(byteAfter, flags).do(and, fin|syn|rst|ack).when(rst|ack, closed)
	b = b.do(and, syn|ack).only(syn).do(loadCell, toSelf).only(0)
	b = b.do(halfAfter, destination)
	for _, port := range listened {
		b = b.not(uint32(port))
	}
	return b.do(result, seen)
}

// fourHeader reads the header of IPv4.
func fourHeader() bpf {
	b := bpf{}.do(loadHalf, 6).do(and, 0x1fff).only(0) // the first part of what is in parts
	b = b.do(loadWord, 12).do(and, 0xff000000).when(127<<24, yes(fromSelf))
	b = b.do(loadWord, 16).do(and, 0xff000000).when(127<<24, yes(toSelf))
	b = b.do(loadByte, 9).do(unix.BPF_ST, protocol)
	return b.do(unix.BPF_LDX|unix.BPF_B|unix.BPF_MSH, 0)
}

// sixHeader reads the header of IPv6. What has others before TCP or UDP is passed
// over: it is refused all the same.
func sixHeader() bpf {
	b := append(sixLoopback(8, fromSelf), sixLoopback(24, toSelf)...)
	b = b.do(loadByte, 6).do(unix.BPF_ST, protocol)
	return b.do(unix.BPF_LDX|unix.BPF_W|unix.BPF_IMM, 40)
}

// sixLoopback notes whether an address is ::1.
func sixLoopback(at, cell uint32) bpf {
	b := bpf{}.do(loadWord, at+12).when(1, yes(cell))
	for _, word := range []uint32{8, 4, 0} {
		b = bpf{}.do(loadWord, at+word).when(0, b)
	}
	return b
}

// yes notes in a cell that something is so.
func yes(cell uint32) bpf { return bpf{}.do(load, 1).do(unix.BPF_ST, cell) }
