package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"cordon/internal/plainfile"
)

// CheckpointFile spares those who fold the journal to read all of it; see the package
// comment.
const CheckpointFile = "journal.checkpoint"

const checkpointFormat = "cordon-checkpoint-1"

// checkpointEvery is how many events are appended between two checkpoints, and thus about
// how many a process reads that finds one.
const checkpointEvery = 128

// checkpoint is the first line of the file: a position, and how to recognise it.
type checkpoint struct {
	Format string `json:"format"`
	Fold   string `json:"fold"`   // whose state the second line is
	Seq    uint64 `json:"seq"`    // of the last event before the position
	Start  int64  `json:"start"`  // where its line begins
	Length int64  `json:"length"` // and ends
	Head   string `json:"head"`   // its Hash
	Prev   string `json:"prev"`   // SHA-256 of its line
	Body   string `json:"body"`   // SHA-256 of the second line
}

// checkpointBody is the second line.
type checkpointBody struct {
	Memo  json.RawMessage `json:"memo"`
	Lines []keptLine      `json:"lines"`
}

// keptLine is where an event lies that a fold still wants.
type keptLine struct {
	Worker string `json:"w,omitempty"`
	Type   string `json:"t"`
	Seq    uint64 `json:"s"`
	Start  int64  `json:"o"`
	Length int    `json:"n"`
	Hash   string `json:"h"`
}

func (c checkpoint) position() position {
	return position{seq: c.Seq, length: c.Length, hash: c.Head, prev: c.Prev}
}

// errStale is a checkpoint that is not of this journal, or not of this fold, or damaged.
// It is no error of the journal's: everything is read instead.
var errStale = errors.New("the checkpoint does not fit the journal")

// readCheckpoint returns the checkpoint of a journal if it belongs to the events in f:
// the last line that it covers is there, byte for byte, and the head vouches for it. What
// lies before that line is not read.
func readCheckpoint(dir string, f *os.File, size int64, anchors []anchor) (checkpoint, *json.Decoder, error) {
	text, err := plainfile.Read(filepath.Join(dir, CheckpointFile), maxCheckpoint)
	if err != nil {
		return checkpoint{}, nil, errStale
	}
	first, body, _ := bytes.Cut(text, []byte("\n"))
	var c checkpoint
	if json.Unmarshal(first, &c) != nil || c.Format != checkpointFormat || c.Body != sum(body) || c.Seq == 0 {
		return checkpoint{}, nil, errStale
	}
	if len(anchors) == 0 || anchors[0].seq < c.Seq || c.Length > size { // the head comes first
		return checkpoint{}, nil, errStale
	}
	if _, bad := contradicted(c.position(), anchors); bad {
		return checkpoint{}, nil, errStale
	}
	line, e, err := readLineAt(f, c.Start, c.Length-c.Start)
	if err != nil || e.Seq != c.Seq || e.Hash != c.Head || sum(line) != c.Prev {
		return checkpoint{}, nil, errStale
	}
	return c, json.NewDecoder(bytes.NewReader(body)), nil
}

const maxCheckpoint = 256 << 20

// readLineAt reads one event from its place.
func readLineAt(f *os.File, start, length int64) ([]byte, Event, error) {
	if start < 0 || length <= 0 || length > MaxLine {
		return nil, Event{}, errStale
	}
	line := make([]byte, length)
	if _, err := f.ReadAt(line, start); err != nil {
		return nil, Event{}, err
	}
	e, err := decode(line)
	return line, e, err
}

// writeCheckpoint replaces the checkpoint. Nobody needs it, so nobody hears of a failure.
func writeCheckpoint(dir string, c checkpoint, body checkpointBody) {
	text, err := json.Marshal(body)
	if err != nil {
		return
	}
	c.Format, c.Body = checkpointFormat, sum(text)
	first, err := json.Marshal(c)
	if err != nil {
		return
	}
	f, err := replace(filepath.Join(dir, CheckpointFile), func(w io.Writer) error {
		_, err := w.Write(append(append(first, '\n'), text...))
		return err
	})
	if err == nil {
		f.Close()
	}
}
