package cell

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// The two descriptors that the process in the cell is given beside the standard
// three. It refuses to run without them.
const (
	specDescriptor    = 3
	controlDescriptor = 4
)

// message is what the two sides tell each other, one in each packet. What comes
// out of a cell is not to be believed in anything that matters: the worker has
// the same user as the process that sends it.
type message struct {
	// from the cell
	Failed   string   `json:"failed,omitempty"`
	Layer    Layer    `json:"layer,omitempty"`   // that Failed is about
	Program  bool     `json:"program,omitempty"` // Failed is about the program to run
	Absent   bool     `json:"absent,omitempty"`  // which is not there
	Proven   []string `json:"proven,omitempty"`
	Landlock int      `json:"landlock,omitempty"`
	Pty      bool     `json:"pty,omitempty"`      // with a descriptor
	Listener bool     `json:"listener,omitempty"` // with a descriptor
	Ended    bool     `json:"ended,omitempty"`
	Code     int      `json:"code,omitempty"`
	Reason   Reason   `json:"reason,omitempty"`
	Left     int      `json:"left,omitempty"`
	// to the cell
	Go bool `json:"go,omitempty"`
}

// control is one side of the line between cordon and a cell.
type control struct{ fd int }

const packet = 16 << 10

func (c control) send(m message, fds ...int) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(b) > packet {
		return fmt.Errorf("a message of %d bytes", len(b))
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	return again(func() error { return unix.Sendmsg(c.fd, b, rights, nil, unix.MSG_NOSIGNAL) })
}

// receive waits for a message. The other side's end is io.EOF.
func (c control) receive() (message, *os.File, error) {
	buf, rights := make([]byte, packet), make([]byte, unix.CmsgSpace(4))
	var n, rn int
	err := again(func() (err error) {
		n, rn, _, _, err = unix.Recvmsg(c.fd, buf, rights, unix.MSG_CMSG_CLOEXEC)
		return err
	})
	if err == nil && n == 0 || errors.Is(err, unix.ECONNRESET) {
		return message{}, nil, io.EOF
	}
	if err != nil {
		return message{}, nil, err
	}
	var m message
	file := received(rights[:rn])
	if err := json.Unmarshal(buf[:n], &m); err != nil {
		return message{}, nil, err
	}
	return m, file, nil
}

// received takes the one descriptor that came with a message.
func received(rights []byte) *os.File {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return nil
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return nil
	}
	for _, extra := range fds[1:] {
		unix.Close(extra)
	}
	return os.NewFile(uintptr(fds[0]), "from the cell")
}

// again repeats a call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// seals make a Spec unchangeable: the process that carries it out was handed it
// by cordon and by nobody else.
const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE

// newPlan is an empty descriptor for a Spec.
func newPlan() (*os.File, error) {
	fd, err := unix.MemfdCreate("cordon-spec", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "spec"), nil
}

// writePlan writes a Spec and seals it. JSON has no place for arguments and names
// that are not text, and says that it has replaced a part of one; the other
// encoding has, and takes longer.
func writePlan(f *os.File, s Spec) error {
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(s)
	if bytes.Contains(b.Bytes(), []byte(`\ufffd`)) {
		b.Reset()
		b.WriteByte(0)
		err = gob.NewEncoder(&b).Encode(s)
	}
	if err != nil {
		return err
	}
	if _, err := f.Write(b.Bytes()); err != nil {
		return err
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals)
	return err
}

var errNotForPeople = errors.New("this is how cordon starts a cell, and not a command: use cordon exec")

// inherited refuses to go on without those that cordon hands over.
func inherited() error {
	if _, err := unix.FcntlInt(specDescriptor, unix.F_GET_SEALS, 0); err != nil {
		return errNotForPeople
	}
	kind, err := unix.GetsockoptInt(controlDescriptor, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil || kind != unix.SOCK_SEQPACKET {
		return errNotForPeople
	}
	return nil
}

// readSpec takes the Spec from its descriptor when it is told to.
func readSpec(c control) (Spec, error) {
	if err := c.wait(); err != nil {
		return Spec{}, err
	}
	have, err := unix.FcntlInt(specDescriptor, unix.F_GET_SEALS, 0)
	if err != nil || have&seals != seals {
		return Spec{}, errNotForPeople
	}
	f := os.NewFile(specDescriptor, "spec")
	defer f.Close()
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return Spec{}, err
	}
	var s Spec
	b, err := io.ReadAll(f)
	if err != nil {
		return s, err
	}
	if len(b) > 0 && b[0] == 0 {
		err = gob.NewDecoder(bytes.NewReader(b[1:])).Decode(&s)
		return s, err
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	err = dec.Decode(&s)
	return s, err
}

// wait waits to be told to go on.
func (c control) wait() error {
	m, _, err := c.receive()
	if err == nil && !m.Go {
		err = errors.New("not told to go on")
	}
	return err
}
