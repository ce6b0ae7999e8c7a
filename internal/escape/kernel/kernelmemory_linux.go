package kernel

import (
	"fmt"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Attempts to make the kernel hold half a gigabyte for a worker that may have 128
// MiB, in memory that belongs to no process.

const kernelMiB = 512

// held is the end of an attack that holds all that it wanted.
func held(a *arena.Arena) error {
	a.Hold()
	return a.Leak(fmt.Appendf(nil, "it holds %d MiB", kernelMiB))
}

// pageTables maps a great deal and reads one page in two megabytes of it: each costs
// a page of page tables and no other.
func pageTables(a *arena.Arena) error {
	const step = 2 << 20
	m, err := unix.Mmap(-1, 0, kernelMiB<<20/4096*step, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return err
	}
	if err := unix.Madvise(m, unix.MADV_NOHUGEPAGE); err != nil {
		return err
	}
	sum := byte(0)
	for i := 0; i < len(m); i += step {
		sum += m[i]
	}
	if sum != 0 {
		return fmt.Errorf("an empty page holds %d", sum)
	}
	return held(a)
}

// socketBuffers sends what nobody reads. With the senders closed the kernel does not
// list the sockets that hold it.
func socketBuffers(family, kind int, closed bool) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		var limit unix.Rlimit
		if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
			limit.Cur = limit.Max
			_ = unix.Setrlimit(unix.RLIMIT_NOFILE, &limit) // what there is will do
		}
		message := make([]byte, 32<<10)
		for sent := 0; sent < kernelMiB<<20; {
			pair, err := unix.Socketpair(family, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			_ = unix.SetsockoptInt(pair[0], unix.SOL_SOCKET, unix.SO_SNDBUF, 1<<20)
			for {
				n, err := unix.Write(pair[0], message)
				if err == unix.EINTR {
					continue
				}
				if err != nil {
					break // it is full
				}
				sent += n
			}
			if closed {
				unix.Close(pair[0])
			}
		}
		return held(a)
	}
}

// loopbackBuffers sends datagrams over the loopback that nobody reads.
func loopbackBuffers(a *arena.Arena) error {
	message := make([]byte, 32<<10)
	for sent := 0; sent < kernelMiB<<20; {
		in, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		_ = unix.SetsockoptInt(in, unix.SOL_SOCKET, unix.SO_RCVBUF, 1<<20)
		if err := unix.Bind(in, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return err
		}
		to, err := unix.Getsockname(in)
		if err != nil {
			return err
		}
		out, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		for range 6 { // fits what the kernel gives a socket that asks for nothing
			if err := unix.Sendto(out, message, 0, to); err != nil {
				return err
			}
			sent += len(message)
		}
		unix.Close(out)
	}
	return held(a)
}

// semaphores makes sets of them: the kernel takes 64 bytes for each.
func semaphores(a *arena.Arena) error {
	const inSet = 32000
	var sets []int
	defer func() {
		for _, id := range sets {
			_, _, _ = unix.Syscall6(unix.SYS_SEMCTL, uintptr(id), 0, unix.IPC_RMID, 0, 0, 0) // in the control they outlive us
		}
	}()
	for range kernelMiB << 20 / (inSet * 64) {
		id, _, errno := unix.Syscall(unix.SYS_SEMGET, unix.IPC_PRIVATE, inSet, 0o600|unix.IPC_CREAT)
		if errno != 0 {
			return errno
		}
		sets = append(sets, int(id))
	}
	return held(a)
}
