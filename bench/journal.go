package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
	"time"

	"cordon/internal/cell"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/mailbox"
	"cordon/internal/policy"
	"cordon/internal/session"
)

// The journal is measured at two lengths, with the same number of workers that gc has
// not removed: all others are collected.
const (
	fewEvents, manyEvents = 500, 50_000
	uncollected           = 40
)

// journals prints what a new process pays for the journal.
func journals(rounds int) error {
	var columns [2]map[string]time.Duration
	for i, n := range []int{fewEvents, manyEvents} {
		p, err := makePast(n)
		if err != nil {
			return err
		}
		columns[i], err = p.measure(rounds)
		if rerr := os.RemoveAll(p.dir); err == nil {
			err = rerr
		}
		if err != nil {
			return err
		}
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "a new process, %d workers\t%d events\t%d events\tratio\n", uncollected, fewEvents, manyEvents)
	for _, name := range []string{"append", "lease", "ls", "inbox", "verify everything"} {
		few, many := columns[0][name], columns[1][name]
		fmt.Fprintf(out, "%s\t%s\t%s\t%.1f ×\n", name, short(float64(few)), short(float64(many)), float64(many)/float64(few))
	}
	return out.Flush()
}

// past is a repository with a journal of some length.
type past struct {
	dir, repo string
	base      git.OID
	taken     map[lease.ID]bool
	log       *journal.Journal
	view      *journal.View
}

// makePast makes one, in memory where there is such a place: it takes many appends.
func makePast(events int) (*past, error) {
	root := ""
	if _, err := os.Stat("/dev/shm"); err == nil {
		root = "/dev/shm"
	}
	dir, err := os.MkdirTemp(root, "cordon-bench-")
	if err != nil {
		return nil, err
	}
	p := &past{dir: dir, repo: filepath.Join(dir, "repo"), taken: map[lease.ID]bool{}}
	if err := os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"init", "-q", p.repo}, {"-C", p.repo, "-c", "user.name=b", "-c", "user.email=b", "commit", "-q",
		"--allow-empty", "-m", "base"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("git %v: %w\n%s", args, err, out)
		}
	}
	s, err := session.Open(context.Background(), p.repo)
	if err != nil {
		return nil, err
	}
	if p.base, err = s.Host.Commit(context.Background(), "HEAD"); err != nil {
		return nil, err
	}
	if err := s.State.Make(s.Host); err != nil {
		return nil, err
	}
	if err := p.open(s); err != nil {
		return nil, err
	}
	return p, p.fill(events)
}

// open begins anew, as a process does.
func (p *past) open(s *session.Session) (err error) {
	if p.log, err = journal.Open(s.State.Path()); err == nil {
		p.view = p.log.View(ledger.FoldName, ledger.Current())
	}
	return err
}

func (p *past) fill(events int) error {
	const ofOne = 7
	for n := 0; n+ofOne <= events; n += ofOne {
		collected := n/ofOne >= uncollected
		if err := p.worker(collected); err != nil {
			return err
		}
	}
	return nil
}

// worker records the events of a worker that met a conflict, and that gc removed.
func (p *past) worker(collected bool) error {
	id, err := p.lease()
	if err != nil {
		return err
	}
	last, data := ledger.Judged, any(gate.Result{Outcome: gate.Conflict, Commit: p.base})
	if collected {
		last, data = ledger.Removed, ledger.Removal{Why: "bench"}
	}
	for _, e := range []struct {
		typ  string
		data any
	}{
		{ledger.Prepared, ledger.Tree{}}, {ledger.Started, ledger.Start{Command: []string{"true"}}}, {ledger.Asked, ledger.Question{Text: "which?"}},
		{ledger.Ended, cell.Exit{}}, {ledger.Audited, ledger.Audit{Verdict: "clean"}}, {last, data},
	} {
		if err := p.append(id, e.typ, e.data); err != nil {
			return err
		}
	}
	return nil
}

func (p *past) lease() (lease.ID, error) {
	id, err := lease.NewID(func(id lease.ID) bool { return p.taken[id] })
	if err != nil {
		return "", err
	}
	p.taken[id] = true
	sealed, err := lease.Seal(lease.Lease{
		Terms: lease.Terms{
			ID: id, Branch: "cordon/" + string(id), Base: p.base, Target: "refs/heads/main",
			Created: time.Now(), Expires: time.Now().Add(time.Hour), Policy: policy.Default(),
		},
		Place: lease.Place{Worktree: filepath.Join(p.dir, string(id)), Home: p.dir},
	})
	if err != nil {
		return "", err
	}
	return id, p.append(id, ledger.Leased, ledger.Lease{Lease: sealed.Bytes(), Hash: sealed.Hash(), Command: []string{"true"}})
}

func (p *past) append(id lease.ID, typ string, data any) error {
	raw, err := ledger.Encode(typ, data)
	if err == nil {
		_, err = p.log.AppendIf(string(id), typ, raw, p.view, nil)
	}
	return err
}

// measure takes the median of each, in a process as good as new.
func (p *past) measure(rounds int) (map[string]time.Duration, error) {
	ctx := context.Background()
	s, err := session.Open(ctx, p.repo)
	if err != nil {
		return nil, err
	}
	all := map[string]time.Duration{}
	for _, m := range []struct {
		name string
		act  func() error
	}{
		{"append", func() error { _, err := p.log.Append("", "+bench.append", nil); return err }},
		{"lease", func() error { _, err := p.lease(); return err }},
		{"ls", func() error {
			now, err := s.Ledger()
			if err == nil {
				_, err = s.Standings(ctx, now.Workers)
			}
			return err
		}},
		{"inbox", func() error { _, err := mailbox.Inbox(ctx, s.Site); return err }},
		{"verify everything", func() error { return p.view.Verify(nil) }},
	} {
		var times []time.Duration
		for range rounds {
			if err := p.open(s); err != nil {
				return nil, err
			}
			began := time.Now()
			if err := m.act(); err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			times = append(times, time.Since(began))
		}
		all[m.name] = median(times)
	}
	return all, nil
}
