package screen

import "io"

// Mark says what a record of output is from a place on: what a program drew on a terminal
// of a size, or lines.
type Mark struct {
	At      int64 `json:"at"` // bytes before it
	Rows    int   `json:"rows,omitempty"`
	Columns int   `json:"columns,omitempty"`
	End     bool  `json:"end,omitempty"`   // lines follow
	Rest    bool  `json:"rest,omitempty"`  // the screen stood still before it, long enough to be read
	Clock   int64 `json:"clock,omitempty"` // milliseconds: the time, while the screen does not rest
	Still   int64 `json:"still,omitempty"` // milliseconds without output before that time
}

// Player renders a record of output: it passes lines on as they are, and writes what was
// drawn as a transcript.
type Player struct {
	To    io.Writer
	Marks func() []Mark // of the whole record, in order; there may be more each time
	at    int64
	marks []Mark
	used  int // marks
	drawn *Transcript
}

// Write plays the next part of the record.
func (p *Player) Write(text []byte) (int, error) {
	n := 0
	for n < len(text) {
		if p.used == len(p.marks) {
			p.marks = p.Marks()
		}
		if err := p.pass(p.marks); err != nil {
			return n, err
		}
		part := text[n:]
		if p.used < len(p.marks) {
			part = part[:min(int64(len(part)), p.marks[p.used].At-p.at)]
		}
		to := p.To
		if p.drawn != nil {
			to = p.drawn
		}
		if _, err := to.Write(part); err != nil {
			return n, err
		}
		n, p.at = n+len(part), p.at+int64(len(part))
	}
	return n, nil
}

// pass does what the marks say that are reached.
func (p *Player) pass(marks []Mark) error {
	for ; p.used < len(marks) && marks[p.used].At <= p.at; p.used++ {
		switch m := marks[p.used]; {
		case m.End:
			if err := p.End(); err != nil {
				return err
			}
		case m.Rest, m.Clock > 0:
			if err := p.stood(m); err != nil {
				return err
			}
		case p.drawn == nil:
			p.drawn = NewTranscript(p.To, m.Rows, m.Columns)
		default:
			p.drawn.Resize(m.Rows, m.Columns)
		}
	}
	return nil
}

// stood says that what is drawn stood still, or how long.
func (p *Player) stood(m Mark) error {
	switch {
	case p.drawn == nil:
		return nil
	case m.Rest:
		return p.drawn.Stood()
	default:
		return p.drawn.Clock(m.Clock, m.Still)
	}
}

// Rest says that there is no more at the moment.
func (p *Player) Rest() error {
	if p.drawn == nil {
		return nil
	}
	return p.drawn.Rest()
}

// End says that there is no more.
func (p *Player) End() error {
	if p.drawn == nil {
		return nil
	}
	t := p.drawn
	p.drawn = nil
	return t.End()
}
