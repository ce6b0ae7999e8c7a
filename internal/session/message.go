package session

import (
	"cmp"
	"context"
	"fmt"

	"cordon/internal/audit"
	"cordon/internal/ledger"
	"cordon/internal/message"
	"cordon/internal/wording"
)

// undecidedError ends a landing before the gate decided anything: the result stays as it
// was.
type undecidedError struct{ error }

func (e *undecidedError) Unwrap() error { return e.error }

// landingMessage is the message of the commit that lands: the operator's, or what package
// message makes of the agent's words. The operator may edit either.
func (s *Session) landingMessage(ctx context.Context, w *ledger.Worker, how *progress, lands []audit.Finding, h *audit.History) (message.Message, error) {
	if how.edited != nil {
		return *how.edited, nil
	}
	m, err := wording.Composed(ctx, s.Site, w, cmp.Or(how.Message, w.Options.Message), lands, h)
	if err != nil || how.Editor == nil {
		return m, err
	}
	if m, err = wording.Edited(ctx, s.Site, w, m, how.Editor); err != nil {
		return m, &undecidedError{fmt.Errorf("nothing landed: %w", err)}
	}
	how.edited = &m // a result that is judged again keeps it
	return m, nil
}
