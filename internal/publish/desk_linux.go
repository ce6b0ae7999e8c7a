package publish

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// shortName is a name of the desk's socket that is short enough for the kernel, good until
// release.
func shortName(dir string) (name string, release func(), err error) {
	place, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", place.Fd(), deskName), func() { place.Close() }, nil
}

// ofOperator refuses whoever is not the operator outside of every cell. The place of the
// socket is hidden from cells; this is the second wall.
func ofOperator(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	err = errors.Join(raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }), err)
	if err != nil {
		return err
	}
	if int(peer.Uid) != os.Geteuid() || peer.Pid <= 0 {
		return errors.New("only the operator asks here")
	}
	ours, err := os.Stat("/proc/self/ns/user")
	if err != nil {
		return err
	}
	theirs, err := os.Stat(fmt.Sprintf("/proc/%d/ns/user", peer.Pid))
	if err != nil || !os.SameFile(ours, theirs) {
		return errors.New("only the operator asks here, from outside of every cell")
	}
	return nil
}
