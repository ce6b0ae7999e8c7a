// Package escape tries to get out of a cell. Each attempt is a real attack that
// is run twice: without cordon, where it has to succeed (the positive control),
// and through cordon's own front door, where it has to fail. Both are judged on
// the state of the host afterwards, never by what the attack says of itself. Only
// where information is at stake does the attack hand out what it obtained, in a
// file in its own tree, and the host compares that with a secret made for the run.
//
// It refuses to count what it could not show: an attempt whose control does not
// succeed here, or whose attack died before its act, is "not tested" and says why.
// Attempts marked Safe leave nothing behind on a person's own machine; the others
// change settings of the kernel for an instant and are for machines of tests.
//
// It knows nothing of how the cell is built: it starts a program.
//
// The attempts are below, by what they are after: files, the kernel, and channels to
// other processes. Package arena has the two sides of each: what the attack is told,
// and what the host prepares and looks at afterwards. Here they are listed, run and
// counted.
package escape

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"cordon/internal/escape/arena"
)

// Attempt is one way out.
type Attempt = arena.Attempt

// Verdict is how an attempt ended.
type Verdict string

// The verdicts.
const (
	Held      Verdict = "held"       // the host is as it was
	Escaped   Verdict = "escaped"    // it is not
	NotTested Verdict = "not tested" // nothing was shown, for the reason in Detail
)

// Result is the row of one attempt.
type Result struct {
	Attempt Attempt
	Control Verdict // without cordon: Escaped, or NotTested
	Verdict Verdict // with cordon
	Detail  string  // what changed, why nothing was shown, or how it was refused
	Took    time.Duration
	Died    bool // it was to be tested here, but the attack did not get to its act
}

// NeedsAttention reports whether somebody has to look at a result: it escaped, or it
// shows nothing although it should have. What this machine cannot show is no surprise.
func (r Result) NeedsAttention() bool { return r.Verdict == Escaped || r.Died }

// Works says in words whether the attempt succeeds without cordon.
func (r Result) Works() string {
	if r.Control == Escaped {
		return "works without cordon"
	}
	return "not tested"
}

// Options says what to run against what.
type Options struct {
	// Dir is where fixtures are made. It must be seen in the cell, so not below
	// /tmp, and not lie in a git worktree. Place finds one.
	Dir string
	// Attack starts Main: a program and the arguments before those of Main. The
	// program is copied into Dir, where the cell shows it.
	Attack []string
	// Confine is the command line that confines what follows it, such as
	// cordon exec --. Nil: only the controls are run.
	Confine func(policy string) []string
	// Known are results of an earlier run on this machine: a control that succeeded
	// there is not run again.
	Known []Result
	// Pick chooses among the attempts. Nil: all.
	Pick func(Attempt) bool
	// Parallel is how many attempts run at once. 0: two for each processor.
	Parallel int
	// Each is told of every result as it comes, one at a time.
	Each func(Result)
}

// Exec confines with the exec command of a cordon program.
func Exec(program string) func(policy string) []string {
	return func(policy string) []string {
		if policy == "" {
			return []string{program, "exec", "--"}
		}
		return []string{program, "exec", "--policy", policy, "--"}
	}
}

// Count is how many results have a verdict.
func Count(results []Result, v Verdict) int {
	n := 0
	for _, r := range results {
		if r.Verdict == v {
			n++
		}
	}
	return n
}

// Summary says in one line how it went.
func Summary(results []Result) string {
	attempts := "attempts"
	if len(results) == 1 {
		attempts = "attempt"
	}
	return fmt.Sprintf("%d %s: %d held, %d escaped, %d not tested",
		len(results), attempts, Count(results, Held), Count(results, Escaped), Count(results, NotTested))
}

// Untested counts the results that show nothing by their reason, the commonest first.
func Untested(results []Result) []string {
	reasons := map[string]int{}
	for _, r := range results {
		if r.Verdict == NotTested {
			why, _, _ := strings.Cut(r.Detail, ":")
			reasons[why]++
		}
	}
	names := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(reasons[b], reasons[a]), cmp.Compare(a, b))
	})
	var list []string
	for _, why := range names {
		list = append(list, fmt.Sprintf("%d: %s", reasons[why], why))
	}
	return list
}

// Sorted puts results that need attention first, then by group and name.
func Sorted(results []Result) []Result {
	rank := func(r Result) int {
		switch {
		case r.Verdict == Escaped:
			return 0
		case r.Died:
			return 1
		}
		return 2
	}
	return slices.SortedStableFunc(slices.Values(results), func(a, b Result) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Attempt.Group, b.Attempt.Group), cmp.Compare(a.Attempt.Name, b.Attempt.Name))
	})
}
