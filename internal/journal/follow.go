package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// A Mark names an event, as somebody who goes on after it remembers it. The zero value is
// before the first event. Without a hash, the number alone is believed.
type Mark struct {
	Seq  uint64
	Hash string
}

// ErrReplaced says that a journal does not have what a follower has read of it: it was
// repaired or replaced. Whoever followed it has to begin anew.
var ErrReplaced = errors.New("the journal does not continue what was read of it before: it was repaired or replaced")

// A Follower reads a journal from an event on, whoever appends to it. It reads nothing twice
// as long as the file stays, and returns only events that the head vouches for: none of them
// is ever taken back. After an error it stays where it is. It is for one goroutine.
type Follower struct {
	j       *Journal
	ctx     context.Context
	changes <-chan struct{} // nil: the system tells nothing
	after   Mark            // the last event that was returned
	at      position        // its end
	file    os.FileInfo     // in which file; nil: nothing was read
}

// Follow begins after a mark. It ends with ctx.
func (j *Journal) Follow(ctx context.Context, after Mark) *Follower {
	changes, err := Changes(ctx, j.dir)
	if err != nil {
		changes = nil // too many watch already; it is looked at now and then
	}
	return &Follower{j: j, ctx: ctx, changes: changes, after: after, at: start()}
}

// Tail begins at the first event, for one that asks with More and never waits.
func (j *Journal) Tail() *Follower {
	return &Follower{j: j, ctx: context.Background(), at: start()}
}

// lookEvery is how often a follower looks at the journal unasked: not every file system
// tells of changes.
const lookEvery = time.Second

// Next waits for events after those that were returned before, and returns all there are.
func (f *Follower) Next() ([]Event, error) {
	for {
		list, err := f.More()
		if err != nil || len(list) > 0 {
			return list, err
		}
		select {
		case <-f.ctx.Done():
			return nil, f.ctx.Err()
		case _, open := <-f.changes:
			if !open {
				f.changes = nil
			}
		case <-time.After(lookEvery):
		}
	}
}

// More is Next without waiting: there may be none.
func (f *Follower) More() ([]Event, error) {
	list, err := f.look(false)
	if _, doubtful := errors.AsType[*Corruption](err); doubtful {
		// It may have met an append half way, or begun after the damage.
		release, lerr := lock(f.j.dir, syscall.LOCK_SH)
		switch {
		case lerr == nil:
			defer release()
		case !errors.Is(lerr, fs.ErrNotExist):
			return nil, fmt.Errorf("journal: %w", lerr)
		}
		list, err = f.look(true)
	}
	if _, corrupt := errors.AsType[*Corruption](err); corrupt {
		return nil, damaged(f.j.dir, err)
	}
	return list, err
}

// look reads the journal once, the head first: what that vouches for was in the file before.
func (f *Follower) look(all bool) ([]Event, error) {
	anchors, problem, err := readHead(f.j.dir)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	file, size, err := openEvents(f.j.dir, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if file == nil {
		if problem != nil || f.after.Seq == 0 && len(anchors) == 0 {
			return nil, asError(problem)
		}
		_, _, err := scan(eof{}, start(), anchors, func(Event) {})
		if err == nil && f.after.Seq > 0 {
			err = ErrReplaced
		}
		return nil, err
	}
	defer file.Close()
	if anchors == nil && problem == nil {
		problem = headMissing()
	}
	if problem != nil {
		return nil, problem
	}
	return f.read(file, size, anchors, all)
}

func asError(c *Corruption) error {
	if c == nil {
		return nil
	}
	return c
}

// read verifies the file from where it was left, or from its start where that is another
// file or all is asked for, and returns what comes after the mark.
func (f *Follower) read(file *os.File, size int64, anchors []anchor, all bool) ([]Event, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	from := f.at
	if _, bad := contradicted(from, anchors); bad || all || f.file == nil || !os.SameFile(info, f.file) || size < from.length {
		from = start()
	}
	var list []Event
	reached, other := from, false
	end, _, err := walk(io.NewSectionReader(file, from.length, size-from.length), from, anchors, func(e Event, next position) {
		if e.Seq > anchors[0].seq { // the head comes first among the anchors
			return
		}
		reached = next
		switch {
		case e.Seq > f.after.Seq:
			list = append(list, e)
		case e.Seq == f.after.Seq && f.after.Hash != "" && f.after.Hash != e.Hash:
			other = true
		}
	})
	switch {
	case err != nil:
		return nil, err
	case other, end.seq < f.after.Seq:
		return nil, ErrReplaced
	case reached.seq < f.after.Seq: // the mark was of somebody who does not wait for the head
		return nil, nil
	}
	f.at, f.file, f.after = reached, info, Mark{reached.seq, reached.hash}
	return list, nil
}
