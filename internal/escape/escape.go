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
package escape

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Attempt is one way out.
type Attempt struct {
	Name  string // unique, the group first: files-truncate
	Group string
	What  string // in the words of somebody who reads the table
	Safe  bool   // harmless on a person's own machine, also without cordon
	Root  bool   // its control needs root
	Quick bool   // one of the few that stand for all of their kind

	attempt // how it is done, which differs by system
}

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
	Died    bool // the control succeeded, but with cordon the attack did not get to its act
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
	s := fmt.Sprintf("%d attempts: %d held, %d escaped, %d not tested",
		len(results), Count(results, Held), Count(results, Escaped), Count(results, NotTested))
	reasons := map[string]int{}
	for _, r := range results {
		if r.Verdict == NotTested {
			why, _, _ := strings.Cut(r.Detail, ":")
			reasons[why]++
		}
	}
	var list []string
	for why, n := range reasons {
		list = append(list, fmt.Sprintf("%d: %s", n, why))
	}
	if len(list) == 0 {
		return s
	}
	slices.Sort(list)
	if len(list) > 3 {
		list = append(list[:3], "…")
	}
	return s + " (" + strings.Join(list, "; ") + ")"
}

// Table writes the results, a row each.
func Table(w io.Writer, results []Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "GROUP\tATTEMPT\tCONTROL\tVERDICT\tDETAIL")
	for _, r := range slices.SortedStableFunc(slices.Values(results), byGroup) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.Attempt.Group, r.Attempt.Name, r.Control, r.Verdict, r.Detail)
	}
	return t.Flush()
}

func byGroup(a, b Result) int {
	return cmp.Or(cmp.Compare(a.Attempt.Group, b.Attempt.Group), cmp.Compare(a.Attempt.Name, b.Attempt.Name))
}
