package main

import (
	"errors"
	"fmt"

	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/launch"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/view"
)

// The exit codes. They are documented in the README and do not change.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitRefused     = 3
	exitQuarantined = 4
	exitPerson      = 5
	exitWorker      = 6
	exitInterrupted = 130
)

var errInterrupted = errors.New("interrupted; nothing is lost: cordon ls shows where things are")

// usageError is a mistake in how cordon was called.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// asUsage makes a mistake of the operator's one in how cordon was called.
func asUsage(err error) error {
	if _, ok := errors.AsType[*fault.MistakeError](err); ok {
		return usageError{err}
	}
	return err
}

// callError is a mistake in how a command was called, and which command that was.
type callError struct {
	error
	command string
}

func (e callError) Unwrap() error { return e.error }

// codeError ends the program with a code after everything has been said.
type codeError int

func (c codeError) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// codeOf is the one place that turns an error into an exit code.
func codeOf(err error) int {
	var code codeError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case is[usageError](err), is[*fault.MistakeError](err):
		return exitUsage
	case is[*fault.RefusedError](err), is[*git.ForeignError](err), is[*policy.Error](err):
		return exitRefused
	case is[*fault.PersonError](err), is[*fault.StaleError](err):
		return exitPerson
	}
	return exitFailed
}

// is reports whether an error is of a type, or wraps one that is.
func is[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// hintOf is what to do about an error, where that can be said.
func hintOf(err error) string {
	var use usageError
	var call callError
	switch {
	case errors.As(err, &call):
		return call.command + " --help shows how it is called"
	case errors.As(err, &use):
		return "cordon --help shows how it is called"
	case movedIn(err) != nil:
		return "nothing was done: look again, with cordon show --review, and decide anew"
	case errors.Is(err, git.ErrNotRepository):
		return "go into a git repository, or name one with -C"
	}
	return ""
}

// movedIn is what has changed since the operator looked, if that is the error.
func movedIn(err error) []string {
	if stale, ok := errors.AsType[*fault.StaleError](err); ok {
		return stale.Moved
	}
	return nil
}

// finish says an error and returns the exit code.
func (a *app) finish(err error) int {
	code := codeOf(err)
	var quiet codeError
	if err == nil || errors.As(err, &quiet) {
		return code
	}
	if a.json {
		_ = a.object(&view.Error{Error: err.Error(), Hint: hintOf(err), Exit: code, Stale: movedIn(err)}) // nothing is left to say it with
		return code
	}
	a.say("cordon: %v", err)
	if hint := hintOf(err); hint != "" {
		fmt.Fprintf(a.err, "  %s\n", hint)
	}
	return code
}

// codeOfRun is the exit code of the run that left a worker like this.
func codeOfRun(w *ledger.Worker, status ledger.Status) int {
	left := w.Gate != nil && w.Gate.Checkout != "" || w.Then != nil && (w.Then.End == nil || w.Then.End.Code != 0)
	switch {
	case w.Refusal != nil:
		return exitRefused
	case status == ledger.MergedIn && left: // there is something to do after the landing
		return exitPerson
	case status == ledger.Failed && w.Exit.Reason == launch.Unproven:
		return exitRefused
	}
	return codeOf(codeFor(status))
}

// codeFor is the exit code for what became of a worker.
func codeFor(status ledger.Status) error {
	switch status {
	case ledger.MergedIn, ledger.NoChange, ledger.Finished:
		return nil
	case ledger.InQuarantine:
		return codeError(exitQuarantined)
	case ledger.Conflicted, ledger.WaitingFor, ledger.Asking, ledger.InReview:
		return codeError(exitPerson)
	case ledger.Failed, ledger.ThrownAway:
		return codeError(exitWorker)
	case ledger.Stopped:
		return codeError(exitInterrupted)
	}
	return codeError(exitFailed)
}
