package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

const (
	format = "cordon-journal-1"

	// MaxLine bounds a line, newline included.
	MaxLine = 16 << 20
	// MaxData bounds the encoded data of one Append.
	MaxData = 8 << 20

	// maxTorn is the longest line an Append can have been writing when it
	// died: the data and what surrounds it. In base64 it stays below MaxLine.
	maxTorn = MaxData + 1024
	maxName = 128
)

// An Event is one line of the journal.
type Event struct {
	Seq    uint64          `json:"seq"`  // from 1, without gaps
	Time   time.Time       `json:"time"` // UTC
	Worker string          `json:"worker,omitempty"`
	Type   string          `json:"type"`           // such as "lease.sealed"; not interpreted here
	Data   json.RawMessage `json:"data,omitempty"` // a compact JSON object
	Prev   string          `json:"prev"`           // SHA-256 of the line before
	Hash   string          `json:"hash"`           // SHA-256 of what precedes it in the line
}

// Repaired is the type of the event that stands where a torn line was; its
// data is a [Repair].
const Repaired = "journal.repaired"

// A Repair preserves what a crash left of a line.
type Repair struct {
	Offset int64  `json:"offset"` // where the bytes began
	Torn   []byte `json:"torn"`   // the bytes; base64 in the journal
}

// encode returns the line of e, newline included. The hash in e is ignored: it
// follows from the rest.
func (e Event) encode() []byte {
	b := make([]byte, 0, 384+len(e.Data))
	b = append(b, `{"seq":`...)
	b = strconv.AppendUint(b, e.Seq, 10)
	b = append(b, `,"time":"`...)
	b = e.Time.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	if e.Worker != "" {
		b = append(b, `,"worker":"`+e.Worker+`"`...)
	}
	b = append(b, `,"type":"`+e.Type+`"`...)
	if e.Data != nil {
		b = append(b, `,"data":`...)
		b = append(b, e.Data...)
	}
	b = append(b, `,"prev":"`+e.Prev+`"`...)
	return seal(b)
}

// seal closes an unfinished object with the hash of its bytes, and the line.
func seal(b []byte) []byte {
	sum := sum(b)
	return append(b, `,"hash":"`+sum+"\"}\n"...)
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

var (
	errForeign = errors.New("not an event in the journal's encoding: altered, or a foreign line")
	errAltered = errors.New("bytes and hash disagree: altered")
)

// decode is the inverse of encode: it accepts a line if and only if encode
// could have written it.
func decode(line []byte) (Event, error) {
	// Whatever parse is lenient about does not survive the comparison below.
	e, ok := parse(line)
	if !ok || e.check() != nil {
		return Event{}, errForeign
	}
	stated := e.Hash
	canonical := e.encode()
	if len(canonical) != len(line) {
		return Event{}, errForeign
	}
	seal := len(`,"hash":"`) + sha256.Size*2 + len("\"}\n")
	if !bytes.Equal(canonical[:len(canonical)-seal], line[:len(line)-seal]) {
		return Event{}, errForeign
	}
	if !bytes.Equal(canonical, line) {
		return Event{}, errAltered
	}
	e.Hash = stated
	return e, nil
}

// parse takes a line apart where encode joins it.
func parse(line []byte) (e Event, ok bool) {
	const end = len(`,"prev":"`) + sha256.Size*2 + len(`","hash":"`) + sha256.Size*2 + len("\"}\n")
	if len(line) < end {
		return e, false
	}
	rest, tail := line[:len(line)-end], line[len(line)-end+len(`,"prev":"`):]
	e.Prev = string(tail[:sha256.Size*2])
	e.Hash = string(tail[sha256.Size*2+len(`","hash":"`):][:sha256.Size*2])
	seq, rest, ok := cutField(rest, `{"seq":`, `,"time":"`)
	if !ok {
		return e, false
	}
	stamp, rest, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		return e, false
	}
	if name, after, has := cutField(rest, `,"worker":"`, `"`); has {
		e.Worker, rest = string(name), after
	}
	kind, rest, ok := cutField(rest, `,"type":"`, `"`)
	if !ok {
		return e, false
	}
	e.Type = string(kind)
	if len(rest) > 0 {
		data, ok := bytes.CutPrefix(rest, []byte(`,"data":`))
		if !ok {
			return e, false
		}
		e.Data = bytes.Clone(data)
	}
	var err error
	if e.Seq, err = strconv.ParseUint(string(seq), 10, 64); err != nil {
		return e, false
	}
	e.Time, err = time.Parse(time.RFC3339Nano, string(stamp))
	return e, err == nil
}

// cutField cuts a text that stands between two others at the beginning of b.
func cutField(b []byte, before, after string) (text, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(b, []byte(before))
	if !ok {
		return nil, b, false
	}
	return bytes.Cut(rest, []byte(after))
}

// check holds the rules for the parts of a line, so that encode can join them
// without quoting anything.
func (e Event) check() error {
	switch {
	case e.Seq == 0:
		return errors.New("event number 0")
	case e.Worker != "" && !isName(e.Worker):
		return fmt.Errorf("worker %.140q is not a name of 1 to %d printable ASCII characters", e.Worker, maxName)
	case !isName(e.Type):
		return fmt.Errorf("type %.140q is not a name of 1 to %d printable ASCII characters", e.Type, maxName)
	case e.Data != nil && !isCompactObject(e.Data):
		return errors.New("data is not a compact JSON object in UTF-8")
	case !isSum(e.Prev):
		return errors.New("prev is not a hash")
	case e.Time.Year() < 0 || e.Time.Year() > 9999:
		return errors.New("time has no RFC 3339 form")
	}
	return nil
}

func isName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return 0 < len(s) && len(s) <= maxName
}

func isSum(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == sha256.Size*2
}

func isCompactObject(b []byte) bool {
	var compact bytes.Buffer
	return len(b) > 0 && b[0] == '{' && utf8.Valid(b) &&
		json.Compact(&compact, b) == nil && bytes.Equal(compact.Bytes(), b)
}

// draft returns the event that an append is about, with a place in the chain
// and a time that only stand in for those it will be given.
func draft(worker, typ string, data any) (Event, error) {
	e := Event{Seq: 1, Worker: worker, Type: typ, Prev: sum(nil), Time: now()}
	raw, err := encodeData(data)
	if err != nil {
		return Event{}, err
	}
	e.Data = raw
	return e, e.check()
}

func now() time.Time { return time.Now().UTC().Round(0) }

// encodeData returns the compact encoding of data without the escapes that
// encoding/json makes for the sake of HTML, or nil where there is nothing.
func encodeData(data any) (json.RawMessage, error) {
	if data == nil {
		return nil, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return nil, err
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if string(raw) == "null" {
		return nil, nil
	}
	return raw, nil
}
