package worksite

import (
	"bytes"
	"io"
	"os"
	"strings"

	"cordon/internal/guard"
	"cordon/internal/lease"
	"cordon/internal/plainfile"
	"cordon/internal/screen"
)

// recentBytes is how much of the end of a file is read to see what a worker does now.
const recentBytes = 16 << 10

// recent is the end of a file that is kept of a worker, from the beginning of a line on.
func (s *Site) recent(id lease.ID, name string) []byte {
	f, err := plainfile.Open(s.WorkerFile(id, name), os.O_RDONLY)
	if err != nil {
		return nil
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(0, fi.Size()-recentBytes)
	text, _ := io.ReadAll(io.NewSectionReader(f, from, recentBytes)) // what could be read is shown
	if _, rest, cut := bytes.Cut(text, []byte("\n")); cut && from > 0 {
		text = rest
	}
	return text
}

// LastDecision calls each with the last decisions of a worker's guard, oldest first.
func (s *Site) LastDecision(id lease.ID, each func(guard.Record)) {
	_, _ = guard.ReadRecords(bytes.NewReader(s.recent(id, DecisionsFile)), each) // nothing depends on it
}

// LastLine is the last line that a worker printed.
func (s *Site) LastLine(id lease.ID) string {
	text := s.recent(id, "transcript")
	lines := strings.Split(string(text), "\n")
	if bytes.Contains(text, []byte("\x1b[")) {
		lines = drawnLines(text)
	}
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return line
		}
	}
	return ""
}

// drawnLines are the lines that the end of an output left on a screen. Its size is not
// known: it is as large as one may be.
func drawnLines(text []byte) []string {
	drawn := screen.New(1<<10, 1<<10)
	_, _ = drawn.Write(bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))) // it takes everything
	return drawn.Lines()
}
