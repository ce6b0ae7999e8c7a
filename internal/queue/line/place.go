package line

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cordon/internal/git"
	"cordon/internal/queue"
	"cordon/internal/state"
)

// How often a process that waits looks at the file, and how often it looks whether others are
// still there.
const (
	glance = 40 * time.Millisecond
	rounds = 25 // glances
)

// Branch is where the target is, and its tree. "", "": it does not exist.
type Branch func() (tip, tree git.OID, err error)

// Ticket is a result that is to enter the queue of a branch.
type Ticket struct {
	Dir    state.Dir
	Target string
	ID     string
	Result Result
	// Tip is where the branch is now; "": it is to be created.
	Tip git.OID
	// Slots is how many results may be tested at once.
	Slots int
	// Branch looks at the target.
	Branch Branch
}

// Place is the place of one result in a queue, held by the process that works on it.
type Place struct {
	Ticket
	path    string
	release func()
	last    int // the test that was done last
	suspect bool
	seen    os.FileInfo
}

// Turn is what a result is to do next: be tested, or land.
type Turn struct {
	Run   int
	Lands bool
	// Ahead are the results that the tree of the test holds, in their order, on the tip.
	Tip   git.OID
	Ahead []Result
	// Made is a commit that holds the tip and the first of these, with how many; "": there is none.
	Made git.OID
	Of   int
	// Again: it failed behind others or at the head, and is tested for the last time.
	Again bool
}

// Enter puts a result at the end of the queue of its branch.
func Enter(t Ticket) (*Place, error) {
	release, err := t.Dir.Lock(presence(t.ID), false)
	if err != nil {
		return nil, fmt.Errorf("%s waits for its landing already: %w", t.ID, err)
	}
	p := &Place{Ticket: t, path: filepath.Join(folder(t.Dir), name(t.Target)+".json"), release: release}
	err = p.change(func(l *Line) error {
		l.leave(t.ID) // of a process that is gone
		if len(l.Queue.Entries) == 0 {
			*l = Line{Target: t.Target, Tip: t.Tip, Results: map[string]Result{}}
		}
		p.join(l)
		return nil
	})
	if err != nil {
		release()
		return nil, err
	}
	return p, nil
}

func (p *Place) join(l *Line) {
	l.Queue.Enter(p.ID)
	l.Results[p.ID] = p.Result
	p.last, p.suspect = 0, false
}

// change does something to the queue under its lock, and starts the tests that have become due.
func (p *Place) change(act func(*Line) error) error {
	release, err := p.Dir.Lock(filepath.Join("queue", name(p.Target)+".lock"), true)
	if err != nil {
		return err
	}
	defer release()
	l := read(p.path, p.Target)
	l.dropDead(p.Dir, p.ID)
	if err := act(&l); err != nil {
		return err
	}
	busy := 0
	for _, e := range l.Queue.Entries {
		if e.Testing {
			busy++
		}
	}
	l.Queue.Next(max(p.Slots, 1) - busy)
	return l.write(p.path)
}

// look holds the queue against the branch, if others depend on it.
func (p *Place) look(l *Line) error {
	if len(l.Queue.Entries) < 2 {
		return nil
	}
	tip, tree, err := p.Branch()
	if err == nil {
		l.moved(tip, tree)
	}
	return err
}

// Next waits until the result is to be tested or to land. waits is called when it is neither, once.
func (p *Place) Next(ctx context.Context, waits func()) (Turn, error) {
	for n := 0; ; n++ {
		if n%rounds == 0 || p.changed() {
			turn, ok, err := p.turn()
			if ok || err != nil {
				return turn, err
			}
		}
		if n%rounds == rounds-1 {
			if l := read(p.path, p.Target); !l.held(p.Dir) {
				if err := p.change(func(*Line) error { return nil }); err != nil {
					return Turn{}, err
				}
			}
		}
		if waits != nil {
			waits()
			waits = nil
		}
		select {
		case <-ctx.Done():
			return Turn{}, ctx.Err()
		case <-time.After(glance):
		}
	}
}

// changed reports whether somebody wrote the file since it was read last.
func (p *Place) changed() bool {
	now, err := os.Lstat(p.path)
	if err != nil {
		now = nil
	}
	same := now == nil && p.seen == nil || now != nil && p.seen != nil && os.SameFile(now, p.seen) && now.ModTime().Equal(p.seen.ModTime())
	p.seen = now
	return !same
}

