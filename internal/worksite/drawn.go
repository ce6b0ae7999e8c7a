package worksite

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
	"cordon/internal/screen"
)

// marksFile says which parts of a transcript were drawn on a terminal, and of which size.
// Only cordon writes it: nothing that a worker prints changes what is shown of it.
const marksFile = "screens"

// maxMarks is how many of them are kept: a terminal can change its size as often as it likes.
const maxMarks = 1 << 15

// A screen that stands still for restAfter was read by a person. Of a screen that moves
// without a rest, the time is noted every clockEvery, between two frames if there is such
// a moment. That is done maxTimes times.
const (
	restAfter  = 700 * time.Millisecond
	clockEvery = 300 * time.Millisecond
	frameApart = 15 * time.Millisecond
	maxTimes   = maxMarks - 1<<12
)

// Drawing is a transcript that knows which parts of it were drawn.
type Drawing struct {
	mu    sync.Mutex
	out   *os.File
	at    int64
	marks *os.File
	last  screen.Mark // that is no rest
	began time.Time
	wrote time.Time
	noted time.Time // a rest, or the time
	times int
}

// Draw appends to the transcript of a worker.
func (s *Site) Draw(id lease.ID, out *os.File) (*Drawing, error) {
	fi, err := out.Stat()
	if err != nil {
		return nil, err
	}
	marks, err := os.OpenFile(s.WorkerFile(id, marksFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	return &Drawing{out: out, at: fi.Size(), marks: marks}, nil
}

func (d *Drawing) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last.Rows > 0 {
		d.clock(time.Now())
	}
	n, err := d.out.Write(p)
	d.at += int64(n)
	return n, err
}

// clock notes before a write how long the screen stood, if that is due.
func (d *Drawing) clock(now time.Time) {
	if d.wrote.IsZero() {
		d.began, d.wrote, d.noted = now, now, now
	}
	m := screen.Mark{Rest: true}
	still := now.Sub(d.wrote)
	due := still > restAfter
	if !due {
		m = screen.Mark{Clock: now.Sub(d.began).Milliseconds(), Still: still.Milliseconds()}
		noted := now.Sub(d.noted)
		due = noted >= 2*clockEvery || noted >= clockEvery && still >= frameApart
	}
	if due && d.times < maxTimes {
		d.times, d.noted = d.times+1, now
		d.note(m)
	}
	d.wrote = now
}

// Sized says that what follows is drawn on a terminal of this size.
func (d *Drawing) Sized(rows, columns uint16) {
	d.mark(screen.Mark{Rows: int(rows), Columns: int(columns)})
}

// Close says that lines follow, if something was drawn.
func (d *Drawing) Close() error {
	if d.last.Rows > 0 {
		d.mark(screen.Mark{End: true})
	}
	return d.marks.Close()
}

// mark writes one. Without it, the output is rendered for a screen of another size.
func (d *Drawing) mark(m screen.Mark) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m.Rows == d.last.Rows && m.Columns == d.last.Columns && m.End == d.last.End {
		return
	}
	d.last = m
	d.note(m)
}

// note writes a mark of this place.
func (d *Drawing) note(m screen.Mark) {
	m.At = d.at
	if text, err := json.Marshal(m); err == nil {
		_, _ = d.marks.Write(append(text, '\n'))
	}
}

// Marks are those of a worker's transcript.
func (s *Site) Marks(w *ledger.Worker) (list []screen.Mark) {
	f, err := plainfile.Open(s.WorkerFile(w.ID, marksFile), os.O_RDONLY)
	if err == nil {
		defer f.Close()
		text, _ := io.ReadAll(io.LimitReader(f, maxMarks*128)) // what could be read counts
		for line := range bytes.Lines(text) {
			var m screen.Mark
			if json.Unmarshal(line, &m) == nil && len(list) < maxMarks {
				list = append(list, m)
			}
		}
	}
	if len(list) == 0 && w.Options.Interactive { // of an earlier version
		list = []screen.Mark{{Rows: screen.DefaultRows, Columns: screen.DefaultColumns}}
	}
	return list
}
