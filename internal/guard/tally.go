package guard

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
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
	lines := bufio.NewScanner(io.TeeReader(r, sum))
	lines.Buffer(nil, recordLine)
	for lines.Scan() {
		var rec Record
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil || rec.Verdict == "" {
			t.Broken++
			continue
		}
		t.count(rec)
		if each != nil {
			each(rec)
		}
	}
	t.Digest = hex.EncodeToString(sum.Sum(nil))
	return t, lines.Err()
}

func (t *Tally) count(r Record) {
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
