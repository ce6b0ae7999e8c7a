package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/plainfile"
)

// A position is a place between two lines: what has been verified so far and
// all that is needed to judge the line that follows.
type position struct {
	seq    uint64 // events before it
	length int64  // bytes before it
	hash   string // Event.Hash of the last event before it
	prev   string // Event.Prev of the event after it
}

func start() position {
	genesis := sum([]byte(format))
	return position{hash: genesis, prev: genesis}
}

// An anchor is a position that must be in the chain, and who says so.
type anchor struct {
	position
	witness string
}

// head is the content of the head file.
type head struct {
	Format string `json:"format"`
	Seq    uint64 `json:"seq"`
	Head   string `json:"head"`
	Length int64  `json:"length"`
	Hash   string `json:"hash"`
}

func (p position) encodeHead() []byte {
	return seal(fmt.Appendf(nil, `{"format":"%s","seq":%d,"head":"%s","length":%d`,
		format, p.seq, p.hash, p.length))
}

func decodeHead(b []byte) (position, bool) {
	var h head
	if json.Unmarshal(b, &h) != nil || h.Format != format || h.Length < 0 || !isSum(h.Head) {
		return position{}, false
	}
	p := position{seq: h.Seq, length: h.Length, hash: h.Head}
	if h.Seq == 0 {
		p = start()
	}
	return p, bytes.Equal(p.encodeHead(), b)
}

// readHead returns what the head vouches for: no anchor and no problem where
// there is no head, a problem where there is one that cannot be believed.
func readHead(dir string) ([]anchor, *Corruption, error) {
	f, err := plainfile.Open(filepath.Join(dir, HeadFile), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	const enough = 1024
	b, err := io.ReadAll(io.LimitReader(f, enough))
	if err != nil {
		return nil, nil, err
	}
	p, ok := decodeHead(b)
	if !ok {
		return nil, &Corruption{Problem: HeadFile + " is damaged: cordon cannot tell where the journal ends"}, nil
	}
	return []anchor{{p, HeadFile}}, nil, nil
}

// writeHead replaces the head. It is not durable before the directory is
// synced, and never half written.
func writeHead(dir string, p position) error {
	f, err := replace(filepath.Join(dir, HeadFile), func(w io.Writer) error {
		_, err := w.Write(p.encodeHead())
		return err
	})
	if err != nil {
		return err
	}
	f.Close() // synced and in place: nothing can fail any more
	return nil
}
