package main

import (
	"errors"
	"strings"

	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/worksite"
)

// withConsent does something that may need the operator's consent for this repository. On a
// terminal it asks for that, records the answer and does it again; anywhere else the refusal
// says what to type.
func (a *app) withConsent(s *session.Session, do func() error) error {
	err := do()
	var missing *worksite.UnsharedError
	if !errors.As(err, &missing) || a.json || a.background != nil || !terminal.Is(a.in) || !terminal.Is(a.err) {
		return err
	}
	a.say("cordon: %s", missing.What)
	if a.confirm(false, "Agree to that for this repository from now on (%s)?", strings.Join(missing.Words, ", ")) != nil {
		return err
	}
	if err := s.Agree(missing.Words); err != nil {
		return err
	}
	return do()
}
