package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
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

// BenchmarkJournal compares what a new process pays for a long journal with what it pays for a short one. Both
// have the same number of workers that gc has not removed.
func BenchmarkJournal(b *testing.B) {
	const few, many = 500, 50_000
	dir := place(b)
	if memory, err := os.MkdirTemp("/dev/shm", "cordon-bench-"); err == nil { // it takes many appends
		b.Cleanup(func() { erase(b, memory) })
		dir = memory
	}
	short, long := makePast(b, filepath.Join(dir, "few"), few), makePast(b, filepath.Join(dir, "many"), many)
	t := turns{}
	for b.Loop() {
		for name, p := range map[string]*past{"few": short, "many": long} {
			for what, act := range p.acts() {
				p.open(b)
				t.time(b, what+" "+name, act)
			}
		}
	}
	for what := range long.acts() {
		t.compare(b, fmt.Sprintf("journal, a new process: %s, %d events compared with %d", what, many, few), "", what+" many", what+" few")
	}
}

// past is a repository with a journal of some length.
type past struct {
	dir   string
	base  git.OID
	taken map[lease.ID]bool
	site  *session.Session
	log   *journal.Journal
	view  *journal.View
}

// acts are what is measured.
func (p *past) acts() map[string]func() error {
	return map[string]func() error{
		"append": func() error { _, err := p.log.Append("", "+bench.append", nil); return err },
		"ls": func() error {
			now, err := p.site.Ledger()
			if err == nil {
				_, err = p.site.Standings(context.Background(), now.Workers)
			}
			return err
		},
		"inbox":             func() error { _, err := mailbox.Inbox(context.Background(), p.site.Site); return err },
		"verify everything": func() error { return p.view.Verify(nil) },
	}
}

func makePast(b *testing.B, dir string, events int) *past {
	b.Helper()
	b.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	p := &past{dir: dir, taken: map[lease.ID]bool{}}
	writeFiles(b, filepath.Join(dir, "repo"), map[string]string{"a": "a\n"})
	firstCommit(b, filepath.Join(dir, "repo"))
	var err error
	if p.site, err = session.Open(context.Background(), filepath.Join(dir, "repo")); err != nil {
		b.Fatal(err)
	}
	if p.base, err = p.site.Host.Commit(context.Background(), "HEAD"); err != nil {
		b.Fatal(err)
	}
	if err := p.site.State.Make(p.site.Host); err != nil {
		b.Fatal(err)
	}
	p.open(b)
	const ofOne, uncollected = 7, 40
	for n := 0; n+ofOne <= events; n += ofOne {
		p.worker(b, n/ofOne >= uncollected)
	}
	return p
}

// open begins anew, as a process does.
func (p *past) open(b *testing.B) {
	b.Helper()
	var err error
	if p.log, err = journal.Open(p.site.State.Path()); err != nil {
		b.Fatal(err)
	}
	p.view = p.log.View(ledger.FoldName, ledger.Current())
}

// worker records the events of a worker that met a conflict, or that gc removed.
func (p *past) worker(b *testing.B, collected bool) {
	b.Helper()
	last, data := ledger.Judged, any(gate.Result{Outcome: gate.Conflict, Commit: p.base})
	if collected {
		last, data = ledger.Removed, ledger.Removal{Why: "bench"}
	}
	id, sealed := p.lease(b)
	for _, e := range []struct {
		typ  string
		data any
	}{
		{ledger.Leased, ledger.Lease{Lease: sealed.Bytes(), Hash: sealed.Hash(), Command: []string{"true"}}},
		{ledger.Prepared, ledger.Tree{}}, {ledger.Started, ledger.Start{Command: []string{"true"}}}, {ledger.Asked, ledger.Question{Text: "which?"}},
		{ledger.Ended, cell.Exit{}}, {ledger.Audited, ledger.Audit{Verdict: "clean"}}, {last, data},
	} {
		raw, err := ledger.Encode(e.typ, e.data)
		if err == nil {
			_, err = p.log.AppendIf(string(id), e.typ, raw, p.view, nil)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func (p *past) lease(b *testing.B) (lease.ID, lease.Sealed) {
	b.Helper()
	id, err := lease.NewID(func(id lease.ID) bool { return p.taken[id] })
	if err != nil {
		b.Fatal(err)
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
		b.Fatal(err)
	}
	return id, sealed
}
