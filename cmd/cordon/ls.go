package main

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"cordon/internal/journal"
	"cordon/internal/ledger"
	"cordon/internal/page"
	"cordon/internal/present"
	"cordon/internal/session"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// lsOptions are the flags of cordon ls.
type lsOptions struct {
	status         []string
	needsMe, runs  bool
	earlier, repos bool
	short, watch   bool
}

func (a *app) lsCommand() *cobra.Command {
	var o lsOptions
	c := &cobra.Command{
		Use:   "ls",
		Short: "List workers: who needs you, who runs, what landed today",
		Long: `List the workers of this repository in three groups: those that need you, with the
reason and what to type next; those that run, with what they do and when they were last
heard from (silent after five minutes, or notify.silent of your configuration); and those that landed today. Their status is
derived from the journal and from facts that can be checked now: whether a process holds
the worker's lock, and whether its result is an ancestor of the target branch.

--short prints one line for a prompt or a status bar, or nothing. It asks the journal
alone and starts no git, so a result that you merged by hand still counts.`,
		Example: "  cordon ls\n  cordon ls --needs-me --all\n  cordon ls --watch\n  PS1='$(cordon ls --short) $ '\n" +
			"  cordon ls --json | jq '.workers[] | select(.status == \"quarantined\")'",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.short:
				return a.lsShort()
			case o.watch:
				return a.lsWatch(cmd.Context(), o)
			}
			return a.ls(cmd.Context(), o)
		},
	}
	f := c.Flags()
	f.BoolVarP(&o.repos, "all", "a", false, "list the workers of all your repositories")
	f.BoolVar(&o.earlier, "all-states", false, "include workers that landed before today, were discarded, or were removed by gc")
	f.StringSliceVar(&o.status, "status", nil, "only workers in this `STATE` (repeatable)")
	f.BoolVar(&o.needsMe, "needs-me", false, "only workers that need you")
	f.BoolVar(&o.runs, "running", false, "only running workers")
	f.BoolVar(&o.short, "short", false, "one line for a prompt: 2 need you, 3 running")
	f.BoolVarP(&o.watch, "watch", "w", false, "redraw when something changes, until ctrl-c")
	return c
}

// unfiltered reports whether ended workers are shown, too.
func (o lsOptions) unfiltered() bool { return o.earlier || len(o.status) > 0 }

// wants reports whether a worker passes the filters.
func (o lsOptions) wants(v view.Worker) bool {
	if len(o.status) > 0 && !slices.Contains(o.status, v.Status) && !slices.Contains(o.status, present.Doing(v)) {
		return false
	}
	return !o.needsMe && !o.runs || o.needsMe && v.Group == view.NeedsYou || o.runs && v.Group == view.AtWork
}

// ls lists the workers that pass the filters.
func (a *app) ls(ctx context.Context, o lsOptions) error {
	workers, err := a.listed(ctx, o)
	if err != nil {
		return err
	}
	if a.json {
		return a.object(&view.Workers{Workers: workers})
	}
	hidden := a.page().Boards(workers, o.unfiltered())
	switch {
	case len(workers) == 0:
		a.say("no workers")
	case hidden == len(workers):
		a.say("no worker needs you, and none runs; cordon ls --all-states lists %s", terminal.Plural(hidden, "earlier one"))
	}
	return nil
}

// listed are the workers that pass the filters, of this repository or of all.
func (a *app) listed(ctx context.Context, o lsOptions) ([]view.Worker, error) {
	list := []view.Worker{}
	if !o.repos {
		s, err := a.open(ctx)
		if err != nil {
			return nil, err
		}
		all, err := present.Workers(ctx, s, present.Listing{All: o.earlier, Sizes: a.json})
		a.sayNotice(present.OfAnother(ctx, s, all))
		return append(list, slices.DeleteFunc(all, func(v view.Worker) bool { return !o.wants(v) })...), err
	}
	if err := refuseInside(); err != nil {
		return nil, err
	}
	sites, err := session.All(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range sites {
		all, err := present.Workers(ctx, s, present.Listing{All: o.earlier, Sizes: a.json})
		if err != nil {
			a.say("%s: %v", s.Host.Top, err)
			continue
		}
		for _, v := range all {
			if v.Repository = s.Host.Top; o.wants(v) {
				list = append(list, v)
			}
		}
	}
	return list, nil
}

// lsShort prints how many workers need a person. Nothing that is missing is an error: the
// line is for a prompt.
func (a *app) lsShort() error {
	if err := refuseInside(); err != nil {
		return err
	}
	n, err := present.Short(a.dir)
	switch {
	case err != nil:
		return err
	case a.json:
		return a.object(&n)
	}
	if line := present.ShortLine(n); line != "" {
		a.print("%s", line)
	}
	return nil
}

// lsWatch lists the workers again whenever something changes.
func (a *app) lsWatch(ctx context.Context, o lsOptions) error {
	screen, ok := a.out.(*os.File)
	if a.json || !ok || !terminal.Is(screen) || o.repos {
		return usage("--watch needs a terminal, and shows one repository")
	}
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	if err := s.Follow(); err != nil {
		return err
	}
	changes, err := journal.Changes(ctx, s.State.Path())
	if err != nil {
		return err
	}
	full := terminal.Full(screen)
	restore := sync.OnceFunc(full.Restore)
	defer restore()
	context.AfterFunc(ctx, restore)
	for ctx.Err() == nil {
		workers, err := present.Workers(ctx, s, present.Listing{All: o.earlier})
		if err != nil && ctx.Err() == nil {
			return err
		}
		frame := full.Frame()
		page.Page{Out: frame, Err: frame}.Boards(slices.DeleteFunc(workers, func(v view.Worker) bool { return !o.wants(v) }), o.unfiltered())
		if err := frame.Show(); err != nil {
			return err
		}
		select {
		case <-ctx.Done(): // ctrl-c is how it ends
		case <-changes:
			time.Sleep(100 * time.Millisecond) // events come in groups
		case <-time.After(redrawEvery):
		}
	}
	return codeError(exitDone)
}

// redrawEvery is how often the ages and activities are brought up to date.
const redrawEvery = 5 * time.Second

// hasWorkers reports whether a repository has workers to list.
func hasWorkers(s *session.Session) bool {
	l, err := s.Ledger()
	return err != nil || slices.ContainsFunc(l.Workers, func(w *ledger.Worker) bool { return w.Removal == nil })
}

// workers are those that wanted accepts, as they are shown.
func (a *app) workers(ctx context.Context, wanted func(ledger.Status) bool) ([]view.Worker, error) {
	s, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	return present.Workers(ctx, s, present.Listing{Wanted: wanted, Sizes: a.json})
}

func (a *app) showCommand() *cobra.Command {
	var review bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show everything about one worker",
		Long: `Show everything about one worker. --review shows its result as you would review it: what
happened and where the result is now, six facts, each broken rule with its line of the policy
and the evidence, every change with the rule that decided about it, what the guard and the network
refused, and what you can decide, each with its command.`,
		Example:           "  cordon show brisk-otter\n  cordon show --review brisk-otter",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, w, err := a.worker(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.show(cmd.Context(), s, w, review)
		},
	}
	c.Flags().BoolVar(&review, "review", false, "show its result for review, verdict first")
	return c
}

func (a *app) show(ctx context.Context, s *session.Session, w *ledger.Worker, review bool) error {
	standings, err := s.Standings(ctx, []*ledger.Worker{w})
	if err != nil {
		return err
	}
	if review {
		v, err := present.ReviewView(ctx, s, w, standings[w.ID])
		if err != nil {
			return err
		}
		return a.page().Review(v)
	}
	v := present.WorkerView(s, w, standings[w.ID])
	if a.json {
		return a.object(&view.OneWorker{Worker: v})
	}
	status := standings[w.ID].Status
	printStatus(a.out, w, status)
	terminal.WrappedTable(a.out, slices.Concat(present.LeaseRows(w, v), present.AgentRows(v.Client), present.RunRows(w, v),
		present.AskedRows(w), present.JudgeRows(w, v)))
	for _, line := range present.Advice(w, status) {
		a.say("  %s", line)
	}
	return nil
}
