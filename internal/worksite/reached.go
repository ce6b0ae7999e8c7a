package worksite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"cordon/internal/egress/record"
	"cordon/internal/fault"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
)

// netFile is where it is written down what a worker tried to reach, of all its
// launches.
const netFile = "net"

// OpenNet opens it to add to it. A line that was never finished, because cordon was
// killed, is ended first.
func (s *Site) OpenNet(id lease.ID) (*os.File, error) {
	if err := os.MkdirAll(s.State.Worker(string(id)), 0o700); err != nil {
		return nil, err
	}
	f, err := plainfile.Open(s.WorkerFile(id, netFile), os.O_RDWR|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return nil, err
	}
	if err := endLine(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func endLine(f *os.File) error {
	fi, err := f.Stat()
	if err != nil || fi.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, fi.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.Write([]byte("\n"))
	return err
}

// Reached calls each with what a worker tried to reach, oldest first.
func (s *Site) Reached(w *ledger.Worker, each func(record.Record)) (record.Tally, error) {
	f, err := plainfile.Open(s.WorkerFile(w.ID, netFile), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return record.Tally{}, nil
	}
	if err != nil {
		return record.Tally{}, err
	}
	defer f.Close()
	sum := sha256.New()
	t, err := record.Read(io.TeeReader(f, sum), each) // reads to the end
	if err == nil {
		t.Digest = hex.EncodeToString(sum.Sum(nil))
	}
	return t, err
}

// Altered reports whether the file of what a worker tried to reach is not the one that
// the journal has. While somebody works on the worker it grows, and a journal from
// before there were digests cannot tell.
func (s *Site) Altered(ctx context.Context, w *ledger.Worker, t record.Tally) (bool, error) {
	if w.Net == nil || w.Net.Digest == "" || w.Net.Digest == t.Digest {
		return false, nil
	}
	f, err := s.Facts(ctx, w)
	return err == nil && !f.Held, err
}

// TallyNetwork records what a worker has tried to reach, if that is more than the
// journal says. A record that cannot be read is no reason to lose the worker's end.
func (s *Site) TallyNetwork(w *ledger.Worker) error {
	t, err := s.Reached(w, nil)
	if err != nil {
		s.Voice.Step(w.ID, "network", "what it tried to reach cannot be read: "+fault.OneLine(err))
		return nil
	}
	if w.Net != nil && SameTally(t, *w.Net) && t.Digest == w.Net.Digest || w.Net == nil && SameTally(t, record.Tally{}) {
		return nil
	}
	s.Voice.Step(w.ID, "network", Summed(t))
	return s.Append(w.ID, ledger.Reached, t.Top(maxTried))
}

// maxTried is how much the journal says one by one; the record has all of it.
const maxTried = 20

// Summed is what a worker tried to reach, in half a line.
func Summed(t record.Tally) string {
	text := fmt.Sprintf("%d allowed, %d refused", t.Allowed, t.Refused)
	if t.Failed > 0 {
		text += fmt.Sprintf(", %d failed", t.Failed)
	}
	switch {
	case t.Resolved > 0 && t.Allowed+t.Failed > 0:
		text += fmt.Sprintf(", %s looked up", Count(t.Resolved, "other name"))
	case t.Resolved > 0:
		text += fmt.Sprintf(", %s looked up", Count(t.Resolved, "name"))
	}
	if t.Damaged > 0 {
		text += fmt.Sprintf("; %s of the record cannot be read", Count(t.Damaged, "line"))
	}
	return text
}

// SameTally compares what only grows.
func SameTally(a, b record.Tally) bool {
	return a.Allowed == b.Allowed && a.Resolved == b.Resolved && a.Refused == b.Refused && a.Failed == b.Failed && a.Sent == b.Sent && a.Received == b.Received
}
