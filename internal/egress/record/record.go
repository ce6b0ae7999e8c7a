package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is kept of texts that a worker had a hand in.
const (
	maxNameText    = 255
	MaxReasonText  = 400 // as it is told
	maxReasonKept  = 200 // as it is kept: most of a long one is the worker's
	MaxProcessText = 64
	maxEntryText   = 300      // a name, brackets and a port
	maxLine        = 16 << 10 // far more than the longest line with all of them
)

// TidyText is a text of one line that does nothing to a terminal, and of at most so
// many bytes.
func TidyText(s string, limit int) string {
	var b strings.Builder
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			r = '?'
		}
		if b.Len()+utf8.RuneLen(r) > limit-len("…") {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// tidy is a record whose texts can be shown and whose numbers can be added.
func (r Record) tidy() Record {
	r.Name = TidyText(r.Name, maxNameText)
	r.Address = TidyText(r.Address, maxNameText)
	r.Reason = TidyText(r.Reason, maxReasonKept)
	r.Allow = TidyText(r.Allow, maxEntryText)
	r.Process = TidyText(r.Process, MaxProcessText)
	r.Sent, r.Received, r.Millis, r.Count = max(r.Sent, 0), max(r.Received, 0), max(r.Millis, 0), max(r.Count, 0)
	return r
}

// times is how many a record stands for.
func (r Record) times() int { return max(r.Count, 1) }

// merge lets a record stand for another one that is alike. The first reason is kept:
// a worker can have as many as it likes.
func (r *Record) merge(other Record) {
	r.Count = addInt(r.times(), other.times())
	r.ID = 0 // they are several
	r.Various = r.Various || other.Various || r.Reason != other.Reason
	r.Sent, r.Received, r.Millis = addInt(r.Sent, other.Sent), addInt(r.Received, other.Received), addInt(r.Millis, other.Millis)
	if r.Process != other.Process {
		r.Process = ""
	}
	if r.Address != other.Address && r.Name != "" {
		r.Address = ""
	}
}

// known reports whether a record is one that this package writes.
func (r Record) known() bool {
	switch r.Verdict {
	case Allowed, Refused, Failed:
	default:
		return false
	}
	switch r.Kind {
	case Connect, Resolve, Packet, End:
		return true
	}
	return false
}

// Read reads what a Keeper wrote. Lines that are none of its own are only
// counted, and the last one may be cut: it is being written, or never was.
func Read(r io.Reader, each func(Record)) (Tally, error) {
	var c counts
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		whole := err == nil
		if errors.Is(err, bufio.ErrBufferFull) {
			whole, line, err = true, []byte("too long"), skipLine(in)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return c.tally(), err
		}
		if record, ok := parseRecord(line); ok {
			record = c.add(record)
			if each != nil {
				each(record)
			}
		} else if whole && len(line) > len("\n") {
			c.damaged++
		}
		if err != nil {
			return c.tally(), nil
		}
	}
}

// Sum is the tally of some records.
func Sum(list []Record) Tally {
	var c counts
	for _, r := range list {
		c.add(r)
	}
	return c.tally()
}

// skipLine leaves out the rest of a line.
func skipLine(in *bufio.Reader) error {
	for {
		if _, err := in.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

func parseRecord(line []byte) (Record, bool) {
	var r Record
	if err := json.Unmarshal(line, &r); err != nil || !r.known() {
		return Record{}, false
	}
	return r.tidy(), true
}
