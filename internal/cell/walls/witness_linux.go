package walls

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
)

// Witness is the host's side of the proof: something that really listens where a
// cell must not reach, and a place that must stay empty.
type Witness struct{ fds []int }

// Listen opens what the cell will try to connect to, on the loopback interface
// and in the host's abstract namespace only.
func Listen(s *plan.Spec) (*Witness, error) {
	s.Proof.Parent = os.Getpid()
	s.Proof.Outside += "-" + rand.Text()
	s.Proof.Connect = nil
	if !s.Has(plan.Namespaces) {
		return &Witness{}, nil
	}
	w := &Witness{}
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
func (w *Witness) openPort(s plan.Spec) uint16 {
	for range plan.MaxPorts + 2 { // those of its network and its proxy's
		if err := w.open(unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			return 0
		}
		port, err := PortOf(w.fds[len(w.fds)-1])
		if err != nil {
			return 0
		}
		if s.Net == nil || port != s.Proxy && plan.FreePort(port, *s.Net) == port {
			return port
		}
	}
	return 0
}

func (w *Witness) open(family int, address unix.Sockaddr) error {
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

// Check looks whether what the cell wrote outside came to be here.
func (w *Witness) Check(s plan.Spec) error {
	if _, err := os.Lstat(s.Proof.Outside); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("proof failed: %s appeared on the host (%v)", s.Proof.Outside, err)
	}
	return nil
}

// Close lets go of what was listened to.
func (w *Witness) Close() {
	for _, fd := range w.fds {
		unix.Close(fd)
	}
	w.fds = nil
}

// PortOf is the port that a socket of IPv4 has.
func PortOf(fd int) (uint16, error) {
	at, err := unix.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	if four, ok := at.(*unix.SockaddrInet4); ok {
		return uint16(four.Port), nil
	}
	return 0, errors.New("a socket of another family")
}
