package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"cordon/internal/cell"
	"cordon/internal/escape"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/seccomp"
	"cordon/internal/session"
)

// checkCell starts a real cell with nothing in it, and says which layers were
// proven and what would bring those that are missing.
func checkCell(ctx context.Context) []check {
	dir, err := os.MkdirTemp("", "cordon-doctor-")
	if err != nil {
		return []check{failed("cell", err, "")}
	}
	defer os.RemoveAll(dir) // made just now, and nothing is written to it
	p := policy.Default()
	p.Isolation = policy.Degraded
	c, _, err := session.Exec(ctx, session.Execution{Dir: dir, Policy: p, Argv: []string{"true"}})
	if err != nil {
		return []check{failed("cell", err, "")}
	}
	var launch cell.Launch
	c.Started = func(l cell.Launch) error { launch = l; return nil }
	c.Stdout, c.Stderr = io.Discard, io.Discard
	_, err = cell.Run(ctx, c)
	var missing *cell.MissingError
	switch {
	case errors.As(err, &missing):
		return []check{{"cell", statusFail, "none: " + missing.Why, missing.Fix}}
	case err != nil:
		return []check{failed("cell", err, "")}
	}
	made := ledger.Cell{Layers: launch.Layers, Landlock: launch.Landlock, Proven: launch.Proven}
	checks := []check{{"cell", statusOK, made.String(), ""}}
	for _, m := range launch.Missing {
		checks[0].Status = statusFail
		checks = append(checks, check{"cell", statusFail, fmt.Sprintf("without %s (%s): %s; isolation: strict refuses to run like this", m.Layer, m.Why, m.Means), m.Fix})
	}
	return checks
}

// probe runs the attempts to escape that are harmless on a machine in use, each
// without cordon and then with it.
func (a *app) probe(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := escape.Place()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // made just now
	n := 0
	results, err := escape.Run(ctx, escape.Options{
		Dir: dir, Attack: []string{self, attemptWord}, Confine: escape.Exec(self),
		Pick: func(at escape.Attempt) bool { return at.Safe },
		Each: func(escape.Result) {
			if n++; n%20 == 0 {
				a.say("%d attempts made", n)
			}
		},
	})
	if err != nil {
		return err
	}
	if a.json {
		err = a.object("cordon.probe/1", map[string]any{"attempts": rowsOf(results), "summary": escape.Summary(results)})
	} else {
		err = errors.Join(escape.Table(a.out, results), printTo(a.out, escape.Summary(results)))
	}
	if err == nil && escape.Count(results, escape.Escaped) > 0 {
		err = codeError(exitFailed)
	}
	return err
}

func printTo(w io.Writer, line string) error {
	_, err := fmt.Fprintln(w, line)
	return err
}

func rowsOf(results []escape.Result) []map[string]any {
	rows := []map[string]any{}
	for _, r := range results {
		rows = append(rows, map[string]any{
			"group": r.Attempt.Group, "name": r.Attempt.Name, "what": r.Attempt.What,
			"control": r.Control, "verdict": r.Verdict, "detail": strings.ToValidUTF8(r.Detail, "?"),
		})
	}
	return rows
}

// refusedCalls lists what the filter of a cell answers for.
func (a *app) refusedCalls() error {
	if a.json {
		return a.object("cordon.calls/1", map[string]any{"calls": seccomp.Table()})
	}
	rows := [][]string{{"CALL", "ANSWER", "WHY"}}
	for _, e := range seccomp.Table() {
		why := e.Reason
		if e.When != "" {
			why = e.When + ": " + why
		}
		rows = append(rows, []string{e.Call, e.Errno, why})
	}
	table(a.out, rows)
	return nil
}

// attemptWord is how the suite starts one of its attacks.
const attemptWord = "attempt"
