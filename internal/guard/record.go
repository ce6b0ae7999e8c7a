package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Record is one decision as it is journalled.
type Record struct {
	Time    time.Time `json:"time"`
	Client  string    `json:"client"`
	Session string    `json:"session,omitempty"`
	Call    string    `json:"call,omitempty"`  // the client's name for the call
	Event   string    `json:"event,omitempty"` // what was reported, where it is no tool call
	Tool    string    `json:"tool"`
	Input   string    `json:"input,omitempty"` // what was to be run, shortened
	Verdict Verdict   `json:"decision"`
	Warned  bool      `json:"warned,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Lift    string    `json:"read_root,omitempty"` // the entry of read_roots that would have allowed it
}

// ReadRecord reads a decision that somebody sent, strictly: what it does not know
// of it may mean something else.
func ReadRecord(b []byte) (Record, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	var r Record
	if err := dec.Decode(&r); err != nil {
		return Record{}, fmt.Errorf("that is no decision: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Record{}, errors.New("that is more than a decision")
	}
	if !r.Verdict.known() {
		return Record{}, fmt.Errorf("%.20q is no decision", r.Verdict)
	}
	return r, nil
}

func (v Verdict) known() bool { return v == Allow || v == Ask || v == Deny }

const (
	recordRoom = 4 << 10 // bytes of a line: well below what one write appends at once
	recordText = 256     // characters of each of its texts, at first
)

// Append adds a decision to a file, in one write at its end: nobody waits for a
// lock, and lines of hooks that run side by side do not mix. A line break comes
// before it as well, since a disk that was full may have left half a line there.
func (r Record) Append(name string) error {
	line, err := r.line()
	if err != nil {
		return err
	}
	fd, err := unix.Open(name, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &os.PathError{Op: "open", Path: name, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return fmt.Errorf("%s is no file", name)
	}
	whole := "\n" + string(line) + "\n"
	n, err := unix.Write(fd, []byte(whole))
	if err == nil && n != len(whole) {
		err = errors.New("the disk is full")
	}
	return err
}

// Short is a record as it is journalled: with what is kept of its texts.
func (r Record) Short() Record { return r.clipped(recordText) }

// line is a record in JSON. Its texts are shortened until it fits: how long a
// character gets depends on whether it must be escaped.
func (r Record) line() ([]byte, error) {
	for room := recordText; ; room /= 2 {
		line, err := json.Marshal(r.clipped(room))
		if err != nil || len(line) <= recordRoom || room <= 1 {
			return line, err
		}
	}
}

func (r Record) clipped(room int) Record {
	for _, text := range []*string{&r.Client, &r.Session, &r.Call, &r.Event, &r.Tool, &r.Input, &r.Reason, &r.Lift} {
		*text = clip(*text, room)
	}
	return r
}

// clip is the beginning of a text, of so many characters.
func clip(s string, room int) string {
	n := 0
	for i := range s {
		if n++; n > room {
			return s[:i] + "…"
		}
	}
	return s
}
