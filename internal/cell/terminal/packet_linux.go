package terminal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A packet between a terminal and the one it joins is a byte that says what it is, and
// that.
const (
	packetKeys    = 'k' // typed
	packetSize    = 's' // rows and columns, two bytes each
	packetShown   = 'o'
	packetParting = 'p' // a Parting
	packetRefused = 'r' // why
)

// acceptEvery is how long is waited when this process has no descriptors left.
const acceptEvery = 100 * time.Millisecond

// packetRoom is the longest there is.
const packetRoom = 32 << 10

func send(fd int, kind byte, text []byte) error {
	packet := append([]byte{kind}, text...)
	return Again(func() error {
		_, err := unix.SendmsgN(fd, packet, nil, nil, unix.MSG_NOSIGNAL)
		return err
	})
}

// receive waits for a packet. The text is part of the buffer.
func receive(fd int, buf []byte) (kind byte, text []byte, err error) {
	n := 0
	take := func() (err error) {
		n, err = unix.Read(fd, buf)
		return err
	}
	err = Again(take)
	if errors.Is(err, unix.ECONNRESET) {
		err = Again(take) // it left without having heard everything: its last words come after that
	}
	if err == nil && n < 1 {
		err = io.EOF
	}
	if err != nil {
		return 0, nil, err
	}
	return buf[0], buf[1:n], nil
}

// ListenIn opens a socket in a directory, in the place of one that was left there.
func ListenIn(dir, name string, backlog int) (place *os.File, fd int, err error) {
	if place, err = openPlace(dir); err != nil {
		return nil, -1, err
	}
	if err := unix.Unlinkat(int(place.Fd()), name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return nil, -1, errors.Join(err, place.Close())
	}
	if fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0); err != nil {
		return nil, -1, errors.Join(err, place.Close())
	}
	if err := errors.Join(unix.Fchmod(fd, 0o600), unix.Bind(fd, addressIn(place, name)), unix.Listen(fd, backlog)); err != nil {
		unix.Close(fd)
		return nil, -1, errors.Join(err, place.Close())
	}
	return place, fd, nil
}

func openPlace(dir string) (*os.File, error) {
	return os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

// addressIn goes through the descriptor of the directory: the address of a socket is
// shorter than a path may be.
func addressIn(place *os.File, name string) *unix.SockaddrUnix {
	return &unix.SockaddrUnix{Name: filepath.Join("/proc/self/fd", strconv.Itoa(int(place.Fd())), name)}
}

// AcceptFrom waits for somebody to connect. Where there is no descriptor left, they
// wait in the queue.
func AcceptFrom(listener int) (int, error) {
	for {
		fd, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ECONNABORTED):
		case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.ENOBUFS), errors.Is(err, unix.ENOMEM):
			time.Sleep(acceptEvery)
		default:
			return fd, err
		}
	}
}

// ConnectIn connects to a socket in a directory. none is the error where there is no
// such socket, or one that was left by a cordon that was killed.
func ConnectIn(dir, name string, none error) (int, error) {
	place, err := openPlace(dir)
	if errors.Is(err, os.ErrNotExist) {
		return -1, none
	}
	if err != nil {
		return -1, err
	}
	defer place.Close()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	err = Again(func() error { return unix.Connect(fd, addressIn(place, name)) })
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED) {
		err = none
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// CheckOperator refuses whoever is not the operator outside of every cell. The place
// is hidden from cells; this is the second wall.
func CheckOperator(fd int) error {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return err
	}
	if int(peer.Uid) != os.Geteuid() || peer.Pid <= 0 {
		return errors.New("only the operator enters a cell")
	}
	ours, err := os.Stat("/proc/self/ns/user")
	if err != nil {
		return err
	}
	theirs, err := os.Stat(fmt.Sprintf("/proc/%d/ns/user", peer.Pid))
	if err != nil || !os.SameFile(ours, theirs) {
		return errors.New("only the operator enters a cell, from outside of every other")
	}
	return nil
}

// Again repeats a call that a signal interrupted.
func Again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
