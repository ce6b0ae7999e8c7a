package launch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"cordon/internal/audit"
	"cordon/internal/fault"
	"cordon/internal/inspect"
	"cordon/internal/ledger"
	"cordon/internal/worksite"
)

// treeLayers are the layers of a worker that are its tree, and not what it wrote
// elsewhere.
var treeLayers = map[string]bool{"tree": true, "git": true}

// clearPrivateLayers puts away what a worker wrote outside its tree before its agent is started
// again: a client would run what an earlier launch has left for it in the home. What
// violates the lease is judged instead.
func clearPrivateLayers(ctx context.Context, s *worksite.Site, w *ledger.Worker) (violates bool, err error) {
	found, err := inspect.WrittenOutside(ctx, s, w)
	if err != nil {
		return false, err
	}
	for _, f := range found {
		if f.Class == audit.Violation {
			s.Voice.Step(w.ID, "outside", "not started again: "+worksite.Line(f))
			return true, nil
		}
	}
	at, away := s.State.Layers(string(w.ID)), s.State.Layers(string(w.ID)+".away")
	if _, err := s.State.Trash(away, s.Now()); err != nil { // of an attempt that was broken off
		return false, err
	}
	entries, err := os.ReadDir(at)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := os.Mkdir(away, 0o700); err != nil {
		return false, err
	}
	for _, e := range entries {
		if treeLayers[e.Name()] {
			continue
		}
		if err := os.Rename(filepath.Join(at, e.Name()), filepath.Join(away, e.Name())); err != nil {
			return false, err
		}
	}
	_, err = s.State.Trash(away, s.Now())
	return false, err
}

// checkEarlier looks at what an earlier launch left before it is covered by another.
func checkEarlier(ctx context.Context, s *worksite.Site, w *ledger.Worker, how Request) (violates bool, err error) {
	if w.Start != nil && w.Audit == nil {
		look := func() error { violates, err = compareWithBaseline(ctx, s, w); return err }
		if err := s.HoldGate(ctx, look); err != nil || violates {
			return violates, err
		}
	}
	return readyForAnother(ctx, s, w, how)
}

// readyForAnother makes ready for another launch of an agent.
func readyForAnother(ctx context.Context, s *worksite.Site, w *ledger.Worker, how Request) (violates bool, err error) {
	if w.Agent == nil || w.Start == nil {
		return false, nil
	}
	if err := recordLostStream(s, w); err != nil {
		return false, err
	}
	if len(how.Command) > 0 {
		return false, nil
	}
	return clearPrivateLayers(ctx, s, w)
}

// compareWithBaseline compares the host before the baseline of a launch that was never
// audited is given up: running the command again must not make its changes
// forgotten. What decides what git runs, or carries the worker's name, has it
// judged as it is. What nobody can be named for needs the operator's word.
func compareWithBaseline(ctx context.Context, s *worksite.Site, w *ledger.Worker) (violates bool, err error) {
	lenient := *w
	lenient.Options.OperatorWorks = true
	found, _, err := inspect.CompareHost(ctx, s, &lenient)
	if err != nil {
		return false, err
	}
	inspect.SayChanged(s, w, "changed since the launch that was interrupted", found)
	violates = slices.ContainsFunc(found, func(f audit.Finding) bool { return f.Class == audit.Violation })
	if len(found) == 0 || violates || w.Options.OperatorWorks || s.OperatorActive || inspect.CouldNotWrite(w) {
		return violates, nil
	}
	return false, fault.Refuse("your repository changed since %s was interrupted, and running it again would cover that: if that was you, "+
		"cordon resume --operator-active %s, otherwise cordon merge %s judges what it left", w.ID, w.ID, w.ID)
}
