//go:build amd64 || arm64

package seccomp

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file is all that talks to the kernel in structures.

// notification is the kernel's struct seccomp_notif.
type notification struct {
	id    uint64
	pid   uint32
	flags uint32
	call  call
}

// response is the kernel's struct seccomp_notif_resp. Its flags stay zero: the
// only one that it has lets the call go on.
type response struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// sizes is the kernel's struct seccomp_notif_sizes.
type sizes struct{ notification, response, call uint16 }

// knownSizes is an error on a kernel that writes more than our structures hold.
func knownSizes() error {
	var s sizes
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_NOTIF_SIZES, 0, uintptr(unsafe.Pointer(&s)))
	if errno != 0 {
		return fmt.Errorf("ask for the sizes of notifications: %w", errno)
	}
	ours := sizes{uint16(unsafe.Sizeof(notification{})), uint16(unsafe.Sizeof(response{})), uint16(unsafe.Sizeof(call{}))}
	if s != ours {
		return fmt.Errorf("the kernel's notifications have the sizes %d, these are made for %d", s, ours)
	}
	return nil
}

// setFilter returns what the kernel does: a descriptor, or a thread.
func setFilter(prog []unix.SockFilter, flags uintptr) (int, error) {
	f := unix.SockFprog{Len: uint16(len(prog)), Filter: unsafe.SliceData(prog)}
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&f)))
	runtime.KeepAlive(prog)
	if errno != 0 {
		return -1, errno
	}
	return int(r), nil
}

// receive takes the next notification. The kernel wants the structure zeroed.
func receive(listener int) (notification, error) {
	var n notification
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n)))
	if errno != 0 {
		return notification{}, errno
	}
	return n, nil
}

// respond makes the call of a notification fail with errno.
func respond(listener int, id uint64, errno unix.Errno) error {
	r := response{id: id, errno: -int32(errno)}
	_, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&r)))
	if e != 0 {
		return e
	}
	return nil
}
