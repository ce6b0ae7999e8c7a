package testkernel

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

func setFilter(p []unix.SockFilter, flags uintptr) (int, error) {
	f := unix.SockFprog{Len: uint16(len(p)), Filter: unsafe.SliceData(p)}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&f)))
	runtime.KeepAlive(p)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// answerCall lets the next call return a value. A caller that was killed needs none.
func answerCall(listener int, value int64) {
	var asked struct {
		id   uint64
		rest [72]byte // of the kernel's struct seccomp_notif
	}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&asked)))
	if errno != 0 {
		return
	}
	answer := struct {
		id           uint64
		value        int64
		errno, flags int32
	}{id: asked.id, value: value}
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&answer)))
}
