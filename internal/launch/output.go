package launch

import (
	"io"
	"sync"
)

// output is where a worker's standard output and error go. Both are the same writer, and
// so one pipe that keeps their order, unless the operator reads them at two places.
type output struct{ out, err io.Writer }

// newOutput keeps both in the transcript.
func newOutput(transcript io.Writer, how Request) output {
	if how.Stdout == nil {
		both := io.MultiWriter(transcript, how.Output)
		return output{out: both, err: both}
	}
	kept := &shared{to: transcript}
	return output{out: io.MultiWriter(kept, how.Stdout), err: io.MultiWriter(kept, how.Output)}
}

// shared lets two write to one.
type shared struct {
	mu sync.Mutex
	to io.Writer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Write(p)
}
