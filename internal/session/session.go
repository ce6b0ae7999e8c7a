// Package session takes one worker through the pipeline, and is the only package
// that knows its order:
//
//	lease → worktree → command → audit → gate → merged or quarantined
//
// The order is not a sequence of calls but a question asked again and again:
// given what the journal says of this worker, what is next? Each step acts and
// appends one event, so that a run that was killed anywhere is continued by
// asking the same question.
package session

import (
	"context"

	"cordon/internal/worksite"
)

// Session takes workers of one host repository through the pipeline.
type Session struct{ *worksite.Site }

// Open finds the repository around a directory. It creates nothing.
func Open(ctx context.Context, dir string) (*Session, error) {
	at, err := worksite.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &Session{at}, nil
}
