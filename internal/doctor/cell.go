package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"cordon/internal/cell"
	"cordon/internal/confine"
	"cordon/internal/ledger"
	"cordon/internal/policy"
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
	c, notice, err := confine.Exec(ctx, confine.Execution{Dir: dir, Policy: p, Trial: true, Argv: []string{"true"}})
	if err != nil {
		return []check{failed("cell", err, "")}
	}
	defer notice(cell.Exit{}) // it leaves nothing behind
	var launch cell.Launch
	c.Started = func(l cell.Launch) error { launch = l; return nil }
	c.Stdout, c.Stderr = io.Discard, io.Discard
	_, err = cell.Run(ctx, c)
	var missing *cell.MissingError
	switch {
	case errors.As(err, &missing):
		return append([]check{{"cell", statusFail, "none: " + missing.Why, missing.Fix}}, restrictions()...)
	case err != nil:
		return []check{failed("cell", err, "")}
	}
	made := ledger.Cell{Layers: launch.Layers, Landlock: launch.Landlock, Proven: launch.Proven}
	checks := []check{{"cell", statusOK, made.String(), ""}, checkMemoryLimit(launch.Memory)}
	for _, m := range launch.Missing {
		checks[0].Status = statusFail
		checks = append(checks, check{"cell", statusFail, fmt.Sprintf("without %s (%s): %s; isolation: strict refuses to run like this",
			m.Layer, m.Why, m.Means), m.Fix})
		if m.Layer == cell.Namespaces {
			checks = append(checks, restrictions()...)
		}
	}
	return checks
}

// restrictions names what around cordon refuses a cell, each with the line that lifts it.
func restrictions() []check {
	var checks []check
	for _, r := range cell.Restrictions() {
		checks = append(checks, check{r.Name, statusFail, r.What, r.Lift})
	}
	return checks
}

// checkMemoryLimit says how limits.memory is held here, and how the kernel would do it.
func checkMemoryLimit(by cell.Counting) check {
	c := check{Name: "memory limit", Status: statusOK, Detail: string(by)}
	if by != cell.ByGroup {
		c.Status, c.Hint = statusWarn, "run cordon in a delegated control group of version 2: systemd-run --user --scope -p Delegate=yes cordon …"
	}
	return c
}
