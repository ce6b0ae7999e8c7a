package main

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"cordon/internal/escape"
	"cordon/internal/legible"
)

// contained reports whether the attempts show that cells hold: some were made, and
// none of them got out or died before its attack.
func contained(results []escape.Result) bool {
	for _, r := range results {
		if r.NeedsAttention() {
			return false
		}
	}
	return escape.Count(results, escape.Held) > 0
}

// progress says how far the attempts are: in one line of a terminal, and
// elsewhere at every quarter.
type progress struct {
	mu          sync.Mutex
	w           io.Writer
	live        bool
	total, done int
}

func (p *progress) one(escape.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	switch quarter := max(p.total/4, 1); {
	case p.live:
		fmt.Fprintf(p.w, "\r%d of %d attempts to escape", p.done, p.total)
	case p.done%quarter == 0 && p.total >= 100:
		fmt.Fprintf(p.w, "%d of %d attempts to escape\n", p.done, p.total)
	}
}

func (p *progress) end() {
	if p.live {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// report is the verdict, and below it the attempts that need attention, or all.
func report(results []escape.Result, all bool, columns int) string {
	var b strings.Builder
	say := func(indent, text string) {
		for _, line := range legible.Wrap(text, columns-len(indent)) {
			b.WriteString(indent + line + "\n")
		}
	}
	say("", escape.Summary(results))
	for _, line := range verdict(results) {
		say("", line)
	}
	if reasons := escape.Untested(results); len(reasons) > 0 {
		say("", "Not tested:")
		for _, line := range reasons {
			say("  ", line)
		}
	}
	shown, left := worthShowing(results, all)
	if len(shown) > 0 {
		fmt.Fprintf(&b, "\n%-10s  %-42s  %s\n", "VERDICT", "ATTEMPT", "CONTROL")
	}
	for _, r := range shown {
		say("", fmt.Sprintf("%-10s  %-42s  %s", r.Verdict, r.Attempt.Name, r.Works()))
		say("    ", r.Attempt.What)
		say("    ", valid(r.Detail))
	}
	if left > 0 {
		say("", fmt.Sprintf("and %d more that died before the attack", left))
	}
	if !all {
		say("", "\nEvery attempt: cordon doctor --probe --all")
	}
	return b.String()
}

// maxDied is how many attempts that died are listed: where there is no cell, all do.
const maxDied = 10

// worthShowing are the results to list, those that need attention first, and how many
// of the attempts that died are left out. One that escaped never is.
func worthShowing(results []escape.Result, all bool) (shown []escape.Result, left int) {
	died := 0
	for _, r := range escape.Sorted(results) {
		if r.Died {
			died++
		}
		switch {
		case all || r.Verdict == escape.Escaped, r.Died && died <= maxDied:
			shown = append(shown, r)
		case r.Died:
			left++
		}
	}
	return shown, left
}

// verdict says what the attempts mean and what to do next.
func verdict(results []escape.Result) []string {
	var lines []string
	escaped, died := escape.Count(results, escape.Escaped), 0
	for _, r := range results {
		if r.Died {
			died++
		}
	}
	if escaped > 0 {
		lines = append(lines, "NOT CONTAINED: "+plural(escaped, "attempt")+
			" got out. Run no agent here; report it with the output of cordon doctor --probe --json.")
	}
	if died > 0 {
		lines = append(lines, "INCOMPLETE: "+plural(died, "attempt")+
			" died before the attack, which shows nothing. cordon doctor says whether a cell works here.")
	}
	switch {
	case len(lines) > 0:
	case escape.Count(results, escape.Held) == 0:
		lines = append(lines, "NOTHING SHOWN: no attempt could be made here.")
	default:
		lines = append(lines, "Contained: no attempt got out, and nothing needs your attention.")
	}
	return lines
}

// valid replaces what is not UTF-8: a detail may quote a file of the host.
func valid(s string) string { return strings.ToValidUTF8(s, "?") }

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
