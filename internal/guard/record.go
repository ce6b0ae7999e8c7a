package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Record is one decision as it is journalled.
type Record struct {
	Time    time.Time `json:"time"`
	Client  string    `json:"client"`
	Session string    `json:"session,omitempty"`
	Call    string    `json:"call,omitempty"` // the client's name for the call
	Tool    string    `json:"tool"`
	Input   string    `json:"input,omitempty"` // what was to be run, shortened
	Verdict Verdict   `json:"decision"`
	Warned  bool      `json:"warned,omitempty"`
	Reason  string    `json:"reason,omitempty"`
}

// recordRoom keeps a line well below what one write can append at once.
const recordRoom = 2 << 10

// Append adds a decision to a file, in one write at its end: nobody waits for a
// lock, and lines of hooks that run side by side do not mix.
func (r Record) Append(name string) error {
	r.Input, r.Reason = clip(r.Input), clip(r.Reason)
	r.Session, r.Call, r.Tool = clip(r.Session), clip(r.Call), clip(r.Tool)
	line, err := json.Marshal(r)
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
	n, err := unix.Write(fd, append(line, '\n'))
	if err == nil && n != len(line)+1 {
		err = errors.New("the disk is full")
	}
	return err
}

func clip(s string) string {
	if r := []rune(s); len(r) > recordRoom/8 {
		return string(r[:recordRoom/8-1]) + "…"
	}
	return s
}
