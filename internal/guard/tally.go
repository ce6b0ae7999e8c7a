package guard

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Tally sums up the decisions of a worker's guard.
type Tally struct {
	Calls  int    `json:"calls"`
	Denied int    `json:"denied"`
	Asked  int    `json:"asked"`
	Warned int    `json:"warned,omitempty"`
	Broken int    `json:"broken,omitempty"` // lines that are no decision
	Digest string `json:"digest"`           // SHA-256 of the file
}

// String is a tally in a line.
func (t Tally) String() string {
	s := fmt.Sprintf("%d tool calls judged, %d denied, %d asked about", t.Calls, t.Denied, t.Asked)
	if t.Calls == 1 {
		s = strings.Replace(s, "calls", "call", 1)
	}
	if t.Warned > 0 {
		s += fmt.Sprintf(", %d only warned of", t.Warned)
	}
	if t.Broken > 0 {
		s += fmt.Sprintf("; %d lines of the record are no decision", t.Broken)
	}
	return s
}

// recordLine bounds a line of decisions; Append keeps far below it.
const recordLine = 64 << 10

// ReadRecords calls each with every decision of a file and sums them up. A line
// that is no decision is counted: the file may have been where the worker writes.
func ReadRecords(r io.Reader, each func(Record)) (Tally, error) {
	var t Tally
	sum := sha256.New()
	lines := bufio.NewReaderSize(io.TeeReader(r, sum), recordLine)
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			t.Broken++
			err = skipLine(lines)
		case len(line) > 1:
			t.line(line, each)
		}
		if errors.Is(err, io.EOF) {
			t.Digest = hex.EncodeToString(sum.Sum(nil))
			return t, nil
		}
		if err != nil {
			return t, err
		}
	}
}

// skipLine reads to the end of a line that is too long.
func skipLine(r *bufio.Reader) error {
	for {
		if _, err := r.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

func (t *Tally) line(line []byte, each func(Record)) {
	var rec Record
	if err := json.Unmarshal(line, &rec); err != nil || !rec.Verdict.known() {
		t.Broken++
		return
	}
	t.count(rec)
	if each != nil {
		each(rec)
	}
}

// count adds a decision. What a client reports without asking is none.
func (t *Tally) count(r Record) {
	if r.Event != "" {
		return
	}
	t.Calls++
	switch {
	case r.Warned:
		t.Warned++
	case r.Verdict == Deny:
		t.Denied++
	case r.Verdict == Ask:
		t.Asked++
	}
}
