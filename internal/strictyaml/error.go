package strictyaml

import (
	"errors"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Error is a person's mistake in a file: where it is, what is wrong, and what
// would be right. Line and Column count from 1, columns in characters; both are
// zero when the mistake has no place in a text.
type Error struct {
	Name         string // of the text, for example cordon.yaml
	Line, Column int
	Problem      string
	Hint         string // may be empty
}

func (e *Error) Error() string {
	s := e.Problem
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Column, s)
	}
	if e.Name != "" {
		return e.Name + ": " + s
	}
	return s
}

// Mistake is a mistake whose place is not known yet: the checks of single values
// return one, and the reader that holds the node gives it a position.
type Mistake interface {
	error
	Mistake() (problem, hint string)
}

// fault is the Mistake of this package.
type fault struct{ problem, hint string }

func (f fault) Error() string             { return (&Error{Problem: f.problem, Hint: f.hint}).Error() }
func (f fault) Mistake() (string, string) { return f.problem, f.hint }

// Fault returns a Mistake.
func Fault(problem, hint string) error { return fault{problem, hint} }

// At places err on a node. A placed error stays where it is.
func At(n *yaml.Node, err error) error {
	if err == nil {
		return nil
	}
	e := Unplaced("", err)
	if e.Line == 0 {
		e.Line, e.Column = n.Line, n.Column
	}
	return e
}

// Unplaced turns err into an *Error, with words before the problem.
func Unplaced(words string, err error) *Error {
	var placed *Error
	if errors.As(err, &placed) {
		return placed
	}
	var m Mistake
	if errors.As(err, &m) {
		problem, hint := m.Mistake()
		return &Error{Problem: words + problem, Hint: hint}
	}
	return &Error{Problem: words + err.Error()}
}

func quote(s string) string { return strconv.Quote(s) }
