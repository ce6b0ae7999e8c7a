package egress

import (
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
	lost   int // records that are in no line
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
	line, err := json.Marshal(r)
	if err != nil { // a time that has no text
		k.fail(r, err)
		return
	}
	line = append(line, '\n')
	if k.torn {
		line = append([]byte{'\n'}, line...)
	}
	if k.bytes+int64(len(line)) > maxLog {
		k.lost += r.times()
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

func (k *Keeper) fail(r Record, err error) {
	k.lost += r.times()
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
	k.closed = true
	if k.timer != nil && k.timer.Stop() {
		k.timer = nil
		k.timers.Done()
	}
	switch {
	case k.err != nil:
		return fmt.Errorf("%d records of the network were not written: %w", k.lost, k.err)
	case k.lost > 0:
		return fmt.Errorf("%d records of the network were not written: there are %d MiB of them already", k.lost, maxLog>>20)
	}
	return nil
}
