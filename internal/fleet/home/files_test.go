package home_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"cordon/internal/fleet/engine"
	"cordon/internal/fleet/home"
	"cordon/internal/fleet/node"
	"cordon/internal/fleet/pack"
	"cordon/internal/fleet/protocol"
	"cordon/internal/git"
	"cordon/internal/journal"
)

// source are stages with a repository's base.
type source struct {
	stages
	base, journal string
}

// Returned are the packs of all results: nobody unpacks them before the test does.
func (s source) Returned() (packs []protocol.Pack, err error) {
	log, err := journal.Open(s.journal)
	if err != nil {
		return nil, err
	}
	events, err := log.Events()
	for _, e := range events {
		if e.Type == home.Returned {
			var r home.Return
			err = errors.Join(err, json.Unmarshal(e.Data, &r))
			packs = append(packs, r.Pack)
		}
	}
	return packs, err
}

func (s source) Stage(lease string) (home.Stage, bool) {
	at, ok := s.stages.Stage(lease)
	at.Base = s.base
	return at, ok
}

func (s source) Stages() []home.Stage {
	list := s.stages.Stages()
	for i := range list {
		list[i].Base = s.base
	}
	return list
}

// packsAt are the packs of a home, in the directory of its journal.
func packsAt(host git.Repo, dir string) *home.Packs {
	return &home.Packs{
		Host: host, Bases: pack.Store{Dir: filepath.Join(dir, "bases")}, Gotten: pack.Store{Dir: filepath.Join(dir, "results")}, Most: 1 << 30, Room: 1 << 30,
	}
}

// filesNode changes one file for each stage, in a repository of its own.
type filesNode struct {
	repo    git.Repo
	store   pack.Store
	base    git.OID
	outside string           // the stage whose file is outside the lease
	got     func(size int64) // hears of every base

	mu   sync.Mutex
	have []string
}

func newFilesNode(ctx context.Context, bin git.Binary, dir string, base git.OID) (*filesNode, error) {
	repo, err := git.Init(ctx, bin, filepath.Join(dir, "repo"), git.InitOptions{Bare: true, Format: git.SHA1})
	return &filesNode{repo: repo, store: pack.Store{Dir: filepath.Join(dir, "packs")}, base: base, got: func(int64) {}}, err
}

// run gets the base, commits one file named after the stage, and sends it.
func (n *filesNode) run(ctx context.Context, h *node.Hold, o protocol.Offer) (r protocol.Result, err error) {
	if err := n.fetch(ctx, h); err != nil {
		return r, err
	}
	file := "src/" + o.Lease
	if o.Lease == n.outside {
		file = "elsewhere"
	}
	commit, err := n.repo.Snapshot(ctx, "refs/heads/"+o.Lease, n.base, "work\n", func(w *git.Writer) error {
		return w.Put(file, git.Regular, int64(len(o.Lease)), strings.NewReader(o.Lease))
	})
	if err != nil {
		return r, err
	}
	made, err := n.store.Make(ctx, n.repo, commit, []git.OID{n.base}, false, 1<<20)
	if err != nil {
		return r, err
	}
	return protocol.Result{Base: string(n.base), Commit: string(commit), Pack: made, Ending: "done", Chain: "none"}, h.Send(ctx, n.store, made)
}

func (n *filesNode) fetch(ctx context.Context, h *node.Hold) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	name, err := h.Base(ctx, n.store, n.have)
	if err != nil {
		return err
	}
	content, err := n.store.Open(name)
	if err != nil {
		return err
	}
	defer content.Close()
	if err := n.repo.AddPack(ctx, content); err != nil {
		return err
	}
	n.have = []string{string(n.base)}
	n.got(name.Size)
	return nil
}

// TestFilesSurvive is TestFleetSurvives with packs: nodes fetch a base and return commits, and the home admits and audits
// each result in the end.
func TestFilesSurvive(t *testing.T) {
	const count = 300
	f := newFilesFleet(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	w := newWorldOf(t, count, f)
	w.survive(ctx, count)
	log, err := journal.Open(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	f.packs = packsAt(f.host, w.dir)
	f.admitAll(f.results(log), count)
}

// listening is the engine of a node that notes every refusal of a result, by its question.
type listening struct {
	engine.Node
	to string // a file
}

// Ask is that of engine.Node.
func (l listening) Ask(ctx context.Context, question []byte) ([]byte, error) {
	said, err := l.Node.Ask(ctx, question)
	if err == nil && said != nil && l.isRefused(question, said) {
		f, err := os.OpenFile(l.to, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		_, err = f.WriteString(protocol.Digest(question) + "\n")
		return said, errors.Join(err, f.Close())
	}
	return said, err
}

func (listening) isRefused(question, said []byte) bool {
	var q, a protocol.Signed
	var asked protocol.Header
	var answer protocol.Answer
	err := errors.Join(json.Unmarshal(question, &q), json.Unmarshal(said, &a))
	if err == nil {
		err = errors.Join(json.Unmarshal(q.Body, &asked), json.Unmarshal(a.Body, &answer))
	}
	return err == nil && asked.Kind == protocol.ResultKind && answer.Verdict != protocol.Taken
}
