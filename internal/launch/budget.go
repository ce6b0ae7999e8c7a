package launch

import (
	"context"
	"errors"

	"cordon/internal/cell"
	"cordon/internal/stream"
)

// Budget is the most that a client may use in a launch, by its own word. Zero means no bound.
type Budget struct {
	Tokens int64
	Cost   float64 // US dollars
}

var errOverBudget = errors.New(string(cell.OverBudget))

// exceeded reports whether a client used more.
func (b Budget) exceeded(u stream.Usage) bool {
	return b.Tokens > 0 && u.Tokens() > b.Tokens || b.Cost > 0 && u.Cost > b.Cost
}

// watch stops a client that says that it used more than its budget, and hands the items on. A run
// that is over anyway is not stopped.
func (b Budget) watch(next func(stream.Item), stop context.CancelCauseFunc) func(stream.Item) {
	var last stream.Usage
	return func(i stream.Item) {
		switch {
		case i.Kind == stream.Used:
			last = i.Usage
		case i.Kind == stream.Called && b.exceeded(last):
			stop(errOverBudget)
		}
		next(i)
	}
}
