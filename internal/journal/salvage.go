package journal

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"cordon/internal/plainfile"
)

// Salvaged is the type of the event that follows the sound part of a journal that was
// damaged; its data is a [Salvage].
const Salvaged = "journal.salvaged"

// A Salvage says what an operator had done about a damaged journal.
type Salvage struct {
	Who     string  `json:"who"`
	Problem string  `json:"problem"`
	Kept    uint64  `json:"kept"`            // events before this one
	Aside   []Aside `json:"aside,omitempty"` // the damaged files, as they were
	// Suspended are workers of the sound part whose later events may be lost.
	Suspended []string `json:"suspended,omitempty"`
}

// Aside is a damaged file that was kept as evidence.
type Aside struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Remains is what can be read of a journal, sound or not.
type Remains struct {
	Report
	Sound []Event // up to the damage
	// Loose are lines after the damage that are sound in themselves. Nothing says
	// that they followed each other, or that nothing is missing between them: they
	// are hints, never decisions.
	Loose []Event
}

// Inspect reads a journal as far as it can be read. It changes nothing.
func Inspect(dir string) (Remains, error) {
	var r Remains
	var err error
	doubtful := func(r Report) bool { return r.Problem != nil }
	if r.Report, err = settled(dir, doubtful, &r.Sound); err != nil {
		return Remains{}, fmt.Errorf("journal: %w", err)
	}
	if r.Problem == nil {
		return r, nil
	}
	f, _, err := openEvents(dir, os.O_RDONLY)
	if err != nil || f == nil {
		return r, err
	}
	defer f.Close()
	br := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := readLine(br)
		if errors.Is(err, errLong) {
			continue
		}
		if err != nil {
			return r, nil
		}
		if e, derr := decode(line); derr == nil && e.Seq > uint64(len(r.Sound)) {
			r.Loose = append(r.Loose, e)
		}
	}
}

// Repair keeps the sound part of a damaged journal and sets the damaged files aside.
// It refuses unless the journal is what the operator was shown: as many sound events,
// and the same problem. A journal without damage stays as it is.
func (j *Journal) Repair(shown Report, who string, suspended []string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	release, err := lock(j.dir, syscall.LOCK_EX)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer release()
	var sound []Event
	now, err := read(j.dir, &sound)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	if now.Problem == nil || shown.Problem == nil || now.Events != shown.Events || *now.Problem != *shown.Problem {
		return errors.New("the journal changed in the meantime: try again")
	}
	s := Salvage{Who: who, Problem: now.Problem.Error(), Kept: uint64(now.Events), Suspended: suspended}
	if s.Aside, err = setAside(j.dir); err != nil {
		return fmt.Errorf("journal: set the damaged files aside: %w", err)
	}
	// A checkpoint speaks of the journal as it was.
	if err := os.Remove(filepath.Join(j.dir, CheckpointFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("journal: %w", err)
	}
	if err := j.rebuild(sound, s); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.seen, j.seenFile = start(), nil
	return nil
}

// setAside gives the damaged files names of their own beside the old ones, which are
// replaced later: whatever interrupts the repair, the evidence is there.
func setAside(dir string) ([]Aside, error) {
	var list []Aside
	for _, name := range []string{File, HeadFile} {
		f, err := plainfile.Open(filepath.Join(dir, name), os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		h := sha256.New()
		size, err := io.Copy(h, f)
		f.Close()
		if err != nil {
			return nil, err
		}
		a := Aside{Size: size, SHA256: hex.EncodeToString(h.Sum(nil))}
		a.Name = fmt.Sprintf("%s.damaged-%.12s", name, a.SHA256)
		if err := os.Link(filepath.Join(dir, name), filepath.Join(dir, a.Name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		list = append(list, a)
	}
	return list, syncDir(dir)
}

// rebuild writes the sound events and the record of the repair as the journal. Until
// its head is written too, the journal counts as damaged, and the repair is repeated.
func (j *Journal) rebuild(sound []Event, s Salvage) error {
	e, err := draft("", Salvaged, s)
	if err != nil {
		return err
	}
	at := start()
	f, err := replace(filepath.Join(j.dir, File), func(w io.Writer) error {
		for _, old := range sound {
			line := old.encode()
			if _, at, err = at.next(line); err != nil {
				return err
			}
			if _, err := w.Write(line); err != nil {
				return err
			}
		}
		e.Seq, e.Time, e.Prev = at.seq+1, now(), at.prev
		line := e.encode()
		if e, at, err = at.next(line); err != nil {
			return err
		}
		_, err := w.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	f.Close()
	if err := errors.Join(syncDir(j.dir), writeHead(j.dir, at), syncDir(j.dir)); err != nil {
		return err
	}
	j.tell(After, e)
	return nil
}
