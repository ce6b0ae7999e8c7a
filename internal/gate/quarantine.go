package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/lease"
)

// ManifestSchema names the encoding of a manifest.
const ManifestSchema = "cordon.quarantine/1"

// Manifest is kept with a quarantined result, as manifest.json of the commit
// refs/cordon/quarantine/ID/evidence.
type Manifest struct {
	Schema  string          `json:"schema"`
	Worker  lease.ID        `json:"worker"`
	Time    time.Time       `json:"time"`
	Reasons []string        `json:"reasons"`
	Lease   json.RawMessage `json:"lease"`
	Hash    string          `json:"lease_hash"`
	Gate    *Result         `json:"gate,omitempty"`
	Result  git.OID         `json:"result,omitempty"`  // what the worker left, as far as git can hold it safely
	History git.OID         `json:"history,omitempty"` // the worker's own last commit
	Missing []string        `json:"missing,omitempty"` // what is only in the frozen tree, and why
	Tree    string          `json:"tree"`              // where the frozen tree is

	// What was written outside the tree, and where all of it is kept.
	Captured []Captured `json:"captured,omitempty"`
	Layers   string     `json:"layers,omitempty"`

	Evidence git.OID `json:"-"` // the commit that holds this
}

// Evidence is what is kept of a result that does not land.
type Evidence struct {
	Lease      lease.Sealed
	Reasons    []string
	Report     *audit.Report // nil when there was no audit
	Gate       *Result
	Top        string // the worker's tree
	Frozen     string // where it will lie
	Layers     string // what it wrote outside
	History    git.Repo
	Transcript string // file
	Now        time.Time
}

// maxTranscript is how much of a transcript's end is kept in the evidence.
const maxTranscript = 4 << 20

// Quarantine stores a result and its evidence under refs of the host that gc
// respects. It does as much as it can: what could not be stored is named in the
// manifest and remains in the frozen tree.
func (g *Gate) Quarantine(ctx context.Context, e Evidence) (Manifest, error) {
	l := e.Lease.Lease()
	m := Manifest{
		Schema: ManifestSchema, Worker: l.ID, Time: e.Now.UTC(), Reasons: e.Reasons,
		Lease: e.Lease.Bytes(), Hash: e.Lease.Hash(), Gate: e.Gate, Tree: e.Frozen,
	}
	if e.Gate != nil { // the manifest is printed as it is, and its form has no names with a mark
		judged := *e.Gate
		judged.Retries, judged.Cached, judged.Signed, judged.Busy, m.Gate = 0, false, false, false, &judged
		judged.Hooks, judged.InTheWay, judged.Queue = nil, nil, nil
		judged.Checks = slices.Clone(judged.Checks)
		for i := range judged.Checks {
			c := &judged.Checks[i]
			c.Reused, c.Node, c.Names = false, "", nil
		}
	}
	if err := g.keepResult(ctx, e, &m); err != nil {
		m.Missing = append(m.Missing, "result: "+err.Error())
	}
	if err := g.keepHistory(ctx, e, &m); err != nil {
		m.Missing = append(m.Missing, "history: "+err.Error())
	}
	if ctx.Err() != nil {
		return m, ctx.Err()
	}
	var captured git.OID
	if m.Captured, captured = g.keepCaptured(ctx, e); len(m.Captured) > 0 {
		m.Layers = e.Layers
	}
	var err error
	m.Evidence, err = g.keepEvidence(ctx, e, m, captured)
	return m, err
}

func (g *Gate) keepResult(ctx context.Context, e Evidence, m *Manifest) error {
	if e.Report == nil {
		return errors.New("the tree was not audited")
	}
	if e.Report.Partial {
		return errors.New("the worker changed more than cordon stores; the frozen tree keeps all of it")
	}
	base := e.Report.Base
	commit, err := g.Snapshot(ctx, string(e.Lease.Lease().ID), base, e.Top, e.Report.Landing(true))
	if err != nil {
		return err
	}
	if err := g.keep(ctx, m.Worker, EvidenceOf(m.Worker, "result"), commit, base); err != nil {
		return err
	}
	m.Result = commit
	for _, f := range e.Report.Violating() {
		if f.Source == "" && !f.Kind.Landable() {
			m.Missing = append(m.Missing, fmt.Sprintf("%s (%s)", f.Path, f.Kind))
		}
	}
	if more := e.Report.More; more != nil && more.Violations > 0 {
		m.Missing = append(m.Missing, fmt.Sprintf("and %d more violations that the audit counted but did not list", more.Violations))
	}
	return nil
}

