package session

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"cordon/internal/errand"
	"cordon/internal/fault"
	"cordon/internal/gate"
	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/state"
	"cordon/internal/worksite"
)

// thenLimit is how long the operator's command after a landing may take.
const thenLimit = 10 * time.Minute

// intend records a landing before the branch moves, with the command that is due after it.
func (s *Session) intend(w *ledger.Worker, move gate.Landing) error {
	own, err := s.Operator()
	if err != nil {
		return err
	}
	move.Then = own.Land.Then
	return s.Append(w.ID, ledger.Intended, move)
}

// runThen runs the operator's command after a landing, once. Its start is recorded before
// it: after a kill nobody knows what it did, and it is not repeated.
func (s *Session) runThen(ctx context.Context, w *ledger.Worker, how *progress) error {
	move := *w.Intent
	line, at := worksite.Shorten(move.Then), cmp.Or(s.Host.Top, s.Host.Dir)
	vars, err := s.thenVariables(ctx, w)
	if err != nil {
		return err
	}
	if err := s.Append(w.ID, ledger.ThenStarted, ledger.Then{Command: move.Then, Commit: move.New, Ref: move.Ref}); err != nil {
		return err
	}
	s.Voice.Step(w.ID, "then", line)
	r := errand.Errand{
		Argv: move.Then, Vars: vars, Dir: at, Written: append(state.Written(), at, w.Lease.Lease().Worktree),
		Limit: thenLimit, Output: how.Output,
	}.Run(ctx)
	if err := s.Append(w.ID, ledger.ThenEnded, ledger.ThenEnd{Code: r.Code, How: r.How(), Output: legible.Text(r.Tail)}); err != nil {
		return err
	}
	if r.OK() {
		return nil
	}
	return &fault.PersonError{Err: fmt.Errorf("%s landed as %s on %s, but land.then, %s, %s. cordon does not repeat it: cordon show %s has its output",
		w.ID, move.New.Short(), strings.TrimPrefix(move.Ref, "refs/heads/"), line, r.How(), w.ID)}
}

// thenVariables are what the command is told of the landing. Only the subject holds words
// of the agent's.
func (s *Session) thenVariables(ctx context.Context, w *ledger.Worker) ([]errand.Var, error) {
	move := *w.Intent
	subject, err := s.Host.Subject(ctx, move.New)
	if err != nil {
		return nil, err
	}
	previous := string(move.Old)
	if move.Creates {
		previous = ""
	}
	return []errand.Var{
		{Name: "CORDON_ID", Value: string(w.ID)},
		{Name: "CORDON_TARGET", Value: strings.TrimPrefix(move.Ref, "refs/heads/")},
		{Name: "CORDON_COMMIT", Value: string(move.New)},
		{Name: "CORDON_PREVIOUS", Value: previous},
		{Name: "CORDON_REPOSITORY", Value: cmp.Or(s.Host.Top, s.Host.Dir)},
		{Name: "CORDON_SUBJECT", Value: harmlessSubject(subject)},
	}, nil
}

// harmlessSubject is a subject as one argument: without control characters, and not an
// option.
func harmlessSubject(s string) string { return strings.TrimLeft(legible.Line(s), "- ") }
