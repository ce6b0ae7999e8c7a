package protocol

import (
	"io"
	"sync"
	"time"
)

// Verdict is what a server made of a client's wish for another protocol.
type Verdict struct {
	once     sync.Once
	told     chan struct{}
	switched bool // read after told
}

// Tell ends the waiting for a verdict. Only the first one counts.
func (v *Verdict) Tell(switched bool) {
	v.once.Do(func() { v.switched = switched; close(v.told) })
}

// now is the verdict, if there is one already.
func (v *Verdict) now() (switched, known bool) {
	select {
	case <-v.told:
		return v.switched, true
	default:
		return false, false
	}
}

func (v *Verdict) wait(patience time.Duration) (bool, error) {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-v.told:
		return v.switched, nil
	case <-t.C:
		return false, Strangef("the request asked for another protocol, and the client went on before the server had answered")
	}
}

// answers is what the server says: it is passed on as it is, and looked at until
// the first request has its answer.
type answers struct {
	r       io.Reader
	verdict *Verdict
	status  statusScan
	done    bool
}

// Answers wraps what the server sends.
func (q *Requests) Answers(r io.Reader) io.Reader {
	return &answers{r: r, verdict: &q.Verdict}
}

// Read reads what the server says.
func (a *answers) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	if a.done {
		return n, err
	}
	for _, c := range p[:n] {
		if a.status.step(c) {
			a.finish(a.status.switches())
			return n, err
		}
	}
	if err != nil {
		a.finish(false)
	}
	return n, err
}

func (a *answers) finish(switched bool) {
	a.done = true
	a.verdict.Tell(switched)
}

// Settled is what to read from on, once nothing has to be looked at any more.
func (a *answers) Settled() io.Reader {
	if !a.done {
		return nil
	}
	return a.r
}

// statusScan finds the first status that is not an interim one, and is lenient:
// whatever it cannot read is no switch of protocols.
type statusScan struct {
	line [len("HTTP/1.1 101 ")]byte // the beginning of the status line
	n    int                        // of it
	skip bool                       // an interim answer's fields
	some bool                       // the line has something in it
}

// step takes a byte, and reports whether the status is known.
func (s *statusScan) step(c byte) bool {
	if s.skip {
		s.skipped(c)
		return false
	}
	s.line[s.n] = c
	s.n++
	if s.n < len(s.line) && c != '\n' {
		return false
	}
	if !s.interim() {
		return true
	}
	*s = statusScan{skip: true, some: c != '\n'}
	return false
}

// skipped goes on to the end of an interim answer.
func (s *statusScan) skipped(c byte) {
	switch {
	case c == '\n' && !s.some:
		*s = statusScan{}
	case c == '\n':
		s.some = false
	case c != '\r':
		s.some = true
	}
}

// code is the status, "" where the line is none.
func (s *statusScan) code() string {
	const digits = len("HTTP/1.1 ")
	end := s.line[len(s.line)-1]
	if s.n < len(s.line) || string(s.line[:digits]) != "HTTP/1.1 " || end != ' ' && end != '\r' && end != '\n' {
		return ""
	}
	return string(s.line[digits : digits+3])
}

func (s *statusScan) interim() bool {
	code := s.code()
	return len(code) == 3 && code[0] == '1' && isDigit(code[1]) && isDigit(code[2]) && code != "101"
}

func (s *statusScan) switches() bool { return s.code() == "101" }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
