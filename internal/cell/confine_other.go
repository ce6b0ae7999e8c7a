//go:build !linux

package cell

import (
	"context"
	"runtime"

	"cordon/internal/cell/plan"
)

// Dry plans for this system as if it could confine.
func Dry(c Command) (plan.Spec, error) {
	order := *c.Cell
	order.Argv, order.Dir, order.Env = c.Argv, c.Dir, c.Env
	return plan.Plan(order, plan.Host{})
}

// runConfined refuses: nothing on this system confines a command yet.
func runConfined(context.Context, Command) (Exit, error) {
	return notStarted(&plan.MissingError{Missing: plan.Missing{
		Layer: plan.Namespaces, Why: "cordon cannot confine on " + runtime.GOOS + " yet",
		Fix: "run cordon in a Linux container or virtual machine, as docs/containers.md says, or " +
			"say isolation: none in the policy to run unconfined, and agree to that: cordon config share isolation:none",
	}})
}

// Seat is the first process of a cell that waits for its plan.
type Seat struct{}

// Warm starts nothing.
func Warm(Command) *Seat { return nil }

// Drop has nothing to end.
func (*Seat) Drop() {}
