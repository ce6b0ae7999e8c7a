package keep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cordon/internal/base"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// baseChores are the bases that no lease needs, or will need when the chores before
// them are done.
func baseChores(ctx context.Context, s *worksite.Site, now *ledger.Ledger, before []Chore) ([]Chore, error) {
	list, err := unfinishedBases(s)
	if err != nil {
		return nil, err
	}
	kept, err := s.BaseStore().List()
	if err != nil || len(kept) == 0 {
		return list, err
	}
	leaving := map[lease.ID]bool{}
	for _, c := range before {
		leaving[c.Worker] = leaving[c.Worker] || !c.Keep && c.Worker != ""
	}
	needed, err := neededBases(ctx, s, now, leaving)
	if err != nil {
		return nil, err
	}
	for _, k := range baseOrder(kept) {
		if needed[k.Key] || s.BaseStore().Held(k.Key) {
			needed[k.Below] = true
			continue
		}
		c := Chore{What: "bases/" + k.Key, Why: "no lease needs this checkout", Bytes: k.Bytes}
		c.do = func(ctx context.Context) error { return removeBase(ctx, s, k.Key) }
		list = append(list, c)
	}
	return list, nil
}

// unfinishedBases are what processes that were killed while they made a base left.
func unfinishedBases(s *worksite.Site) ([]Chore, error) {
	entries, err := os.ReadDir(s.State.Base(""))
	if err != nil {
		return nil, err
	}
	var list []Chore
	for _, e := range entries {
		key, unfinished := strings.CutSuffix(e.Name(), ".new")
		if !unfinished || s.State.Held(filepath.Join("bases", key+".lock")) {
			continue
		}
		c := Chore{What: "bases/" + e.Name(), Why: "left by an interrupted run"}
		c.Bytes, _ = worktree.Bytes(s.State.Base(e.Name())) // for display
		c.do = func(context.Context) error { return s.BaseStore().Sweep() }
		list = append(list, c)
	}
	return list, nil
}

// baseOrder puts a base before the one that it lies on.
func baseOrder(kept []base.Kept) []base.Kept {
	below := map[string]base.Kept{}
	for _, k := range kept {
		below[k.Key] = k
	}
	depth := func(k base.Kept) (n int) {
		for at := k; at.Below != "" && n <= len(kept); at = below[at.Below] {
			n++
		}
		return n
	}
	sorted := make([][]base.Kept, len(kept)+2)
	for _, k := range kept {
		sorted[depth(k)] = append(sorted[depth(k)], k)
	}
	var list []base.Kept
	for i := len(sorted) - 1; i >= 0; i-- {
		list = append(list, sorted[i]...)
	}
	return list
}

// neededBases are the trees that leases were given, but for those of workers that
// leave.
func neededBases(ctx context.Context, s *worksite.Site, now *ledger.Ledger, leaving map[lease.ID]bool) (map[string]bool, error) {
	needed, asked := map[string]bool{}, map[git.OID]bool{}
	for _, w := range now.Workers {
		l := w.Lease.Lease()
		if !worksite.Layered(w) || w.Removal != nil || w.Discard != nil || leaving[w.ID] || asked[l.Base] {
			continue
		}
		asked[l.Base] = true
		tree, err := s.Host.TreeOf(ctx, l.Base)
		if err != nil {
			return nil, fmt.Errorf("the base of %s: %w", w.ID, err)
		}
		needed[string(tree)] = true
	}
	return needed, nil
}

func removeBase(ctx context.Context, s *worksite.Site, key string) error {
	err := s.BaseStore().Remove(ctx, key, func() (bool, error) {
		now, err := s.Ledger()
		if err != nil {
			return true, err
		}
		needed, err := neededBases(ctx, s, now, nil)
		return needed[key], err
	}, overdue(s.Now()))
	if errors.Is(err, base.ErrNeeded) { // by somebody who came meanwhile
		s.Voice.Step("", "keep", err.Error())
		return nil
	}
	return err
}

// overdue is a time in the trash that is over: cordon made a base of a commit, and
// makes it again.
func overdue(now time.Time) time.Time { return time.Unix(0, now.UnixMicro()) }
