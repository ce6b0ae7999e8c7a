package cell

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// witness is the host's side of the proof: something that really listens where a
// cell must not reach, and a place that must stay empty.
type witness struct{ fds []int }

// listen opens what the cell will try to connect to, on the loopback interface
// and in the host's abstract namespace only.
func listen(s *Spec) (*witness, error) {
	s.Proof.Parent = os.Getpid()
	s.Proof.Outside += "-" + rand.Text()
	s.Proof.Connect = nil
	if !s.has(Namespaces) {
		return &witness{}, nil
	}
	w := &witness{}
	name := "cordon-" + rand.Text()
	if err := w.open(unix.AF_UNIX, &unix.SockaddrUnix{Name: "@" + name}); err != nil {
		return nil, err
	}
	s.Proof.Connect = append(s.Proof.Connect, "socket:"+name)
	if port := w.openPort(*s); port > 0 {
		s.Proof.Connect = append(s.Proof.Connect, fmt.Sprintf("tcp:%d", port))
	}
	return w, nil
}

// openPort listens at a port that the cell does not listen to itself. A host
// without a loopback interface has none, and nothing to reach there.
func (w *witness) openPort(s Spec) uint16 {
	for range maxPorts + 2 { // those of its network and its proxy's
		if err := w.open(unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return 0
		}
		port, err := portOf(w.fds[len(w.fds)-1])
		if err != nil {
			return 0
		}
		if s.Net == nil || port != s.Proxy && freePort(port, *s.Net) == port {
			return port
		}
	}
	return 0
}

func (w *witness) open(family int, address unix.Sockaddr) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Bind(fd, address), unix.Listen(fd, 1)); err != nil {
		unix.Close(fd)
		return err
	}
	w.fds = append(w.fds, fd)
	return nil
}

// check looks whether what the cell wrote outside came to be here.
func (w *witness) check(s Spec) error {
	if _, err := os.Lstat(s.Proof.Outside); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("proof failed: %s came to be on the host (%v)", s.Proof.Outside, err)
	}
	return nil
}

func (w *witness) close() {
	for _, fd := range w.fds {
		unix.Close(fd)
	}
	w.fds = nil
}
