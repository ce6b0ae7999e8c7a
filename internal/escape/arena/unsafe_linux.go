package arena

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// This file is the only one that needs unsafe: system calls that have no wrapper,
// with buffers as arguments.

// Call makes a system call. An argument is a number, a []byte that the kernel
// reads or fills, or a string that it reads.
func Call(nr uintptr, args ...any) (uintptr, error) {
	var words [6]uintptr
	for i, arg := range args {
		words[i] = word(&arg)
		args[i] = arg
	}
	r, _, errno := unix.Syscall6(nr, words[0], words[1], words[2], words[3], words[4], words[5])
	runtime.KeepAlive(args)
	if errno != 0 {
		return r, errno
	}
	return r, nil
}

// word turns an argument into a register. What it points to is on the heap, where
// nothing moves, and is kept alive through the argument, which may be replaced.
func word(arg *any) uintptr {
	switch v := (*arg).(type) {
	case int:
		return uintptr(v)
	case uintptr:
		return v
	case uint32:
		return uintptr(v)
	case uint64:
		return uintptr(v)
	case string:
		b := append([]byte(v), 0)
		*arg = b
		return uintptr(unsafe.Pointer(&b[0]))
	case []byte:
		if len(v) == 0 {
			return 0
		}
		return uintptr(unsafe.Pointer(&v[0]))
	case nil:
		return 0
	}
	panic(fmt.Sprintf("an argument of a system call cannot be a %T", *arg))
}

// Words packs numbers as the kernel's structures have them.
func Words[T uint16 | uint32 | uint64 | int32](values ...T) []byte {
	b, err := binary.Append(nil, binary.NativeEndian, values)
	if err != nil {
		panic(err) // numbers of fixed size only
	}
	return b
}

// Address is where a buffer lies, for structures that hold pointers.
func Address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }

// Stranded starts a copy of this process, with no thread but one, that makes one
// system call and then waits for the end. The runtime of a copy is not whole: it
// must not allocate, schedule or return.
//
//go:norace
func Stranded(flags uintptr, nr, a1, a2, a3 uintptr) (pid int, err error) {
	r, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, flags|uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	if r != 0 {
		return int(r), nil
	}
	if nr != 0 {
		syscall.RawSyscall(nr, a1, a2, a3)
	}
	for {
		syscall.RawSyscall6(unix.SYS_PPOLL, 0, 0, 0, 0, 0, 0)
	}
}

// projectOf reads the project of an inode.
func projectOf(fd int) (uint32, error) {
	b := make([]byte, 28)
	_, err := Call(unix.SYS_IOCTL, fd, fsIocFsGetXattr, b)
	return binary.NativeEndian.Uint32(b[12:]), err
}

const (
	fsIocFsGetXattr = 0x801c581f
	FsIocFsSetXattr = 0x401c5820
)

// CopyAndExit makes a copy of this process with clone3 that exits with status 77.
//
//go:norace
func CopyAndExit(args []byte) (pid int, err error) {
	r, _, errno := syscall.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args[0])), uintptr(len(args)), 0)
	if errno != 0 {
		return 0, errno
	}
	if r == 0 {
		for {
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 77, 0, 0)
		}
	}
	return int(r), nil
}
