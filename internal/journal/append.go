package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"cordon/internal/plainfile"
)

// Append records an event. When it returns without an error the event is
// durable and the caller may act on it. With an error the event is not in the
// journal, unless the error says that the journal could not be cut back.
//
// The data is encoded as a JSON object; nil is none.
func (j *Journal) Append(worker, typ string, data any) (Event, error) {
	return j.AppendIf(worker, typ, data, nil, nil)
}

// AppendIf is Append on a condition: when check is called, the fold of the view has every
// event so far, and nobody appends another before check has decided. Its error is
// returned as it is. It must not append, and not use the view. Without a view and a
// condition it is Append.
func (j *Journal) AppendIf(worker, typ string, data any, view *View, check func() error) (Event, error) {
	e, err := draft(worker, typ, data)
	switch {
	case err != nil:
		return Event{}, fmt.Errorf("journal: %w", err)
	case len(e.Data) > MaxData:
		return Event{}, fmt.Errorf("journal: an event has %d bytes of data; at most %d are allowed", len(e.Data), MaxData)
	case strings.HasPrefix(typ, "journal."):
		return Event{}, fmt.Errorf("journal: type %q is reserved for the journal itself", typ)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	release, err := lock(j.dir, syscall.LOCK_EX)
	if err != nil {
		return Event{}, fmt.Errorf("journal: %w", err)
	}
	defer release()

	if view != nil {
		view.mu.Lock()
		defer view.mu.Unlock()
	}
	t, err := j.openTail(view)
	if err != nil {
		return Event{}, err
	}
	defer t.close()
	if err := t.repair(); err != nil {
		return Event{}, fmt.Errorf("journal: repair the torn end: %w", err)
	}
	if check != nil {
		if err := check(); err != nil {
			return Event{}, err
		}
	}
	e, err = t.add(e, t.write)
	if err != nil {
		return Event{}, fmt.Errorf("journal: record %s: %w", typ, err)
	}
	if view != nil {
		view.save()
	}
	return e, nil
}

// A tail is the end of the journal in the hands of the one who holds the lock.
type tail struct {
	j        *Journal
	f        *os.File // nil as long as there is no file of events
	anchored bool     // there is a head
	at       position
	torn     []byte // what follows at
	view     *View  // nil: nobody folds
}

// openTail verifies what this process has not verified before, and returns the end of it.
// A view is brought there too.
func (j *Journal) openTail(view *View) (*tail, error) {
	anchors, problem, err := readHead(j.dir)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	f, size, err := openEvents(j.dir, os.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	t := &tail{j: j, f: f, anchored: anchors != nil, view: view}
	if f != nil && anchors == nil && problem == nil {
		problem = headMissing()
	}
	if problem != nil {
		t.close()
		return nil, damaged(j.dir, problem)
	}
	if err := t.catchUp(anchors, size); err != nil {
		t.close()
		if _, ok := errors.AsType[*Corruption](err); ok {
			return nil, damaged(j.dir, err)
		}
		return nil, fmt.Errorf("journal: %w", err)
	}
	return t, nil
}

func (t *tail) catchUp(anchors []anchor, size int64) error {
	from, err := t.known(anchors, size)
	if err != nil {
		return err
	}
	anchors = append(anchors, anchor{t.j.seen, "what this process has read before"})
	if t.view != nil {
		t.at, t.torn, err = t.view.catchUp(t.f, size, anchors, false)
		if _, corrupt := errors.AsType[*Corruption](err); corrupt { // say where from the start
			t.at, t.torn, err = t.view.catchUp(t.f, size, anchors, true)
		}
	} else {
		var r io.Reader = eof{}
		if t.f != nil {
			r = io.NewSectionReader(t.f, from.length, size-from.length)
		}
		t.at, t.torn, err = scan(r, from, anchors, func(Event) {})
	}
	if err == nil {
		t.remember()
	}
	return err
}

// known returns the position up to which the file need not be read again: what this
// process has read, or the checkpoint, or the start if the file is another one than
// before, is shorter, or has a head that disagrees, so that a full reading says where.
func (t *tail) known(anchors []anchor, size int64) (position, error) {
	seen := t.j.seen
	if t.f == nil || t.view != nil {
		return start(), nil
	}
	if t.j.seenFile == nil {
		if c, _, err := readCheckpoint(t.j.dir, t.f, size, anchors); err == nil {
			return c.position(), nil
		}
		return start(), nil
	}
	if size < seen.length {
		return start(), nil
	}
	if _, bad := contradicted(seen, anchors); bad {
		return start(), nil
	}
	info, err := t.f.Stat()
	if err != nil || !os.SameFile(info, t.j.seenFile) {
		return start(), err
	}
	return seen, nil
}

// told has the view fold an event that was appended.
func (t *tail) told(e Event, next position) error {
	if t.view == nil {
		return nil
	}
	t.view.apply(e, next)
	return t.view.err
}

// remember notes in the Journal, and in the view, how far it has been verified. If the
// file cannot be named, the next append verifies it all.
func (t *tail) remember() {
	if t.f == nil {
		return
	}
	t.j.seen = t.at
	t.j.seenFile, _ = t.f.Stat()
	if t.view != nil {
		t.view.file = t.j.seenFile
	}
}

func (t *tail) close() {
	if t.f != nil {
		t.f.Close()
	}
}

// repair deals with a torn end: it completes a line that is whole but for its
// newline, and otherwise preserves the bytes in an event that replaces them.
func (t *tail) repair() error {
	if len(t.torn) == 0 {
		return nil
	}
	if e, next, err := t.at.next(append(t.torn[:len(t.torn):len(t.torn)], '\n')); err == nil {
		if _, err := t.f.WriteAt([]byte("\n"), next.length-1); err != nil {
			return err
		}
		if err := t.f.Sync(); err != nil {
			return err
		}
		t.at, t.torn = next, nil
		t.remember()
		return t.told(e, next)
	}
	e, err := draft("", Repaired, Repair{Offset: t.at.length, Torn: t.torn})
	if err != nil {
		return err
	}
	if _, err := t.add(e, t.rewrite); err != nil {
		return err
	}
	t.torn = nil
	return nil
}

// add gives e its place at the end, has put bring its line and the head to
// the disk, and tells the observers.
func (t *tail) add(e Event, put func([]byte, position) error) (Event, error) {
	e.Seq, e.Time, e.Prev = t.at.seq+1, now(), t.at.prev
	line := e.encode()
	e, next, err := t.at.next(line)
	if err != nil || len(line) > MaxLine {
		return Event{}, errors.Join(errors.New("the event does not survive its own encoding"), err)
	}
	t.j.tell(Before, e)
	if err := put(line, next); err != nil {
		return Event{}, err
	}
	if err := syncDir(t.j.dir); err != nil {
		return Event{}, fmt.Errorf("the event is written but may not be durable, and could not be removed: %w", err)
	}
	t.at = next
	t.remember()
	t.j.tell(After, e)
	if err := t.told(e, next); err != nil {
		return Event{}, fmt.Errorf("the event is recorded but cannot be folded: %w", err)
	}
	return e, nil
}

func (j *Journal) tell(m Moment, e Event) {
	for _, observe := range j.watchers {
		e := e
		e.Data = append(json.RawMessage(nil), e.Data...)
		observe(m, e)
	}
}

// write appends a line to a file that has no torn end, and moves the head. It
// does both or neither.
func (t *tail) write(line []byte, next position) error {
	if err := t.create(); err != nil {
		return err
	}
	_, err := t.f.WriteAt(line, t.at.length)
	if err == nil {
		err = t.f.Sync()
	}
	if err == nil {
		err = writeHead(t.j.dir, next)
	}
	if err != nil {
		return errors.Join(err, t.cutBack())
	}
	return nil
}

func (t *tail) cutBack() error {
	err := t.f.Truncate(t.at.length)
	if err == nil {
		err = t.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("the journal could not be cut back to byte %d: %w", t.at.length, err)
	}
	return nil
}

// create makes the head of an empty journal, then the file of events, each
// durable before the next step, where they are not there yet.
func (t *tail) create() error {
	if t.f != nil {
		return nil
	}
	if !t.anchored {
		if err := writeHead(t.j.dir, start()); err != nil {
			return err
		}
		if err := syncDir(t.j.dir); err != nil {
			return err
		}
	}
	f, err := plainfile.Open(filepath.Join(t.j.dir, File), os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	t.f = f
	return syncDir(t.j.dir)
}

// rewrite puts a line in the place of the torn end, by renaming: the old end
// is there until the new one is. The head may stay behind if it cannot be
// written, as after a crash.
func (t *tail) rewrite(line []byte, next position) error {
	f, err := replace(filepath.Join(t.j.dir, File), func(w io.Writer) error {
		if _, err := io.Copy(w, io.NewSectionReader(t.f, 0, t.at.length)); err != nil {
			return err
		}
		_, err := w.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	t.f.Close()
	t.f = f
	if err := syncDir(t.j.dir); err != nil {
		return err
	}
	return writeHead(t.j.dir, next)
}