func (g *Gate) keepHistory(ctx context.Context, e Evidence, m *Manifest) error {
	if e.Report == nil || e.Report.History == nil || e.Report.History.Head.IsZero() {
		return nil
	}
	head := e.Report.History.Head
	if err := e.History.SendForeign(ctx, g.host.Repo, []git.OID{head}, []git.OID{e.Lease.Lease().Base}); err != nil {
		return err
	}
	m.History = head
	return g.name(ctx, m.Worker, Naming{Ref: EvidenceOf(m.Worker, "history"), OID: head})
}

func (g *Gate) keepEvidence(ctx context.Context, e Evidence, m Manifest, captured git.OID) (git.OID, error) {
	parts := map[string][]byte{"lease.json": e.Lease.Bytes()}
	var err error
	if parts["manifest.json"], err = json.MarshalIndent(m, "", "  "); err != nil {
		return "", err
	}
	if e.Report != nil {
		if parts["audit.json"], err = e.Report.Encode(); err != nil {
			return "", err
		}
	}
	if text, err := tail(e.Transcript, maxTranscript); err == nil { // there may be none
		parts["transcript"] = text
	}
	var files []git.File
	for name, content := range parts {
		oid, err := g.repo.PutBlob(ctx, bytes.NewReader(content))
		if err != nil {
			return "", err
		}
		files = append(files, git.File{Path: name, Entry: git.Entry{Mode: git.Regular, OID: oid}})
	}
	if captured != "" {
		files = append(files, git.File{Path: "captured", Entry: git.Entry{Mode: git.Directory, OID: captured}})
	}
	tree, err := g.repo.PutTree(ctx, files)
	if err != nil {
		return "", err
	}
	message := fmt.Sprintf("quarantine of %s\n\n%s\n", m.Worker, strings.Join(m.Reasons, "\n"))
	commit, err := g.repo.CommitTree(ctx, tree, nil, message, git.Person{Name: "cordon", Email: "cordon@localhost"})
	if err != nil {
		return "", err
	}
	return commit, g.keep(ctx, m.Worker, EvidenceOf(m.Worker, "evidence"), commit)
}

// tail reads the end of a file.
func tail(path string, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, fi.Size()-n)
	return io.ReadAll(io.NewSectionReader(f, from, n))
}

// StoredResult returns the stored result of a quarantined worker.
func (g *Gate) StoredResult(ctx context.Context, id lease.ID) (git.OID, error) {
	return g.host.Ref(ctx, EvidenceOf(id, "result"))
}

// Evidence returns one file of a quarantined worker's evidence.
func (g *Gate) Evidence(ctx context.Context, id lease.ID, name string) ([]byte, error) {
	commit, err := g.host.Ref(ctx, EvidenceOf(id, "evidence"))
	if err != nil {
		return nil, err
	}
	b, ok, err := g.host.FileAt(ctx, commit, name)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", name, os.ErrNotExist)
	}
	return b, err
}

// Discard moves the refs of a worker to the trash. It may be repeated.
func (g *Gate) Discard(ctx context.Context, id lease.ID) error {
	refs, err := g.host.Refs(ctx, quarantine+string(id), ResultOf(id))
	if err != nil {
		return err
	}
	var moves []Naming
	for _, r := range refs {
		name := strings.TrimPrefix(strings.TrimPrefix(r.Name, EvidenceOf(id, "")), results)
		moves = append(moves, Naming{Ref: trash + string(id) + "/" + name, OID: r.OID, From: r.Name}, Naming{Ref: r.Name})
	}
	return g.name(ctx, id, moves...)
}

// Trashed lists the workers with refs in the trash.
func (g *Gate) Trashed(ctx context.Context) ([]lease.ID, error) {
	refs, err := g.host.Refs(ctx, trash)
	if err != nil {
		return nil, err
	}
	var ids []lease.ID
	for _, r := range refs {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.Name, trash), "/")
		if id := lease.ID(name); len(ids) == 0 || ids[len(ids)-1] != id {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// EmptyTrash drops the refs of a discarded worker for good.
func (g *Gate) EmptyTrash(ctx context.Context, id lease.ID) error {
	return g.unname(ctx, id, trash+string(id), PinOf(id))
}
