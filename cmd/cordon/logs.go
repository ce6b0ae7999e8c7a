package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/session"
)

func (a *app) logsCommand() *cobra.Command {
	var guarded, net, suggest bool
	c := &cobra.Command{
		Use:   "logs ID",
		Short: "Print what a worker and its acceptance commands printed",
		Long: `Print what a worker, its setup and its acceptance commands printed; or what its
guard decided; or what it tried to reach, connection by connection, and as lines
for the policy that would let pass what was refused.`,
		Example: `  cordon logs brisk-otter | less
  cordon logs --guard brisk-otter      what its guard decided, call by call
  cordon logs --net brisk-otter        what it tried to reach, and what came of it
  cordon logs --suggest brisk-otter    what to add to the policy to allow the rest`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.workerNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			if guarded && (net || suggest) {
				return usage("--guard and --net are two records: name one")
			}
			s, w, err := a.worker(cmd.Context(), args[0])
			switch {
			case err != nil:
				return err
			case guarded:
				return a.decisions(s, w)
			case suggest:
				return a.suggest(s, w)
			case net:
				return a.reached(cmd.Context(), s, w)
			}
			return a.transcript(s, w)
		},
	}
	c.Flags().BoolVar(&guarded, "guard", false, "print the guard's decisions instead")
	c.Flags().BoolVar(&net, "net", false, "print what it tried to reach instead")
	c.Flags().BoolVar(&suggest, "suggest", false, "print what of that was refused, as lines for the policy")
	return c
}

// transcript prints what a worker printed.
func (a *app) transcript(s *session.Session, w *ledger.Worker) error {
	f, err := s.Transcript(w)
	if os.IsNotExist(err) {
		a.say("%s has printed nothing", w.ID)
		if a.json {
			return a.object("cordon.transcript/1", map[string]any{"worker": w.ID, "text": ""})
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if a.json {
		text, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		return a.object("cordon.transcript/1", map[string]any{"worker": w.ID, "text": strings.ToValidUTF8(string(text), "\ufffd")})
	}
	_, err = io.Copy(forScreen(a.out), f)
	return err
}

// decisions prints what a worker's guard decided.
func (a *app) decisions(s *session.Session, w *ledger.Worker) error {
	list := []guard.Record{}
	t, err := s.Decisions(w, func(r guard.Record) { list = append(list, r) })
	if err != nil {
		return err
	}
	if a.json {
		return a.object("cordon.decisions/1", map[string]any{"worker": w.ID, "tally": t, "decisions": list})
	}
	if w.Guard != nil && w.Guard.Digest != t.Digest {
		a.say("%s: the record is not what the journal says it was when the worker ended", w.ID)
	}
	for _, r := range list {
		verdict := string(r.Verdict)
		if r.Warned {
			verdict = "warn"
		}
		a.print("%s  %-5s  %-14s  %s", r.Time.Local().Format("2006-01-02 15:04:05"), verdict, clip(oneLine(r.Tool+r.Event), 14), clip(oneLine(r.Input), 90))
		if r.Reason != "" {
			a.print("          %s", clip(oneLine(r.Reason), 110))
		}
	}
	a.say("%s: %s", w.ID, t)
	return nil
}
