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
var DefaultBudget = Budget{Steps: 20_000, Bytes: 32 << 20, Runs: 64, Deadline: 60 * time.Millisecond}

const (
	maxDepth = 48       // of functions, evals and nested shells
	maxText  = 64 << 10 // of a script, and of one value
	maxOpen  = 200      // of brackets that are open at once
	maxTurns = 1 << 10  // of one loop
	maxWords = 16 << 10 // of one expansion
)

// ErrBudget is why a script was given up.
var ErrBudget = errors.New("the command is too complex to be judged")

// ErrSyntax is why a script was not begun.
var ErrSyntax = errors.New("the command cannot be parsed as shell")

// choice is one side of one condition.
type choice struct {
	at   syntax.Pos
	code *syntax.File
	side bool
}

// run is one way through a script, and what the ways through it share.
type run struct {
	budget  *Budget
	end     time.Duration
	steps   *int
	bytes   *int
	planned []bool // the first decisions
	made    []choice
	code    *syntax.File // at work; positions are of one file
	parsed  map[string]*syntax.File
	failed  error
	pipes   int // names given to process substitutions
}

// giveUp is what a run that is over its budget panics with. It never leaves this
// package.
type giveUp struct{ why error }

func (r *run) stop(why string) { panic(giveUp{fmt.Errorf("%w: %s", ErrBudget, why)}) }

// step counts a statement.
func (r *run) step() {
	*r.steps++
	if *r.steps > r.budget.Steps {
		r.stop("it does not come to an end")
	}
	if *r.steps%32 == 0 && spent() > r.end {
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

// decide chooses a side of a condition that is not known: as planned, and true
// after that.
func (r *run) decide(at syntax.Pos) bool {
	side := true
	if n := len(r.made); n < len(r.planned) {
		side = r.planned[n]
	}
	r.made = append(r.made, choice{at, r.code, side})
	if len(r.made) > r.budget.Steps {
		r.stop("it has too many conditions")
	}
	return side
}

// Explore runs a script until both sides of every condition that is not known
// were taken once. fresh makes the world of each run.
func Explore(script string, fresh func() World, s Start, b Budget) error {
	steps, bytes := 0, 0
	runtime.LockOSThread() // what is counted is this thread's time
	defer runtime.UnlockOSThread()
	end := spent() + b.Deadline
	parsed := map[string]*syntax.File{}
	plans := [][]bool{nil}
	seen := map[choice]bool{}
	for n := 0; len(plans) > 0; n++ {
		if n >= b.Runs {
			return fmt.Errorf("%w: it has too many conditions", ErrBudget)
		}
		plan := plans[0]
		plans = plans[1:]
		r := &run{budget: &b, end: end, steps: &steps, bytes: &bytes, planned: plan, parsed: parsed}
		if err := r.whole(script, fresh(), s); err != nil {
			return err
		}
		plans = append(plans, r.untaken(seen)...)
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

// untaken are plans for the sides that this run met and nobody took yet.
func (r *run) untaken(seen map[choice]bool) [][]bool {
	var plans [][]bool
	for _, c := range r.made {
		seen[c] = true
	}
	for i, c := range r.made {
		other := choice{c.at, c.code, !c.side}
		if i < len(r.planned) || seen[other] {
			continue
		}
		seen[other] = true
		plan := make([]bool, i+1)
		for j := range i {
			plan[j] = r.made[j].side
		}
		plan[i] = !c.side
		plans = append(plans, plan)
	}
	return plans
}
