package launch

import (
	"io"
	"runtime"

	"cordon/internal/cell"
	"cordon/internal/ledger"
	"cordon/internal/policy"
)

// seat is the first process of the command's cell, which starts while everything else is prepared.
type seat struct {
	*cell.Seat
	out, err *later // the same where both go through one pipe; nil: it has a terminal
}

// later is a writer that is known when the command starts. Nothing is written before.
type later struct{ to io.Writer }

func (l *later) Write(p []byte) (int, error) { return l.to.Write(p) }

// warmSeat starts the process. It ends with its thread, which is kept until drop. What sets the tree up
// may take long, and has cells of its own: the process would wait for it.
func warmSeat(w *ledger.Worker, how Request) *seat {
	l := w.Lease.Lease()
	if l.Policy.Isolation == policy.None || len(l.Policy.Setup) > 0 {
		return nil
	}
	s, c := &seat{}, cell.Command{}
	if how.Terminal == nil {
		s.out = &later{}
		s.err = s.out
		if how.Stdout != nil || w.Agent != nil && len(how.Command) == 0 { // a client's stream is read
			s.err = &later{}
		}
		c.Stdin, c.Stdout, c.Stderr = how.Stdin, s.out, s.err
	}
	runtime.LockOSThread()
	if s.Seat = cell.Warm(c); s.Seat == nil {
		runtime.UnlockOSThread()
		return nil
	}
	return s
}

// take gives the process to a command that has the same pipes.
func (s *seat) take(c *cell.Command) {
	switch {
	case s == nil || c.Cell == nil:
	case s.out == nil:
		if c.Terminal != nil && c.Stdin == nil && c.Stdout == nil && c.Stderr == nil {
			c.Seat = s.Seat
		}
	case (c.Stdout == c.Stderr) == (s.out == s.err):
		s.out.to, s.err.to = c.Stdout, c.Stderr
		c.Seat = s.Seat
	}
}

// drop ends a process that no command took.
func (s *seat) drop() {
	if s == nil {
		return
	}
	s.Seat.Drop()
	runtime.UnlockOSThread()
}