// turn is what is to be done now, if there is something.
func (p *Place) turn() (Turn, bool, error) {
	p.changed() // what is written from here on is read again
	l := read(p.path, p.Target)
	e := l.Queue.Find(p.ID)
	switch {
	case e == nil: // the file was lost, or somebody else landed the same
		return Turn{}, false, p.change(func(l *Line) error { p.join(l); return nil })
	case e.Testing && e.Run != p.last:
		t := Turn{Run: e.Run, Tip: l.Tip, Again: e.Suspect && !p.suspect}
		p.suspect = e.Suspect
		for i, id := range e.Ahead {
			r := l.Results[id]
			t.Ahead = append(t.Ahead, r)
			before := l.Queue.Find(id)
			if before != nil && before.Verdict == queue.Passed && !before.Stale && slices.Equal(before.Ahead, e.Ahead[:i]) && r.Commit != "" {
				t.Made, t.Of = r.Commit, i+1
			}
		}
		return t, true, nil
	case l.Queue.Lands() == p.ID:
		return p.land()
	}
	return Turn{}, false, nil
}

// land takes the right to land, which ends when the result leaves or the branch moved.
func (p *Place) land() (t Turn, ok bool, err error) {
	err = p.change(func(l *Line) error {
		if e := l.Queue.Find(p.ID); e != nil && l.Queue.Lands() == p.ID {
			e.Landing, t, ok = true, Turn{Lands: true}, true
		}
		return nil
	})
	return t, ok, err
}

// Holds reports whether a test is still of use. It costs little.
func (p *Place) Holds(run int) bool {
	if !p.changed() {
		return true
	}
	l := read(p.path, p.Target)
	e := l.Queue.Find(p.ID)
	return e != nil && e.Testing && e.Run == run
}

// Done records the end of a test of a tree, with a commit that has it, and reports whether the result is bad. It then has left.
func (p *Place) Done(run int, passed bool, tree, commit git.OID) (bad bool, err error) {
	p.last = run
	err = p.change(func(l *Line) error {
		e := l.Queue.Find(p.ID)
		if e == nil || !e.Testing || e.Run != run {
			return nil // it was ended
		}
		r := l.Results[p.ID]
		r.Tree, r.Commit = tree, commit
		l.Results[p.ID] = r
		if err := p.look(l); err != nil {
			return err
		}
		for _, id := range l.Queue.Done(p.ID, passed) {
			delete(l.Results, id)
			bad = bad || id == p.ID
		}
		return nil
	})
	return bad, err
}

// Moved says that the branch is not where it was when the result was tested.
func (p *Place) Moved() error {
	return p.change(func(l *Line) error {
		tip, tree, err := p.Branch()
		if err != nil {
			return err
		}
		l.moved(tip, tree)
		if e := l.Queue.Find(p.ID); e != nil {
			e.Stale, e.Landing = true, false
		}
		return nil
	})
}

// Landed says that the result is the tip of the branch now, and leaves.
func (p *Place) Landed(tip git.OID) {
	p.leave(func(l *Line) {
		l.Queue.Landed(p.ID)
		l.Tip = tip
	})
}

// Leave gives the place up, if it is still held.
func (p *Place) Leave() { p.leave(func(*Line) {}) }

// leave: an error is not one of the result. Others see that nobody holds the place.
func (p *Place) leave(last func(*Line)) {
	if p.release == nil {
		return
	}
	_ = p.change(func(l *Line) error { last(l); l.leave(p.ID); return nil })
	p.release()
	p.release = nil
}

// Standing is one result of a queue, for people.
type Standing struct {
	ID     string
	Since  time.Time
	Ahead  []string
	Status Status
	Again  bool
}

// Status says what a result does in a queue.
type Status string

// What a result does in a queue.
const (
	Waits   Status = "waits"
	Tested  Status = "tested" // now
	Passed  Status = "passed" // and waits for those ahead of it
	Failed  Status = "failed" // behind results of which one may be the cause
	Landing Status = "landing"
)

// Standings are the results of a queue in their order.
func (l Line) Standings() (list []Standing) {
	for _, e := range l.Queue.Entries {
		s := Standing{ID: e.ID, Since: l.Results[e.ID].Since, Ahead: slices.Clone(e.Ahead), Status: Waits, Again: e.Suspect}
		switch {
		case e.Landing:
			s.Status = Landing
		case e.Testing:
			s.Status = Tested
		case e.Verdict == queue.Passed && !e.Stale:
			s.Status = Passed
		case e.Verdict == queue.Failed && !e.Stale:
			s.Status = Failed
		}
		list = append(list, s)
	}
	return list
}

// errEnded says that a test was ended because its tree will not be.
var errEnded = errors.New("the results ahead of it changed")

// Test runs a test and ends it when it is of no use any more; ended reports that.
func (p *Place) Test(ctx context.Context, run int, test func(context.Context) error) (ended bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-over:
				return
			case <-time.After(glance):
			}
			if !p.Holds(run) {
				cancel(errEnded)
				return
			}
		}
	}()
	err = test(ctx)
	close(over)
	<-watched
	return errors.Is(context.Cause(ctx), errEnded), err
}
