// Package deskterm is the desk in the operator's terminal: who needs them and why, the review of each
// worker with its verdict first, plans, and the journal.
//
// It takes objects of package view from a Source and draws them. Every text goes through clean before it
// is drawn, ours as well as a worker's: the renderer below would let some controls through. The package
// refuses to read a repository, to decide by itself, and to draw what it cannot make legible.
package deskterm

import (
	"context"

	"cordon/internal/decide"
	"cordon/internal/desk"
	"cordon/internal/view"
)

// Source answers what the desk shows. Its functions may be called from several goroutines.
type Source interface {
	Desk(context.Context) (*Desk, error)
	Verdict(ctx context.Context, worker string) (*Review, error) // at once, without what the worker left
	Review(ctx context.Context, worker string) (*Review, error)
	Plans(context.Context) ([]view.Plan, error)
	Journal(context.Context) (*Journal, error)
	Fleet(context.Context) (*view.Fleet, error)       // only where the desk is that of a home
	Changes(context.Context) (<-chan struct{}, error) // something was appended to the journal
}

// Desk is the first screen.
type Desk struct {
	Repository, Branch, Tip string
	Workers                 []view.Worker
	Stages                  []view.Attention // of plans, that need a person
	Plans                   []view.Plan      // those that are open
	Journal                 view.Verify
	Recent                  []view.Event // the newest first
	Machine                 desk.Machine
	Home                    bool     // the repository is the home of a fleet
	Unconfined              []string // workers without a cell that run now

	ordered map[string][]view.Worker // by group; see of
}

// Review is one worker with its result.
type Review struct {
	view.Review
	desk.Result
	Partial bool   // only the verdict: what the worker left is being read
	Client  string // and its version
	Cost    float64
}

// Acts are what the desk can do. Each of them goes on if the desk ends.
type Acts struct {
	Decide    func(context.Context, decide.Decision) (string, error) // carries a decision out, and says what came of it
	See       func(ctx context.Context, worker, blob string, seen bool) error
	Comment   func(ctx context.Context, worker string, on Lines, text string) error
	Uncomment func(ctx context.Context, worker, id string) error
	Shell     func(worker string) Program // in the worker's cell
	Alert     func(view.Worker) string    // what to send to the terminal so that it tells of a worker; empty: nothing
}

// Lines are lines of a file that a comment is about.
type Lines struct {
	Path, Side, Blob string
	From, To         int
}

// Journal is the journal, verified.
type Journal struct {
	Verify view.Verify
	Events []view.Event // the newest first
	More   int          // older ones that are not here
}
