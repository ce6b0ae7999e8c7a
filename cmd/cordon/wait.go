package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/ledger"
	"cordon/internal/present"
	"cordon/internal/supervisor"
	"cordon/internal/view"
)

func (a *app) waitCommand() *cobra.Command {
	var anyOf bool
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "wait ID...",
		Short: "Wait for workers to end",
		Long: `Wait until no cordon process works on the named workers, print what became of each, and
return the exit code of its run. It makes no difference who started them, and a worker
whose supervisor is killed has ended too: it is lost, with exit code 1. Exit code 3 is that
of a run that was refused before its command started, and of a client whose hooks did not
report, so that cordon stopped it.

With several workers, the exit code is the first of 1, 3, 6, 4, 130 and 5 that one of them
has, and otherwise 0. With --any, wait returns when the first of them has ended.

A worker with an open question keeps running: cordon ls shows who needs you.`,
		Example:           "  cordon wait brisk-otter && git push\n  cordon wait --any brisk-otter calm-yak\n  cordon wait --timeout 10m brisk-otter",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.liveNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := cmd.Context(), func() {}
			if timeout > 0 {
				ctx, cancel = context.WithTimeoutCause(ctx, timeout, errTimeout)
			}
			defer cancel()
			return a.wait(ctx, cmd.Context(), args, anyOf)
		},
	}
	c.Flags().BoolVar(&anyOf, "any", false, "return when one of the workers has ended")
	c.Flags().DurationVar(&timeout, "timeout", 0, "give up after this `DURATION`, such as 10m, with exit code 124")
	return c
}

var errTimeout = errors.New("the workers did not end in time")

// wait waits within a time limit for workers.
func (a *app) wait(within, ctx context.Context, names []string, anyOf bool) error {
	s, workers, err := a.named(ctx, names)
	if err != nil {
		return err
	}
	ended := make(chan int, len(workers))
	failed := make(chan error, len(workers))
	for i, w := range workers {
		go func() {
			if err := supervisor.Wait(within, s.Site, w); err != nil {
				failed <- err
				return
			}
			ended <- i
		}()
	}
	var codes []int
	shown := view.Workers{Workers: []view.Worker{}}
	for len(codes) < len(workers) && (len(codes) == 0 || !anyOf) {
		select {
		case i := <-ended:
			v, code, err := a.waited(ctx, workers[i])
			if err != nil {
				return err
			}
			codes, shown.Workers = append(codes, code), append(shown.Workers, v)
		case err := <-failed:
			if context.Cause(within) != errTimeout {
				return err
			}
			a.say("cordon: %v", errTimeout)
			codes = append(codes, exitTimeout)
			anyOf = true
		}
	}
	if a.json {
		if err := a.object(&shown); err != nil {
			return err
		}
	}
	return worst(codes)
}

// waited says what became of a worker, and returns the exit code of its run.
func (a *app) waited(ctx context.Context, w *ledger.Worker) (v view.Worker, code int, err error) {
	s, w, err := a.worker(ctx, string(w.ID))
	if err != nil {
		return v, 0, err
	}
	standings, err := s.Standings(ctx, []*ledger.Worker{w})
	if err != nil {
		return v, 0, err
	}
	now := standings[w.ID]
	if a.json {
		return present.WorkerView(s, w, now), codeOfRun(w, now.Status), nil
	}
	printStatus(a.out, w, now.Status)
	for _, line := range present.Advice(w, now.Status) {
		a.say("  %s", line)
	}
	return v, codeOfRun(w, now.Status), nil
}

// exitTimeout is what timeout(1) calls the end of its patience.
const exitTimeout = 124

// worst is the exit code for several workers.
func worst(codes []int) error {
	for _, code := range []int{exitTimeout, exitFailed, exitRefused, exitWorker, exitQuarantined, exitInterrupted, exitPerson} {
		if slices.Contains(codes, code) {
			return codeError(code)
		}
	}
	return nil
}
