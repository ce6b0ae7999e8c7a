package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// piece is one part of the table of goals. One that fails, or takes longer than it may,
// gets a row that says so, and the others are measured all the same.
type piece struct {
	what    string
	limit   time.Duration
	measure func(context.Context) ([]goal, error)
}

// grace is how long a piece may take to notice that its time is over.
const grace = 30 * time.Second

// rows are those of a piece, and one more if it did not come to its end.
func (p piece) rows(ctx context.Context) []goal {
	if ctx.Err() != nil {
		return []goal{{p.what, "", "not measured: there was no time left"}}
	}
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	type result struct {
		list []goal
		err  error
	}
	done := make(chan result, 1) // for one that comes when nobody waits any more
	began := time.Now()
	go func() {
		list, err := p.measure(ctx)
		done <- result{list, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-time.After(p.limit + grace):
		r.err = context.DeadlineExceeded
	}
	took := time.Since(began).Round(time.Second)
	fmt.Fprintf(os.Stderr, "bench: %s: %s\n", p.what, took)
	for _, g := range r.list {
		fmt.Fprintf(os.Stderr, "bench:   %s: %s\n", g.what, g.measured)
	}
	if r.err == nil {
		return r.list
	}
	fmt.Fprintf(os.Stderr, "bench: %s: %v\n", p.what, r.err)
	why := "failed: " + firstLine(r.err.Error())
	if errors.Is(r.err, context.DeadlineExceeded) || ctx.Err() != nil {
		why = fmt.Sprintf("not measured within %s", p.limit)
	}
	return append(r.list, goal{p.what, "", why})
}

// firstLine is the beginning of a text that fits into a table.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > 100 {
		line = string(r[:100]) + "…"
	}
	return strings.ReplaceAll(line, "|", "/")
}

// enough reports whether a loop that measures has taken its time: it has one round at least.
func enough(ctx context.Context, turn int, began time.Time, patience time.Duration) bool {
	return turn > 0 && (time.Since(began) > patience || ctx.Err() != nil)
}
