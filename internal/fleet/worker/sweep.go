package worker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"cordon/internal/git"
	"cordon/internal/view"
)

// Tidy ends what a node that was killed left running, and removes what it left. A new node gets its repository, so that its
// operator can share something with it before the first stage comes.
func (b *Bench) Tidy(ctx context.Context) error {
	b.swept = time.Now()
	if err := errors.Join(os.RemoveAll(b.store().Dir), os.RemoveAll(filepath.Dir(b.file("x")))); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(b.repository(), "HEAD")); errors.Is(err, os.ErrNotExist) {
		if err := os.RemoveAll(b.repository()); err != nil { // its making was interrupted
			return err
		}
		_, err := b.open(ctx, madeFormat)
		return err
	}
	if err := b.cordon(ctx, nil, "stop", "--all"); err != nil {
		return err
	}
	return b.sweep(ctx)
}

// sweepEvery is how often a node gives back what ended stages took on the disk.
const sweepEvery = 10 * time.Minute

// sweepIfIdle sweeps when no stage runs: a ref that goes while one does would look like its deed.
func (b *Bench) sweepIfIdle(ctx context.Context) {
	if !b.busy.TryLock() {
		return
	}
	defer b.busy.Unlock()
	if time.Since(b.swept) < sweepEvery {
		return
	}
	if err := b.sweep(ctx); err != nil {
		b.Say("ended stages are not removed: %v", err)
	}
}

// sweep removes all workers: what their homes wanted of them was returned.
func (b *Bench) sweep(ctx context.Context) error {
	b.swept = time.Now()
	var all view.Workers
	if err := b.cordon(ctx, &all, "ls"); err != nil {
		return err
	}
	for _, w := range all.Workers {
		if w.Status == discarded {
			continue
		}
		if err := b.cordon(ctx, nil, "discard", "--yes", w.ID, "--reason", "its stage is over on this node"); err != nil {
			return err
		}
	}
	repo := git.OpenBare(b.Bin, b.repository(), git.SHA1)
	refs, err := repo.Refs(ctx, branches)
	for i := range refs {
		refs[i].OID = ""
	}
	return errors.Join(err, repo.SetRefs(ctx, refs, "cordon: sweep"), b.cordon(ctx, nil, "gc", "--trash", "--yes"))
}

const (
	discarded = "discarded"
	branches  = "refs/heads/fleet/" // what workers returned
)
