package worksite

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
)

// AppendTranscript is where a worker's output is kept.
func (s *Site) AppendTranscript(id lease.ID) (*os.File, error) {
	if err := os.MkdirAll(s.State.Worker(string(id)), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(s.WorkerFile(id, "transcript"), os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
}

// TranscriptRoom is what one launch may fill of the transcript: it is on the
// operator's disk, and no limit of the worker's counts it.
const TranscriptRoom = 256 << 20

// Bounded takes everything and keeps the beginning.
type Bounded struct {
	To   io.Writer
	Room int // below 0: it was cut
}

func (b *Bounded) Write(p []byte) (int, error) {
	if b.Room < 0 {
		return len(p), nil
	}
	keep := p[:min(len(p), b.Room)]
	if _, err := b.To.Write(keep); err != nil {
		return 0, err
	}
	if b.Room -= len(keep); len(keep) == len(p) {
		return len(p), nil
	}
	b.Room = -1
	_, err := io.WriteString(b.To, "\n[the transcript is cut here]\n")
	return len(p), err
}

// Unheeded writes to somebody who may have stopped reading. Setup and acceptance go on: they
// are not the worker's, and their end decides what becomes of it.
type Unheeded struct{ To io.Writer }

func (u Unheeded) Write(p []byte) (int, error) {
	_, _ = u.To.Write(p) // the transcript has it
	return len(p), nil
}

// StreamFile is what an agent client printed about its own work, as it printed it.
const StreamFile = "stream"

// StreamFile opens the stream of a worker's client. A worker that was no agent
// client, or an interactive one, has none.
func (s *Site) StreamFile(w *ledger.Worker) (*os.File, error) {
	return plainfile.Open(s.WorkerFile(w.ID, StreamFile), os.O_RDONLY)
}

// Transcript opens what a worker printed.
func (s *Site) Transcript(w *ledger.Worker) (*os.File, error) {
	return os.Open(s.WorkerFile(w.ID, "transcript"))
}
