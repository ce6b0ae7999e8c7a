package plans

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"cordon/internal/conduct"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/page"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/terminal"
)

// redrawEvery is how often the times on the screen are brought up to date.
const redrawEvery = time.Second

// groupTime is how long a drawing waits for more: events come in groups.
const groupTime = 50 * time.Millisecond

// keptLines is how many of the last lines a screen may show.
const keptLines = 12

// dashboard is the screen on which a plan runs. It is also the voice of the plan's workers, whose
// lines it shows instead of printing them.
type dashboard struct {
	on    *os.File
	full  *terminal.Screen
	mutex sync.Mutex
	lines []string
	waits map[string]string // why stages wait that are ready
	told  chan struct{}     // a line was added
}

// Step implements worksite.Voice.
func (d *dashboard) Step(id lease.ID, word, text string) {
	d.tell(string(id) + " " + word + ": " + text)
}

// Files implements worksite.Voice.
func (d *dashboard) Files(lease.ID, int, int) {}

// tell adds a line.
func (d *dashboard) tell(text string) {
	d.mutex.Lock()
	d.lines = append(d.lines[max(0, len(d.lines)-keptLines+1):], text)
	d.mutex.Unlock()
	select {
	case d.told <- struct{}{}:
	default:
	}
}

// wait keeps why stages wait.
func (d *dashboard) wait(why map[string]string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.waits = why
}

// now is what was told last, and why stages wait.
func (d *dashboard) now() ([]string, map[string]string) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return slices.Clone(d.lines), d.waits
}

// take lets a conductor tell the dashboard what happens; alone: it and its workers tell nobody else.
func (d *dashboard) take(c *conduct.Conductor, alone bool) {
	open, say := c.Open, c.Say
	c.Waits = d.wait
	c.Open = func(ctx context.Context) (*session.Session, error) {
		s, err := open(ctx)
		if err == nil && alone {
			s.Voice = d
		}
		return s, err
	}
	c.Say = func(stage, word, text string) {
		d.tell(strings.TrimSpace(stage + " " + word + ": " + text))
		if !alone {
			say(stage, word, text)
		}
	}
}

// show draws the plan until the returned function is called, which gives the terminal back.
func (d *dashboard) show(ctx context.Context, s *session.Session, name string) (end func(), err error) {
	if err := s.Follow(); err != nil {
		return nil, err
	}
	over := ctx
	ctx, cancel := context.WithCancel(ctx)
	changes, err := journal.Changes(ctx, s.State.Path())
	if err != nil {
		cancel()
		return nil, err
	}
	resized, ended := terminal.Resized(ctx), make(chan struct{})
	d.full = terminal.Full(d.on)
	go func() {
		defer close(ended)
		d.redraw(ctx, s, name, changes, resized)
	}()
	end = sync.OnceFunc(func() { cancel(); <-ended; d.full.Restore() })
	context.AfterFunc(over, end) // a second ctrl-c ends this program with the terminal as it was
	return end, nil
}

// redraw draws when the journal or the size of the terminal changes, when a line comes, and once a
// second. What cannot be looked up or drawn is left as it is: the plan goes on.
func (d *dashboard) redraw(ctx context.Context, s *session.Session, name string, changes <-chan struct{}, resized <-chan os.Signal) {
	var report conduct.Report
	var paces map[string]conduct.Pace
	var rested time.Time // the journal is not read before
	stale := true
	for ctx.Err() == nil {
		if began := time.Now(); stale && began.After(rested) {
			if r, p, err := conduct.Progress(ctx, s.Site, name); err == nil {
				report, paces, stale = r, p, false
			}
			rested = time.Now().Add(max(100*time.Millisecond, 9*time.Since(began))) // the workers have the machine
		}
		if report.Run != nil {
			var lines []string
			lines, report.Wait = d.now()
			_ = d.draw(present.PlanProgress(s.Site, report, paces, time.Now()), lines)
		}
		wait := redrawEvery
		if stale {
			wait = max(time.Until(rested), time.Millisecond)
		}
		select {
		case <-ctx.Done():
		case _, open := <-changes:
			if stale = true; !open {
				changes = nil
			}
			time.Sleep(groupTime)
		case <-d.told:
			time.Sleep(groupTime)
		case <-resized:
		case <-time.After(wait):
		}
	}
}

func (d *dashboard) draw(v present.Progress, lines []string) error {
	v.Lines = lines
	frame := d.full.Frame()
	columns, rows := frame.Extent()
	fmt.Fprint(frame, strings.Join(page.Progress(v, time.Now(), columns, rows, terminal.InkFor(d.on)), "\n"))
	return frame.Show()
}

// watched shows a plan on one screen while it runs, if stdout is a terminal. Elsewhere, lines say
// what happens. The lines also go to a stderr that is not the terminal.
func (a *Console) watched(ctx context.Context, c *conduct.Conductor, name string) (end func(), err error) {
	p := a.Page()
	on, ok := terminal.Draws(p.Out)
	if !ok || p.JSON {
		return func() {}, nil
	}
	s, err := a.Open(ctx)
	if err != nil {
		return nil, err
	}
	d := &dashboard{on: on, told: make(chan struct{}, 1)}
	d.take(c, terminal.Is(p.Err))
	context.AfterFunc(ctx, func() { d.tell("interrupted: the workers end") })
	return d.show(context.WithoutCancel(ctx), s, name)
}
