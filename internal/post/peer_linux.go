package post

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// known refuses a peer that is somebody else. A cell runs as whoever started it,
// as root and in a user namespace of its own alike: its identity is mapped to
// itself, and the kernel tells it here in the terms of this process.
func known(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var who *unix.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) { who, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	if int(who.Uid) != os.Geteuid() {
		return fmt.Errorf("user %d is not the worker's user", who.Uid)
	}
	return nil
}
