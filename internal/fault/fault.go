// Package fault holds the errors that mean something to the caller's caller: a mistake of
// the operator's, a refusal that no retry changes, something that only a person can finish,
// and a decision about something that has changed since. cmd/cordon turns them into exit codes. The package decides nothing.
package fault

import (
	"fmt"
	"strings"

	"cordon/internal/audit"
)

// MistakeError is something the operator named that is not there.
type MistakeError struct{ Err error }

func (e *MistakeError) Error() string { return e.Err.Error() }

func (e *MistakeError) Unwrap() error { return e.Err }

// RefusedError is a refusal that no retry changes: a policy or a missing layer.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }

func (e *RefusedError) Unwrap() error { return e.Err }

// Refuse makes a refusal of a message.
func Refuse(format string, args ...any) error { return &RefusedError{fmt.Errorf(format, args...)} }

// PersonError is something that only a person can finish.
type PersonError struct{ Err error }

func (e *PersonError) Error() string { return e.Err.Error() }

func (e *PersonError) Unwrap() error { return e.Err }

// StaleError refuses a decision about something that is not as it was when somebody looked
// at it.
type StaleError struct {
	What  string   // was decided about
	Moved []string // what has changed since, a sentence each
	Known bool     // they name who decided meanwhile
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%s is not as you saw it: %s", e.What, strings.Join(e.Moved, "; "))
}

// OneLine is an error for a list. What git says may hold names that a worker
// chose.
func OneLine(err error) string {
	return audit.Path(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")).String()
}
