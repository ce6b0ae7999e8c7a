package cell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
	"cordon/internal/cell/terminal"
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
	Failed   string     `json:"failed,omitempty"`
	Layer    plan.Layer `json:"layer,omitempty"`   // that Failed is about
	Program  bool       `json:"program,omitempty"` // Failed is about the program to run
	Absent   bool       `json:"absent,omitempty"`  // which is not there
	Proven   []string   `json:"proven,omitempty"`
	Landlock int        `json:"landlock,omitempty"`
	Pty      bool       `json:"pty,omitempty"`      // with a descriptor
	Listener bool       `json:"listener,omitempty"` // with a descriptor
	Socket   socket     `json:"socket,omitempty"`   // of the cell's network; with a descriptor
	Trial    bool       `json:"trial,omitempty"`    // it has ended with Code, or was Refused; with two descriptors
	Ended    bool       `json:"ended,omitempty"`
	Code     int        `json:"code,omitempty"`
	Killed   bool       `json:"killed,omitempty"` // by a signal
	Reason   Reason     `json:"reason,omitempty"`
	Left     int        `json:"left,omitempty"`
	// to the cell
	Go bool `json:"go,omitempty"`

	// Visit is the number of the visit that a message is about; 0 is none.
	Visit   int    `json:"visit,omitempty"`
	Opened  bool   `json:"opened,omitempty"`  // from the cell: it runs; with descriptors
	Signal  int    `json:"signal,omitempty"`  // to the cell: pass it on
	Gone    bool   `json:"gone,omitempty"`    // to the cell: nobody is there any more
	Refused string `json:"refused,omitempty"` // to the visitor; of a trial: why there was none
	Over    bool   `json:"over,omitempty"`    // to the visitor: the cell has ended
}

// learnMessages has the JSON package learn what a message is, while there is time.
func learnMessages() {
	b, err := json.Marshal(message{Proven: []string{""}})
	if err == nil {
		_ = json.Unmarshal(b, &message{}) // it is thrown away
	}
}

// control is one side of the line between cordon and a cell.
type control struct{ fd int }

const packet = 16 << 10

// rights is how many descriptors come with one message at most.
const rights = 3

func (c control) send(m message, fds ...int) error { return c.sendWith(0, m, fds) }

// offer does not wait for a side that does not read.
func (c control) offer(m message, fds ...int) error { return c.sendWith(unix.MSG_DONTWAIT, m, fds) }

func (c control) sendWith(flags int, m message, fds []int) error {
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if len(b) > packet {
		return fmt.Errorf("a message of %d bytes", len(b))
	}
	var with []byte
	if len(fds) > 0 {
		with = unix.UnixRights(fds...)
	}
	return terminal.Again(func() error { return unix.Sendmsg(c.fd, b, with, nil, unix.MSG_NOSIGNAL|flags) })
}

// receive waits for a message and the descriptors that come with it. The other
// side's end is io.EOF.
func (c control) receive() (message, []*os.File, error) {
	buf, with := make([]byte, packet), make([]byte, unix.CmsgSpace(4*rights))
	var n, wn int
	take := func() (err error) {
		n, wn, _, _, err = unix.Recvmsg(c.fd, buf, with, unix.MSG_CMSG_CLOEXEC)
		return err
	}
	err := terminal.Again(take)
	if errors.Is(err, unix.ECONNRESET) {
		err = terminal.Again(take) // it left without having heard everything: its last words come after that
	}
	if err == nil && n == 0 || errors.Is(err, unix.ECONNRESET) {
		return message{}, nil, io.EOF
	}
	if err != nil {
		return message{}, nil, err
	}
	var m message
	files := received(with[:wn])
	if err := json.Unmarshal(buf[:n], &m); err != nil {
		closeFiles(files)
		return message{}, nil, err
	}
	return m, files, nil
}

// received takes the descriptors that came with a message.
func received(with []byte) (files []*os.File) {
	messages, err := unix.ParseSocketControlMessage(with)
	if err != nil {
		return nil
	}
	for i := range messages {
		fds, _ := unix.ParseUnixRights(&messages[i]) // of another kind: none
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "from the cell"))
		}
	}
	return files
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// seals make a Spec unchangeable: the process that carries it out was handed it
// by cordon and by nobody else.
const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE

// newPlan is an empty descriptor for a Spec, or for what a visitor wants.
func newPlan() (*os.File, error) {
	fd, err := unix.MemfdCreate("cordon-spec", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "spec"), nil
}

// writeSealed writes a plan so that nobody can change it any more.
func writeSealed(f *os.File, b []byte) error {
	if _, err := f.Write(b); err != nil {
		return err
	}
	_, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, seals)
	return err
}

// writeRequest writes what a visitor wants. Visitor and cell may be of two versions of
// cordon, so that is JSON, which has no place for arguments that are not text, and says that
// it has replaced a part of one: a zero byte before it says that it is spelled.
func writeRequest(f *os.File, r request) error {
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(r)
	if bytes.Contains(b.Bytes(), []byte(`\ufffd`)) {
		b.Reset()
		b.WriteByte(0)
		var s any
		if s, err = spelled(r); err == nil {
			err = json.NewEncoder(&b).Encode(s)
		}
	}
	if err != nil {
		return err
	}
	return writeSealed(f, b.Bytes())
}

var errNotForPeople = errors.New("this is an internal mode, in which cordon starts a cell: use cordon exec")

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

// readSpec takes the Spec from its descriptor when it is told to, and what it is to hold as long as
// it lives.
func readSpec(c control) (spec plan.Spec, held []*os.File, err error) {
	if held, err = c.wait(); err != nil {
		return spec, nil, err
	}
	f := os.NewFile(specDescriptor, "spec")
	defer f.Close()
	b, err := readSealed(f)
	if err == nil {
		spec, err = plan.Unpack(b)
	}
	return spec, held, err
}

// readSealed takes a plan that nobody can change any more.
func readSealed(f *os.File) ([]byte, error) {
	have, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0)
	if err != nil || have&seals != seals {
		return nil, errNotForPeople
	}
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, 0, fi.Size()))
}

// readRequest takes what a visitor wants.
func readRequest(f *os.File, into *request) error {
	b, err := readSealed(f)
	if err != nil {
		return err
	}
	text, byBytes := bytes.CutPrefix(b, []byte{0})
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil || !byBytes {
		return err
	}
	return unspell(into)
}

// wait waits to be told to go on, perhaps with something to hold.
func (c control) wait() ([]*os.File, error) {
	m, files, err := c.receive()
	if err == nil && !m.Go {
		err = errors.New("not told to go on")
	}
	return files, err
}
