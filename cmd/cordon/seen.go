package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/journal"
	"cordon/internal/ledger"
	"cordon/internal/remark"
	"cordon/internal/seen"
	"cordon/internal/session"
)

// seenFlag adds --seen to a command that decides.
func seenFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "seen", "", "refuse if the worker is not as `DIGEST` says: digests.seen of cordon show --review --json")
}

// saw binds what this command decides about a worker to what the operator saw of it.
func (a *app) saw(ctx context.Context, s *session.Session, w *ledger.Worker, digest string, scope seen.Scope, question string) (err error) {
	if digest == "" {
		return nil
	}
	if s.Seen, err = seen.Check(s.Site, digest, scope, question); err != nil {
		return err
	}
	return s.StillSeen(ctx, w.ID)
}

// withComments gives a worker that goes on the comments that it was not sent yet. They are sent when
// the journal has the decision.
func (a *app) withComments(ctx context.Context, s *session.Session, w *ledger.Worker, how *session.Drive) error {
	all, err := remark.List(ctx, s.Site, w)
	if err != nil {
		return err
	}
	list := remark.Unsent(all.Comments)
	if len(list) == 0 {
		return usage("%s has no comments that were not sent: cordon comments add makes one", w.ID)
	}
	how.Prompt = strings.TrimSpace(how.Prompt + "\n\n" + remark.Words(list))
	s.Watching(func(m journal.Moment, e journal.Event) {
		if m == journal.After && e.Worker == string(w.ID) && ledger.IsDecision(e.Type) {
			_ = remark.MarkSent(s.Site, w, list) // the journal has the words
		}
	})
	return nil
}
