package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/ledger"
	"cordon/internal/present"
	"cordon/internal/seen"
	"cordon/internal/session"
	"cordon/internal/supervisor"
	"cordon/internal/view"
)

func (a *app) stopCommand() *cobra.Command {
	var all bool
	var grace time.Duration
	var saw string
	c := &cobra.Command{
		Use:   "stop ID... | stop --all",
		Short: "End workers and keep their work",
		Long: `End running workers, in the background or on another terminal. The command gets SIGTERM,
and SIGKILL if it still runs when --grace is over; so do setup and acceptance commands.
stop returns when the worker's supervisor has recorded the end. A supervisor that does
not react is ended too.

Nothing is lost: the tree stays as it is, and cordon resume or cordon merge continues.
A worker that does not run is left alone.`,
		Example:           "  cordon stop brisk-otter\n  cordon stop --all --grace 1m",
		ValidArgsFunction: a.liveNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case all == (len(args) > 0):
				return usage("name workers, or use --all")
			case grace < 0:
				return usage("--grace is a length of time such as 10s")
			case saw != "" && len(args) != 1:
				return usage("--seen is about one worker")
			}
			return a.stop(cmd.Context(), args, saw, grace)
		},
	}
	c.Flags().BoolVarP(&all, "all", "a", false, "end every running worker of this repository")
	seenFlag(c, &saw)
	c.Flags().DurationVar(&grace, "grace", 10*time.Second, "how long a command may take to end; 0s ends it at once")
	return c
}

func (a *app) stop(ctx context.Context, names []string, saw string, grace time.Duration) error {
	s, workers, err := a.named(ctx, names)
	if err != nil {
		return err
	}
	if saw != "" {
		if err := a.saw(ctx, s, workers[0], saw, seen.ForStop, ""); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		workers = supervisor.Running(s.Site, workers)
	}
	if len(workers) == 0 && !a.json {
		a.say("no worker is running")
		return nil
	}
	if err := s.Begin(ctx); err != nil {
		return err
	}
	outcomes, errs := make([]supervisor.Outcome, len(workers)), make([]error, len(workers))
	var all sync.WaitGroup
	for i, w := range workers {
		all.Go(func() {
			outcomes[i], errs[i] = supervisor.Stop(ctx, s.Site, w, ledger.Stop{Who: operator(), Grace: grace})
		})
	}
	all.Wait()
	shown := view.Stop{Workers: []view.Stopped{}}
	for i, w := range workers {
		if outcomes[i] == "" {
			continue
		}
		v, err := a.stopped(ctx, s, w, outcomes[i])
		if err != nil {
			return err
		}
		shown.Workers = append(shown.Workers, v)
	}
	if err := errors.Join(errs...); err != nil || !a.json {
		return err
	}
	return a.object(&shown)
}

// stopped says what became of a worker that was stopped, and what to type next.
func (a *app) stopped(ctx context.Context, s *session.Session, w *ledger.Worker, outcome supervisor.Outcome) (view.Stopped, error) {
	w, err := s.Find(string(w.ID))
	if err != nil {
		return view.Stopped{}, err
	}
	status, err := s.Status(ctx, w)
	if err != nil || a.json {
		return view.Stopped{Worker: string(w.ID), Outcome: string(outcome), Status: string(status), Next: present.Commands(w, status)}, err
	}
	switch outcome {
	case supervisor.Idle:
		a.say("%s was not running", w.ID)
	case supervisor.Killed:
		a.say("the supervisor of %s did not react and was killed; nothing is lost", w.ID)
	}
	printStatus(a.out, w, status)
	for _, line := range present.Advice(w, status) {
		a.say("  %s", line)
	}
	return view.Stopped{}, nil
}

// named opens the repository and finds workers by their names: no names are all workers.
func (a *app) named(ctx context.Context, names []string) (*session.Session, []*ledger.Worker, error) {
	s, err := a.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	l, err := s.Ledger()
	if err != nil || len(names) == 0 {
		return s, l.Workers, err
	}
	var list []*ledger.Worker
	for _, name := range names {
		w, err := findNamed(s, name)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, w)
	}
	return s, list, nil
}
