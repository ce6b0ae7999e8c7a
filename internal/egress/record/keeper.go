package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// What one launch may write. A worker decides how much it tries, and with which
// names; it must not decide how much of the operator's disk that takes.
const (
	maxSingle  = 2000     // records that have a line of their own
	maxAlike   = 256      // kinds of later ones that wait for their line
	maxLog     = 64 << 20 // bytes; the rest is only counted
	maxRest    = 8 << 10  // of them, for what was counted
	alikeDelay = 3 * time.Second
)

// Keeper writes records down, one line each, and counts them. After the first
// thousands those that are alike share a line.
type Keeper struct {
	mu     sync.Mutex
	w      io.Writer
	counts counts
	single int
	bytes  int64
	lost   int // records that are in no line of their own
	rest   map[class]*Record
	torn   bool
	err    error // the first
	closed bool

	alike  map[triedKey]*Record
	order  []*Record // of alike, as they came: an end comes after its beginning
	timer  *time.Timer
	timers sync.WaitGroup
}

// NewKeeper keeps records in a file; nil only counts them.
func NewKeeper(w io.Writer) *Keeper { return &Keeper{w: w} }

// Record keeps one.
func (k *Keeper) Record(r Record) {
	r = r.tidy()
	k.mu.Lock()
	defer k.mu.Unlock()
	r = k.counts.add(r)
	switch {
	case k.w == nil:
	case k.closed:
		k.lost += r.times()
	case k.single < maxSingle:
		k.single++
		k.write(r)
	default:
		k.gather(r)
	}
}

// gather lets a record wait for others that are alike.
func (k *Keeper) gather(r Record) {
	key := keyOf(r)
	if old := k.alike[key]; old != nil {
		old.merge(r)
		return
	}
	if len(k.alike) >= maxAlike {
		k.flush()
	}
	if k.alike == nil {
		k.alike = map[triedKey]*Record{}
	}
	k.alike[key] = &r
	k.order = append(k.order, &r)
	if k.timer == nil {
		k.timers.Add(1)
		k.timer = time.AfterFunc(alikeDelay, k.late)
	}
}

// late writes what has waited long enough. Somebody may be reading along.
func (k *Keeper) late() {
	defer k.timers.Done()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.timer = nil
	k.flush()
}

func (k *Keeper) flush() {
	for _, r := range k.order {
		k.write(*r)
	}
	clear(k.alike)
	k.order = nil
}

// write writes one line in one piece: a reader or a crash may come at any time.
func (k *Keeper) write(r Record) {
	k.writeWithin(r, roomFor(r))
}

// roomFor is how far the file may be filled with such a record. What was refused
// never takes the place of what got out, and names not that of connections.
func roomFor(r Record) int64 {
	switch {
	case r.Kind == Resolve && r.Verdict == Allowed:
		return maxLog / 8 * 7
	case r.Kind == End, r.Verdict == Allowed:
		return maxLog - maxRest
	}
	return maxLog / 4 * 3
}

func (k *Keeper) writeWithin(r Record, room int64) {
	line, err := encode(r)
	if err != nil { // a time that has no text
		k.fail(r, err)
		return
	}
	if k.torn {
		line = append([]byte{'\n'}, line...)
	}
	if k.bytes+int64(len(line)) > room {
		k.leave(r)
		return
	}
	n, err := k.w.Write(line)
	k.bytes += int64(max(n, 0))
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		k.torn = k.torn || n > 0
		k.fail(r, err)
		return
	}
	k.torn = false
}

// encode is a record as a line. It is no part of a page: escapes for one would make
// six bytes of one that a worker chose.
func encode(r Record) ([]byte, error) {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return line.Bytes(), err
}

// leave only counts a record. The end of the file says how many there were.
func (k *Keeper) leave(r Record) {
	k.lost += r.times()
	of := class{r.Kind, r.Verdict}
	if old := k.rest[of]; old != nil {
		old.merge(r)
		return
	}
	if k.rest == nil {
		k.rest = map[class]*Record{}
	}
	k.rest[of] = &Record{Time: r.Time, Kind: r.Kind, Verdict: r.Verdict, Count: r.times(), Sent: r.Sent, Received: r.Received,
		Reason: "more than there was room to write down one by one"}
}

// writeRest writes what was only counted. There are so few kinds of it that they fit.
func (k *Keeper) writeRest() {
	rest := k.rest
	k.rest = nil
	for _, r := range rest {
		r.Various, r.Process, r.Millis = false, "", 0
		k.writeWithin(*r, maxLog)
	}
}

// fail counts what could not be written. A disk that a worker fills may have room
// again at the end: then at least the sums are true.
func (k *Keeper) fail(r Record, err error) {
	k.leave(r)
	if k.err == nil {
		k.err = err
	}
}

// Tally is what was kept so far.
func (k *Keeper) Tally() Tally {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.counts.tally()
}

// Close writes down what was only counted, and says what could not be. The file
// stays open. Later records are counted and not written.
func (k *Keeper) Close() error {
	err := k.finish()
	k.timers.Wait()
	return err
}

func (k *Keeper) finish() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil
	}
	k.flush()
	k.writeRest()
	k.closed = true
	if k.timer != nil && k.timer.Stop() {
		k.timer = nil
		k.timers.Done()
	}
	switch {
	case k.err != nil:
		return fmt.Errorf("%d network records were not written: %w", k.lost, k.err)
	case k.lost > 0:
		return fmt.Errorf("%d network records were counted but not written: the file has reached its %d MiB", k.lost, maxLog>>20)
	}
	return nil
}
