package watch

import (
	"context"
	"encoding/binary"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/egress/rate"
)

// How many packets are looked at in a second. A worker can send any number, and the
// kernel throws away what nobody reads.
const (
	watchRate  = 500
	watchBurst = 1000
)

// Packets reads the packets that nothing in the cell listens for, until the context
// ends. It closes nothing.
func Packets(ctx context.Context, f *os.File, seen func(to netip.AddrPort, what Sighting)) {
	own, err := pollable(f)
	if err != nil {
		return
	}
	defer own.Close()
	defer context.AfterFunc(ctx, func() { _ = own.SetReadDeadline(time.Unix(1, 0)) })() // closed already is fine
	raw, err := own.SyscallConn()
	if err != nil {
		return
	}
	limit := rate.New(watchRate, watchBurst)
	buf := make([]byte, 512) // no packet says later where it goes
	look := func(wait func(func(fd uintptr) bool) error) bool {
		ether, n, err := receive(wait, buf)
		if err != nil {
			return false
		}
		if to, what := packetTarget(ether, buf[:n]); what != Nothing {
			seen(to, what)
		}
		return true
	}
	for ctx.Err() == nil && look(raw.Read) && limit.Wait(ctx) == nil {
	}
	// What a worker tried with its last breath has come by now.
	for range watchBurst {
		if !look(atOnce(raw)) {
			return
		}
	}
}

// atOnce waits for nothing.
func atOnce(raw syscall.RawConn) func(func(fd uintptr) bool) error {
	return func(try func(fd uintptr) bool) error {
		ready := false
		err := raw.Control(func(fd uintptr) { ready = try(fd) })
		if err == nil && !ready {
			err = unix.EAGAIN
		}
		return err
	}
}

// pollable is a descriptor of its own whose reads can be interrupted, whatever the
// one that was handed over is like.
func pollable(f *os.File) (*os.File, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	var failed error
	err = raw.Control(func(old uintptr) {
		if fd, failed = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 0); failed == nil {
			failed = unix.SetNonblock(fd, true)
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		if fd >= 0 {
			unix.Close(fd)
		}
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// receive waits for a packet on its way in: the loopback device shows each twice.
func receive(wait func(func(fd uintptr) bool) error, buf []byte) (ether uint16, n int, err error) {
	for {
		var from unix.Sockaddr
		var failed error
		err := wait(func(fd uintptr) bool {
			n, from, failed = unix.Recvfrom(int(fd), buf, 0)
			return failed != unix.EAGAIN
		})
		if err == nil && failed != unix.EINTR && failed != unix.ENETDOWN {
			err = failed
		}
		if err != nil {
			return 0, 0, err
		}
		if link, ok := from.(*unix.SockaddrLinklayer); ok && failed == nil && link.Pkttype != unix.PACKET_OUTGOING {
			return binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, link.Protocol)), n, nil
		}
	}
}
