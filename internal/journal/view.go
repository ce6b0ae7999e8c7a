package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"syscall"
)

// A Fold is what somebody makes of the events, one after the other.
type Fold interface {
	// Apply takes the next event. After an error the fold is begun anew.
	Apply(Event) error
	// Wants reports whether the events of a worker, of this type, still matter. Once they do
	// not, they never do again, and what is left of them is in the memo.
	Wants(worker, typ string) bool
	// Memo is a JSON object that holds what the fold remembers of all events that it does
	// not want. Restore begins anew from it; nil is from nothing.
	Memo() ([]byte, error)
	Restore(memo []byte) error
}

// A View keeps a fold of a journal up to date. It is safe for use by several goroutines.
type View struct {
	j    *Journal
	name string
	fold Fold

	mu    sync.Mutex
	at    position    // what the fold has seen
	file  os.FileInfo // in which file; nil: nothing yet
	start int64       // where the last line before at begins
	kept  []keptLine  // of the workers that were wanted, up to at
	saved uint64      // the event at which the last checkpoint was written or found
	err   error       // of the fold
	read  int         // events that were read so far, for tests
}

// View returns a view for a fold. The name says what the fold does, with its version: a
// checkpoint that was made under another name is not used. A view without a name makes no
// checkpoints: there is one for each journal, and it belongs to the fold that most commands use.
func (j *Journal) View(name string, fold Fold) *View { return &View{j: j, name: name, fold: fold} }

// Refresh reads what the view has not seen yet: from the checkpoint on at first, and then
// from where it was. Use, which may be nil, is called while the fold does not change.
func (v *View) Refresh(use func()) error { return v.refresh(use, false) }

// Verify is Refresh from the first event on, whatever was seen before: the whole chain is
// verified and folded again.
func (v *View) Verify(use func()) error { return v.refresh(use, true) }

func (v *View) refresh(use func(), all bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	err := v.look(all)
	if _, doubtful := errors.AsType[*Corruption](err); doubtful {
		// It may have met an append half way, or begun after the damage.
		release, lerr := lock(v.j.dir, syscall.LOCK_SH)
		switch {
		case lerr == nil:
			defer release()
		case !errors.Is(lerr, fs.ErrNotExist):
			return fmt.Errorf("journal: %w", lerr)
		}
		err = v.look(true)
	}
	if _, corrupt := errors.AsType[*Corruption](err); corrupt {
		return damaged(v.j.dir, err)
	}
	if err == nil && use != nil {
		use()
	}
	return err
}

// look reads the journal once. It reads the head first: what that vouches for was in the
// file before.
func (v *View) look(all bool) error {
	anchors, problem, err := readHead(v.j.dir)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	f, size, err := openEvents(v.j.dir, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if f != nil {
		defer f.Close()
		if anchors == nil && problem == nil {
			problem = headMissing()
		}
	}
	if problem != nil {
		return problem
	}
	_, _, err = v.catchUp(f, size, anchors, all)
	return err
}

// catchUp verifies and folds what the view has not seen of f, and returns the end.
func (v *View) catchUp(f *os.File, size int64, anchors []anchor, all bool) (position, []byte, error) {
	if err := v.begin(f, size, anchors, all); err != nil {
		return position{}, nil, err
	}
	var r io.Reader = eof{}
	if f != nil {
		r = io.NewSectionReader(f, v.at.length, size-v.at.length)
	}
	at, torn, err := walk(r, v.at, anchors, v.apply)
	if err == nil {
		err = v.err
	}
	if err != nil {
		v.file = nil
		return position{}, nil, err
	}
	if f != nil {
		v.file, err = f.Stat()
	}
	return at, torn, err
}

// begin leaves the view where it is if the file goes on from there, and otherwise at the
// checkpoint, or at the start.
func (v *View) begin(f *os.File, size int64, anchors []anchor, all bool) error {
	if !all && f != nil && v.file != nil && size >= v.at.length {
		info, err := f.Stat()
		_, bad := contradicted(v.at, anchors)
		if err == nil && os.SameFile(info, v.file) && !bad {
			return nil
		}
	}
	if !all && f != nil && v.restore(f, size, anchors) == nil {
		return nil
	}
	v.reset()
	return v.fold.Restore(nil)
}

func (v *View) reset() {
	v.at, v.file, v.start, v.kept, v.saved, v.err = start(), nil, 0, nil, 0, nil
}

// restore begins at the checkpoint. The events that it names are read from the journal,
// and must have the hashes that it gives.
func (v *View) restore(f *os.File, size int64, anchors []anchor) error {
	c, dec, err := readCheckpoint(v.j.dir, f, size, anchors)
	if err != nil || v.name == "" || c.Fold != v.name {
		return errStale
	}
	var body checkpointBody
	if err := dec.Decode(&body); err != nil {
		return err
	}
	v.reset()
	if err := v.fold.Restore(body.Memo); err != nil {
		return err
	}
	last := uint64(0)
	for _, k := range body.Lines {
		_, e, err := readLineAt(f, k.Start, int64(k.Length))
		if err != nil || e.Seq != k.Seq || e.Worker != k.Worker || e.Type != k.Type || e.Hash != k.Hash || e.Seq <= last || e.Seq > c.Seq {
			return errStale
		}
		last = e.Seq
		v.read++
		if err := v.fold.Apply(e); err != nil {
			return err
		}
	}
	v.at, v.start, v.kept, v.saved = c.position(), c.Start, body.Lines, c.Seq
	return nil
}

// apply folds the event that ends at a position.
func (v *View) apply(e Event, next position) {
	v.read++
	if v.err == nil {
		v.err = v.fold.Apply(e)
	}
	v.start = v.at.length
	if v.fold.Wants(e.Worker, e.Type) {
		v.kept = append(v.kept, keptLine{e.Worker, e.Type, e.Seq, v.start, int(next.length - v.start), e.Hash})
	}
	v.at = next
}

// save writes a checkpoint when enough has happened since the last one.
func (v *View) save() {
	if v.name == "" || v.at.seq < v.saved+checkpointEvery || v.err != nil {
		return
	}
	memo, err := v.fold.Memo()
	if err != nil {
		return
	}
	kept := []keptLine{}
	for _, k := range v.kept {
		if v.fold.Wants(k.Worker, k.Type) {
			kept = append(kept, k)
		}
	}
	v.kept, v.saved = kept, v.at.seq
	c := checkpoint{Fold: v.name, Seq: v.at.seq, Start: v.start, Length: v.at.length, Head: v.at.hash, Prev: v.at.prev}
	writeCheckpoint(v.j.dir, c, checkpointBody{memo, kept})
}
