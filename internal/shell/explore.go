package shell

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// Budget bounds what judging one script may cost.
type Budget struct {
	Steps    int           // statements, over all runs
	Bytes    int           // of values
	Runs     int           // of the whole script
	Deadline time.Duration // of processor time
}

// DefaultBudget is enough for what people and agents write, and is spent well
// within a tenth of a second.
var DefaultBudget = Budget{Steps: 20_000, Bytes: 32 << 20, Runs: 200, Deadline: 60 * time.Millisecond}

const (
	maxDepth = 48       // of functions, evals and nested shells
	maxText  = 64 << 10 // of a script, and of one value
	maxOpen  = 200      // of brackets that are open at once
	maxTurns = 1 << 10  // of one loop
	maxWords = 16 << 10 // of one expansion
)

// ErrBudget is why a script was given up.
var ErrBudget = errors.New("the command is too complex to judge")

// ErrSyntax is why a script was not begun.
var ErrSyntax = errors.New("the command cannot be parsed as shell")

// choice is one side of one condition.
type choice struct {
	at   syntax.Pos
	code *syntax.File
	turn int // how often the condition was met before in this run, up to maxTaken
	side bool
}

// maxTaken is how often a condition is told apart: in the turns of a loop, and in
// the calls of a function.
const maxTaken = 3

func (c choice) other() choice {
	c.side = !c.side
	return c
}

// run is one way through a script, and what the ways through it share.
type run struct {
	budget  *Budget
	end     *time.Duration
	steps   *int
	bytes   *int
	planned []bool // the first decisions
	made    []choice
	seen    map[choice]bool // by all runs
	met     map[choice]int
	code    *syntax.File // at work; positions are of one file
	parsed  map[string]*syntax.File
	lost    bool // a change of directory failed that the script does not expect to fail
	pipes   int  // names given to process substitutions
}

// giveUp is what a run that is over its budget panics with. It never leaves this
// package.
type giveUp struct{ why error }

func (r *run) stop(why string) { panic(giveUp{fmt.Errorf("%w: %s", ErrBudget, why)}) }

// late counts the time of this thread from the first call: keeping a thread costs more than
// a short script.
func (r *run) late() bool {
	if *r.end == 0 {
		runtime.LockOSThread()
		*r.end = spent() + r.budget.Deadline
	}
	return spent() > *r.end
}

// step counts a statement.
func (r *run) step() {
	*r.steps++
	if *r.steps > r.budget.Steps {
		r.stop("it does not end")
	}
	if *r.steps%32 == 0 && r.late() {
		r.stop("it takes too long")
	}
}

// grow counts bytes of values.
func (r *run) grow(n int) {
	*r.bytes += n
	if *r.bytes > r.budget.Bytes {
		r.stop("its values grow without end")
	}
}

// decide chooses a side of a condition that is not known: as planned, and after
// that one that no run took, true first.
func (r *run) decide(at syntax.Pos) bool {
	c := choice{at: at, code: r.code, side: true}
	c.turn = min(r.met[c], maxTaken)
	r.met[choice{at: at, code: r.code, side: true}]++
	if n := len(r.made); n < len(r.planned) {
		c.side = r.planned[n]
	} else if r.seen[c] && !r.seen[c.other()] {
		c.side = false
	}
	r.made = append(r.made, c)
	side := c.side
	if len(r.made) > r.budget.Steps {
		r.stop("it has too many conditions")
	}
	return side
}

// Explore runs a script until both sides of every condition that is not known
// were taken once. fresh makes the world of each run.
func Explore(script string, fresh func() World, s Start, b Budget) error {
	steps, bytes, end := 0, 0, time.Duration(0)
	defer func() {
		if end != 0 {
			runtime.UnlockOSThread()
		}
	}()
	parsed := map[string]*syntax.File{}
	plans := []plan{{}}
	seen := map[choice]bool{}
	for n := 0; len(plans) > 0; n++ {
		if n >= b.Runs {
			return fmt.Errorf("%w: it has too many conditions", ErrBudget)
		}
		plan := plans[0]
		plans = plans[1:]
		if plan.to.code != nil && seen[plan.to] {
			n-- // a run since then came by
			continue
		}
		r := &run{budget: &b, end: &end, steps: &steps, bytes: &bytes, planned: plan.sides, parsed: parsed, seen: seen, met: map[choice]int{}}
		if err := r.whole(script, fresh(), s); err != nil {
			return err
		}
		plans = append(plans, r.untaken()...)
	}
	return nil
}

// whole is one run from beginning to end.
func (r *run) whole(script string, w World, s Start) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case giveUp:
			err = p.why
		default:
			err = fmt.Errorf("%w: %v", ErrBudget, p) // a bug, here or in the parser: refused
		}
	}()
	m := newMachine(w, r, s)
	f, err := r.read(script)
	if err != nil {
		return err
	}
	m.program(f)
	return nil
}

// plan is the way to a side that nobody took yet.
type plan struct {
	sides []bool
	to    choice
}

// untaken are plans for the sides that this run met and nobody took.
func (r *run) untaken() []plan {
	for _, c := range r.made {
		r.seen[c] = true
	}
	var plans []plan
	for i, c := range r.made {
		if i < len(r.planned) || r.seen[c.other()] {
			continue
		}
		sides := make([]bool, i+1)
		for j := range i {
			sides[j] = r.made[j].side
		}
		sides[i] = !c.side
		plans = append(plans, plan{sides, c.other()})
	}
	return plans
}
