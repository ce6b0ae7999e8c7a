package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A Corruption says where a journal is damaged and what is wrong there. Line 0
// is the head file.
type Corruption struct {
	Line    int    // from 1
	Offset  int64  // of the line's first byte
	Seq     uint64 // the event that belongs there
	Problem string
}

func (c *Corruption) Error() string {
	if c.Line == 0 {
		return c.Problem
	}
	return fmt.Sprintf("line %d (byte %d): %s", c.Line, c.Offset, c.Problem)
}

// corruption reports a problem with what stands at p.
func (p position) corruption(format string, args ...any) *Corruption {
	return &Corruption{
		Line: int(p.seq) + 1, Offset: p.length, Seq: p.seq + 1,
		Problem: fmt.Sprintf(format, args...),
	}
}

// errPlace is a sound line in a place that is not its own.
var errPlace = errors.New("does not continue the line before it: a foreign line, or the line before was replaced")

// next judges the line at p and returns its event and the position after it.
// With errPlace it returns the event as well.
func (p position) next(line []byte) (Event, position, error) {
	e, err := decode(line)
	if err != nil {
		return Event{}, p, err
	}
	if e.Seq != p.seq+1 || e.Prev != p.prev {
		return e, p, errPlace
	}
	return e, position{seq: e.Seq, length: p.length + int64(len(line)), hash: e.Hash, prev: sum(line)}, nil
}

// scan reads the lines of r, which begins at p, a position that no anchor
// contradicts, and passes each verified event
// to visit. It returns the position after the last one and the torn bytes that
// follow it. The error is a *Corruption if the journal is at fault; the
// position is then the one before the damage.
func scan(r io.Reader, p position, anchors []anchor, visit func(Event)) (position, []byte, error) {
	return walk(r, p, anchors, func(e Event, _ position) { visit(e) })
}

// readers are used again: whoever follows a journal looks often, and mostly finds nothing new.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}

// walk is scan that also tells the position after each event.
func walk(r io.Reader, p position, anchors []anchor, visit func(Event, position)) (position, []byte, error) {
	br := readers.Get().(*bufio.Reader)
	br.Reset(r)
	defer func() {
		br.Reset(nil)
		readers.Put(br)
	}()
	for {
		line, err := readLine(br)
		if err == io.EOF {
			return p, line, checkEnd(p, line, anchors)
		}
		if err == errLong {
			return p, nil, p.corruption("longer than %d bytes: not an event of this journal", MaxLine)
		}
		if err != nil {
			return p, nil, err
		}
		e, next, err := p.next(line)
		if err != nil {
			if isUnwritten(line, br) && checkEnd(p, line, anchors) == nil {
				return p, line, nil
			}
			return p, nil, p.explain(e, err, br)
		}
		if a, ok := contradicted(next, anchors); ok {
			return p, nil, p.corruption("not the event %d that %s vouches for: the journal or its head was replaced", a.seq, a.witness)
		}
		p = next
		visit(e, p)
	}
}

var errLong = errors.New("line too long")

// readLine returns the next line with its newline, or io.EOF together with
// what follows the last newline.
func readLine(br *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := br.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, errLong
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// isUnwritten reports whether line, the last one, has blocks that never reached
// the disk: those read as zeros, which no event contains.
func isUnwritten(line []byte, rest *bufio.Reader) bool {
	_, err := rest.Peek(1)
	return err == io.EOF && bytes.IndexByte(line, 0) >= 0
}

// contradicted returns an anchor after as many events as p that is not p.
func contradicted(p position, anchors []anchor) (anchor, bool) {
	for _, a := range anchors {
		if a.seq == p.seq && (a.hash != p.hash || a.length != p.length) {
			return a, true
		}
	}
	return anchor{}, false
}

// checkEnd judges an end of the events at p, with torn bytes after it.
func checkEnd(p position, torn []byte, anchors []anchor) error {
	for _, a := range anchors {
		switch {
		case a.seq > p.seq && len(torn) > 0:
			return p.corruption("damaged or cut short: %s vouches for %s up to byte %d", a.witness, events(1, a.seq), a.length)
		case a.seq > p.seq:
			return p.corruption("%s cut off the end: %s vouches for more", events(p.seq+1, a.seq), a.witness)
		}
	}
	if len(torn) > maxTorn {
		return p.corruption("%d bytes without a line end, longer than any event: not written by this journal", len(torn))
	}
	return nil
}

// explain finds out how the line at p came to be wrong; e is its event if err
// is errPlace, rest is what follows.
func (p position) explain(e Event, err error, rest *bufio.Reader) *Corruption {
	want := p.seq + 1
	switch {
	case err != errPlace:
		return p.corruption("%v", err)
	case e.Seq < want:
		return p.corruption("a second event %d: a duplicate, or a foreign line", e.Seq)
	case e.Seq == want:
		return p.corruption("%v", err)
	}
	for n := 2; ; n++ {
		line, err := readLine(rest)
		if err != nil {
			return p.corruption("%s missing: event %d follows", events(want, e.Seq-1), e.Seq)
		}
		if _, _, err := p.next(line); err == nil {
			return p.corruption("event %d, while event %d is at line %d: reordered", e.Seq, want, int(p.seq)+n)
		}
	}
}

func events(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("event %d", from)
	}
	return fmt.Sprintf("events %d to %d", from, to)
}
