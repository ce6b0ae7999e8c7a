package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"cordon/internal/plainfile"
)

// A Journal appends to and reads the journal of one directory. It is safe for
// use by several goroutines, beside other processes with the same journal.
type Journal struct {
	dir string

	mu       sync.Mutex // held during an append
	watchers []func(Moment, Event)

	// What this process has verified, and in which file. Later appends
	// verify only what came after it.
	seen     position
	seenFile os.FileInfo // nil before the first append
}

// A Moment is a point in an append at which observers are called.
type Moment int

const (
	Before Moment = iota + 1 // the event is complete, nothing of it is written
	After                    // the event is durable
)

func (m Moment) String() string {
	switch m {
	case Before:
		return "before"
	case After:
		return "after"
	}
	return fmt.Sprintf("Moment(%d)", int(m))
}

// Open returns the journal of dir, which must exist. It creates nothing: the
// first append does.
func Open(dir string) (*Journal, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if err := checkDir(dir); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return &Journal{dir: dir, seen: start()}, nil
}

func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", dir)
	}
	return err
}

// Watch adds an observer of this Journal's appends, repairs included. It is
// called with the lock held: it must not append, and should be quick.
func (j *Journal) Watch(observe func(Moment, Event)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.watchers = append(j.watchers, observe)
}

// Events returns every event, the whole chain verified. It changes nothing, needs
// no permission to write and leaves out what a running or crashed append has
// not completed. Damage is an error that wraps a [Corruption], without events.
func (j *Journal) Events() ([]Event, error) {
	var all []Event
	report, err := settled(j.dir, func(r Report) bool { return r.Problem != nil }, &all)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	if report.Problem != nil {
		return nil, damaged(j.dir, report.Problem)
	}
	return all, nil
}

// damaged is the refusal to go on with a journal that cannot be believed.
func damaged(dir string, err error) error {
	return fmt.Errorf("journal in %s is damaged: %w (cordon journal repair keeps what is sound and shows what is lost)", dir, err)
}

// A Report is what Verify found.
type Report struct {
	Events  int         // sound events, up to the problem if there is one
	Head    string      // Event.Hash of the last of them; of the format's name when there is none
	Torn    bool        // an append died in the middle; the next one repairs it
	Problem *Corruption // nil if the journal is sound
}

// Verify checks the journal of dir from its first byte to its last. An error
// means that it could not be read; damage is in the report.
func Verify(dir string) (Report, error) {
	doubtful := func(r Report) bool { return r.Problem != nil || r.Torn }
	report, err := settled(dir, doubtful, nil)
	if err != nil {
		return Report{}, fmt.Errorf("journal: %w", err)
	}
	return report, nil
}

// settled reads the journal without the lock, so that an append that hangs
// keeps nobody from reading, and a second time with the lock if the first
// reading is doubtful: it may have met an append half way.
func settled(dir string, doubtful func(Report) bool, all *[]Event) (Report, error) {
	report, err := read(dir, all)
	if err != nil || !doubtful(report) {
		return report, err
	}
	release, err := lock(dir, syscall.LOCK_SH)
	switch {
	case err == nil:
		defer release()
	case !errors.Is(err, fs.ErrNotExist):
		return Report{}, err
	}
	return read(dir, all)
}

// read verifies the journal once, and collects its events in all if not nil.
// It reads the head first: what that vouches for was in the file before.
func read(dir string, all *[]Event) (Report, error) {
	visit := func(Event) {}
	if all != nil {
		*all = nil
		visit = func(e Event) { *all = append(*all, e) }
	}
	anchors, problem, err := readHead(dir)
	if err != nil {
		return Report{}, err
	}
	f, size, err := openEvents(dir, os.O_RDONLY)
	if err != nil {
		return Report{}, err
	}
	var r io.Reader = eof{}
	if f != nil {
		defer f.Close()
		r = io.LimitReader(f, size)
		if anchors == nil && problem == nil {
			problem = headMissing()
		}
	}
	p, torn, err := scan(r, start(), anchors, visit)
	if c, ok := errors.AsType[*Corruption](err); ok {
		problem, err = c, nil
	}
	return Report{Events: int(p.seq), Head: p.hash, Torn: len(torn) > 0, Problem: problem}, err
}

func headMissing() *Corruption {
	return &Corruption{Problem: HeadFile + " is missing: cordon cannot tell where the journal ends"}
}

// openEvents opens the file of events and returns its size, or nil if there is
// none in a directory that is there.
func openEvents(dir string, flag int) (*os.File, int64, error) {
	f, err := plainfile.Open(filepath.Join(dir, File), flag)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, checkDir(dir)
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// eof is an empty file.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }
