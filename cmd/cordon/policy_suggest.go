package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/ledger"
	"cordon/internal/plainfile"
	"cordon/internal/policy"
	"cordon/internal/session"
	"cordon/internal/suggest"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

func (a *app) policySuggestCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "suggest [ID...]",
		Short: "Suggest changes of the policy from past runs",
		Long: `Print a diff of cordon.yaml with what past runs lacked, and the reason behind each line:
refused domains (as presets where there is one), refused ports of this machine, the
smallest write_roots for paths outside them, and scratch for ignored output. With three
or more runs that wrote in a few directories only, it suggests those instead of the whole
tree. Without an ID it looks at all runs that cordon still knows.

Nothing is applied. A worker chose what it tried, and each line lets every later worker
do it: take only lines that you understand. Lines from a run in quarantine say so.`,
		Example: `  cordon policy suggest
  cordon policy suggest brisk-otter | git apply`,
		ValidArgsFunction: a.workerNames,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.policySuggest(cmd.Context(), args) },
	}
}

func (a *app) policySuggest(ctx context.Context, ids []string) error {
	s, workers, err := a.suggestFrom(ctx, ids)
	if err != nil {
		return err
	}
	shown := view.PolicySuggestion{
		Path: filepath.Join(s.Host.Top, worksite.PolicyName), Workers: []string{}, Quarantined: []string{}, Lines: []view.SuggestedLine{},
	}
	var runs []suggest.Run
	for _, w := range workers {
		r, err := suggest.Gather(ctx, s.Site, w)
		if err != nil {
			return err
		}
		runs, shown.Workers = append(runs, r), append(shown.Workers, r.ID)
	}
	before, err := plainfile.Read(shown.Path, plainfile.Text)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	now := policy.Default()
	if err == nil {
		if now, err = policy.Parse(worksite.PolicyName, before); err != nil {
			return err
		}
	}
	lines := suggest.From(now, runs)
	after, err := suggest.Edit(before, lines)
	if err != nil {
		return err
	}
	if len(lines) > 0 {
		shown.Diff = suggest.Diff(worksite.PolicyName, string(before), string(after), before != nil)
	}
	for _, l := range lines {
		shown.Lines = append(shown.Lines, view.SuggestedLine{Key: l.Key, Value: l.Value, Remove: l.Remove, Reason: l.Reason, Workers: l.Runs})
	}
	shown.Quarantined = append(shown.Quarantined, suggest.Quarantined(lines, runs)...)
	return a.showSuggested(shown)
}

// suggestFrom finds the workers that were named, or all.
func (a *app) suggestFrom(ctx context.Context, ids []string) (*session.Session, []*ledger.Worker, error) {
	s, err := a.open(ctx)
	if err != nil || len(ids) == 0 {
		if err != nil {
			return nil, nil, err
		}
		l, err := s.Ledger()
		if err != nil {
			return nil, nil, err
		}
		return s, l.Workers, nil
	}
	var workers []*ledger.Worker
	for _, id := range ids {
		_, w, err := a.worker(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		workers = append(workers, w)
	}
	return s, workers, nil
}

func (a *app) showSuggested(shown view.PolicySuggestion) error {
	if a.json {
		return a.object(&shown)
	}
	if shown.Diff == "" {
		a.say("%s lacked nothing that a policy could allow", worksite.Count(len(shown.Workers), "run"))
		return nil
	}
	for line := range strings.Lines(shown.Diff) {
		a.print("%s", strings.TrimSuffix(line, "\n"))
	}
	for _, id := range shown.Quarantined {
		a.say("%s is in quarantine, and lines come from it: its worker chose what it tried", id)
	}
	a.say("nothing was changed; every later worker may do what you add: take only lines that you understand")
	return nil
}
