package worker

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"cordon/internal/fleet/protocol"
	"cordon/internal/fleet/trial"
	"cordon/internal/git"
	"cordon/internal/view"
)

// try has cordon run the acceptance commands of a stage on its base, and returns what they said. A stage that cordon refuses here
// is over too, without a verdict: its home hears why, and tests the tree itself.
func (b *Bench) try(ctx context.Context, o protocol.Offer, r protocol.Result) (protocol.Result, error) {
	v, err := b.verdict(ctx, o, git.OID(r.Base))
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case err != nil:
		b.Say("%s: %v", o.Lease, err)
		r.Exit, r.Ending = notRun, err.Error()
		return r, nil
	}
	last := v.Checks[len(v.Checks)-1]
	r.Exit, r.Ending, r.Verdict = last.Code, "tested", &v
	b.Say("%s: tested, %d commands, the last ended with %d", o.Lease, len(v.Checks), last.Code)
	return r, nil
}

// verdict is what the acceptance commands said about the tree of a commit.
func (b *Bench) verdict(ctx context.Context, o protocol.Offer, base git.OID) (v trial.Verdict, err error) {
	at, err := b.write(o)
	if err != nil {
		return v, err
	}
	defer os.Remove(at)
	var ran view.OneWorker
	if err := b.cordonSaying(ctx, io.Discard, &ran, "run", "--terms", at); err != nil {
		return v, err
	}
	if ran.Gate == nil || len(ran.Gate.Checks) == 0 {
		return v, errors.New("no acceptance command ran")
	}
	for _, c := range ran.Gate.Checks {
		v.Checks = append(v.Checks, trial.Check{
			Command: c.Command, Code: c.Code, Ended: c.Ended, Took: time.Duration(c.Took), Output: c.Output, Reused: c.Reused,
		})
	}
	repo, err := b.open(ctx, formatOf(base))
	if err != nil {
		return v, err
	}
	tree, err := repo.TreeOf(ctx, base)
	v.Tree = string(tree)
	return v.Trimmed(), err
}
