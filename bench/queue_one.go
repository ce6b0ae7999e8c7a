package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"cordon/internal/git"
	landings "cordon/internal/queue/line"
	"cordon/internal/state"
)

// alone prints what the queue costs a result that meets no other: what it does on disk for one, as a
// part of the landing.
func (c crowd) alone(ctx context.Context, out *tabwriter.Writer, program, dir string) error {
	const rounds = 5
	c.workers, c.acceptance = rounds, 0
	s := stand{crowd: c, verdicts: &verdicts{}, program: program, dir: filepath.Join(dir, "alone")}
	if err := s.field(ctx); err != nil {
		return err
	}
	var took, queued []time.Duration
	if err := os.Setenv("XDG_STATE_HOME", filepath.Join(s.dir, "alone")); err != nil {
		return err
	}
	for i := range rounds {
		if _, err := s.run(ctx, program, "run", "--no-merge", "--", "sh", "-c", labour(i)); err != nil {
			return err
		}
		list, err := s.list(ctx)
		if err != nil || len(list) == 0 {
			return fmt.Errorf("no worker is listed: %w", err)
		}
		began := time.Now()
		for _, w := range list {
			if w.Status != "merged" {
				if _, err := s.run(ctx, program, "merge", w.Worker); err != nil {
					return err
				}
			}
		}
		took = append(took, time.Since(began))
		part, err := passThrough(ctx, fmt.Sprint("w", i))
		if err != nil {
			return err
		}
		queued = append(queued, part)
	}
	one, whole := median(queued), median(took)
	fmt.Fprintf(out, "\na queue of one\t%.1f ms\tof a landing of %.0f ms\t× %.3f\n", ms(one), ms(whole), ratio(whole, whole-one))
	return nil
}

// passThrough takes a result through a queue in which nobody else waits, without a test.
func passThrough(ctx context.Context, id string) (time.Duration, error) {
	dir, err := state.For(git.Host{Repo: git.Repo{Dir: "/nowhere/repo/.git"}})
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(filepath.Join(dir.Path(), "workers", id), 0o700); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(filepath.Join(dir.Path(), "queue"), 0o700); err != nil {
		return 0, err
	}
	began := time.Now()
	p, err := landings.Enter(landings.Ticket{Dir: dir, Target: "refs/heads/main", ID: id, Slots: 4, Tip: "tip",
		Branch: func() (git.OID, git.OID, error) { return "tip", "tree", nil }})
	if err != nil {
		return 0, err
	}
	turn, err := p.Next(ctx, nil)
	if err == nil {
		_, err = p.Done(turn.Run, true, "tree", "commit")
	}
	if err == nil {
		_, err = p.Next(ctx, nil)
	}
	p.Landed("next")
	return time.Since(began), err
}
