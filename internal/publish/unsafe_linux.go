package publish

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// disconnect makes a connected socket one that can connect again. The address for that is
// of no family, for which there is no other way to the kernel.
func disconnect(fd int) error {
	var nobody unix.RawSockaddr // AF_UNSPEC is zero
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&nobody)), unsafe.Sizeof(nobody))
	if errno != 0 {
		return errno
	}
	return nil
}
