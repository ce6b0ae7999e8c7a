package keep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// A repair goes on with a journal that was damaged or removed. It keeps the sound
// part, and believes about the rest only what refs of the host and files of cordon's
// own prove. Nothing lands by it: a worker whose events may be missing is quarantined,
// and one whose lease is lost gets a new one under which nothing may land.

// Repair is what would be done.
type Repair struct {
	Remains journal.Remains
	Fates   []Fate

	Traces map[lease.ID]*Trace
}

// Fate is what becomes of one worker.
type Fate struct {
	Worker lease.ID `json:"worker"`
	What   string   `json:"what"`
	Why    string   `json:"why"`
}

// The words for it.
const (
	fateSame      = "same"
	fateSuspended = "quarantined"
	fateRecovered = "recovered, quarantined"
	fateDiscarded = "discarded"
	fateLeft      = "left where it is"
)

// Trace is what there is of a worker beside the journal.
type Trace struct {
	Refs  map[string]git.OID // below refs/cordon, without the worker's name: pins, results, quarantine/result …
	Tree  bool               // its files are there
	kind  lease.Tree
	lease leaseHint
}

// leaseHint is what a lost lease said, as far as something repeats it.
type leaseHint struct {
	Base    git.OID    `json:"base"`
	Target  string     `json:"target"`
	Tree    lease.Tree `json:"tree"`
	Adopted bool       `json:"adopted"`
	command []string
}

// read takes what the text of a lease says. Fields that it lacks keep their values.
func (h *leaseHint) read(text []byte) {
	parts := struct{ Terms, Place json.RawMessage }{Terms: text} // an older cordon wrote a lease in one
	_ = json.Unmarshal(text, &parts)
	for _, part := range []json.RawMessage{parts.Terms, parts.Place} {
		_ = json.Unmarshal(part, h)
	}
}

// inTrash and kept say where refs of the worker's result are.
func (t *Trace) inTrash() bool { return t.has("trash/") }

func (t *Trace) kept() bool { return t.has("quarantine/") || t.has("results") }

func (t *Trace) has(prefix string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(t.Refs)), func(name string) bool { return strings.HasPrefix(name, prefix) })
}

// PlanRepair looks at what there is and decides. It changes nothing.
func PlanRepair(ctx context.Context, s *worksite.Site) (*Repair, error) {
	r := &Repair{}
	var err error
	if r.Remains, err = journal.Inspect(s.State.Path()); err != nil {
		return nil, err
	}
	now, err := ledger.Fold(r.Remains.Sound)
	if err != nil {
		return nil, err
	}
	if r.Traces, err = traces(ctx, s); err != nil {
		return nil, err
	}
	r.hint(ctx, s)
	if r.Remains.Problem != nil {
		for _, w := range now.Workers {
			fate, err := fateOf(ctx, s, w, r.Traces[w.ID])
			if err != nil {
				return nil, err
			}
			r.Fates = append(r.Fates, fate)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.Traces)) {
		if t := r.Traces[id]; !now.Taken(id) && (t.Tree || t.kept() || t.inTrash()) {
			r.Fates = append(r.Fates, fateOfLost(id, t))
		}
	}
	return r, nil
}

// fateOf decides about a worker whose lease is in the sound part.
func fateOf(ctx context.Context, s *worksite.Site, w *ledger.Worker, t *Trace) (Fate, error) {
	status, err := s.Status(ctx, w)
	switch {
	case err != nil:
		return Fate{}, err
	case !status.Live() || w.Removal != nil:
		return Fate{w.ID, fateSame, string(status)}, nil
	case t == nil || !t.Tree && !t.kept() && !t.inTrash():
		return Fate{w.ID, fateSame, "it left nothing but its lease"}, nil
	case t.inTrash() && !t.Tree && !t.kept():
		return Fate{w.ID, fateDiscarded, "its refs are in refs/cordon/trash"}, nil
	}
	return Fate{w.ID, fateSuspended, "events of it may be lost; release or discard it"}, nil
}

// fateOfLost decides about a worker of which the sound part knows nothing.
func fateOfLost(id lease.ID, t *Trace) Fate {
	switch {
	case t.lease.Adopted:
		return Fate{id, fateLeft, "its lease is lost; it worked in a worktree of another tool, which is not touched"}
	case t.lease.Base == "":
		return Fate{id, fateLeft, "its lease is lost, and nothing says which commit it began at; its files stay in cordon's state"}
	case t.inTrash() && !t.Tree && !t.kept():
		return Fate{id, fateDiscarded, "its lease is lost; its refs are in refs/cordon/trash"}
	}
	return Fate{id, fateRecovered, fmt.Sprintf("its lease is lost; it began at %s, for %s", t.lease.Base.Short(),
		strings.TrimPrefix(t.lease.Target, "refs/heads/"))}
}

// traces finds the workers that refs of the host or directories of cordon's name.
func traces(ctx context.Context, s *worksite.Site) (map[lease.ID]*Trace, error) {
	all := map[lease.ID]*Trace{}
	of := func(name string) *Trace {
		id := lease.ID(name)
		if !id.Valid() {
			return &Trace{Refs: map[string]git.OID{}} // nobody's: an execution's, or a working directory
		}
		if all[id] == nil {
			all[id] = &Trace{Refs: map[string]git.OID{}}
		}
		return all[id]
	}
	refs, err := s.Host.Refs(ctx, "refs/cordon/")
	if err != nil {
		return nil, err
	}
	for _, r := range refs {
		kind, rest, _ := strings.Cut(strings.TrimPrefix(r.Name, "refs/cordon/"), "/")
		name, part, below := strings.Cut(rest, "/")
		if below {
			kind += "/" + part
		}
		of(name).Refs[kind] = r.OID
	}
	for _, part := range []string{"trees", "frozen", "layers"} {
		entries, err := os.ReadDir(filepath.Join(s.State.Path(), part))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			t := of(e.Name())
			if part != "layers" {
				t.Tree = true
			} else if worksite.Exists(worktree.Upper(s.State.Layers(e.Name()), worktree.FilesLayer)) {
				t.Tree, t.kind = true, lease.Layered
			}
		}
	}
	return all, nil
}

// hint looks for what repeats the lost leases: lines after the damage, the evidence of
// a quarantine, and the ref that keeps the base.
func (r *Repair) hint(ctx context.Context, s *worksite.Site) {
	target, _ := s.Host.HeadBranch(ctx) // "" when the operator is on none
	for _, t := range r.Traces {
		t.lease = leaseHint{Base: t.Refs["pins"], Target: target, Tree: t.kind}
		for _, where := range []string{"trash/evidence", "quarantine/evidence"} {
			if text, ok, err := s.Host.FileAt(ctx, t.Refs[where], "lease.json"); t.Refs[where] != "" && err == nil && ok {
				t.lease.read(text)
			}
		}
	}
	for _, e := range r.Remains.Loose {
		var d ledger.Lease
		t := r.Traces[lease.ID(e.Worker)]
		if t == nil || e.Type != ledger.Leased || json.Unmarshal(e.Data, &d) != nil {
			continue
		}
		if sealed, err := lease.Open(d.Lease, d.Hash); err == nil {
			l := sealed.Lease()
			t.lease = leaseHint{Base: l.Base, Target: l.Target, Tree: l.Tree, Adopted: l.Adopted, command: d.Command}
		}
	}
}

// Needed reports whether there is anything to do.
func (r *Repair) Needed() bool {
	return r.Remains.Problem != nil || slices.ContainsFunc(r.Fates, func(f Fate) bool { return f.What != fateLeft })
}

// Orphans are workers of which there are files or results, and no lease.
func Orphans(ctx context.Context, s *worksite.Site) ([]lease.ID, error) {
	r, err := PlanRepair(ctx, s)
	if err != nil {
		return nil, err
	}
	var ids []lease.ID
	for _, f := range r.Fates {
		if f.What == fateRecovered || f.What == fateDiscarded {
			ids = append(ids, f.Worker)
		}
	}
	return ids, nil
}

// Orphaned is the error of a journal that knows nothing of workers that left something.
func Orphaned(events int, ids []lease.ID) error {
	if len(ids) == 0 {
		return nil
	}
	var names []string
	for _, id := range ids {
		names = append(names, string(id))
	}
	return fmt.Errorf("the journal has %d events and no lease of %s, which left files or results (cordon journal repair recovers them)", events,
		strings.Join(names, ", "))
}

// workersWith lists the workers with a fate.
func (r *Repair) workersWith(what string) (ids []string) {
	for _, f := range r.Fates {
		if f.What == what {
			ids = append(ids, string(f.Worker))
		}
	}
	return ids
}

// RepairJournal makes the journal whole and writes what is known of workers whose events
// are lost. Their results are not stored yet.
func RepairJournal(ctx context.Context, s *worksite.Site, r *Repair, who string) error {
	for id := range r.Traces {
		if s.State.Held(state.WorkerLock(string(id))) {
			return fault.Refuse("%s is running: wait until it ends or stop it, then repair", id)
		}
	}
	if err := s.State.SpendReserve(); err != nil {
		return err
	}
	if r.Remains.Problem != nil {
		log, err := journal.Open(s.State.Path())
		if err != nil {
			return err
		}
		if err := log.Repair(r.Remains.Report, who, r.workersWith(fateSuspended)); err != nil {
			return err
		}
	}
	if err := s.Begin(ctx); err != nil {
		return err
	}
	now, err := s.Ledger()
	if err != nil {
		return err
	}
	for _, f := range r.Fates {
		id := f.Worker
		if (f.What == fateRecovered || f.What == fateDiscarded) && !now.Taken(id) {
			if err := recoverLost(ctx, s, id, r.Traces[id], who, f.Why); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
		}
		if f.What == fateDiscarded {
			if err := s.Append(id, ledger.Discarded, ledger.Discard{Who: who, Why: "found by cordon journal repair: " + f.Why}); err != nil {
				return err
			}
		}
	}
	return nil
}

// recoverLost writes a lease for a worker whose own is lost. Nothing may land under
// it: an operator who releases the result names what may.
func recoverLost(ctx context.Context, s *worksite.Site, id lease.ID, t *Trace, who, why string) error {
	p, _, err := s.PolicyAt(ctx, t.lease.Base)
	if err != nil {
		p = policy.Default()
	}
	p.Filesystem.WriteRoots, p.Isolation = []string{}, policy.Strict
	if p.Limits, err = worksite.LimitsAt(p.Limits, s.State.Path()); err != nil {
		return err
	}
	l := lease.Lease{
		Terms: lease.Terms{
			ID: id, Branch: "cordon/" + string(id), Base: t.lease.Base, Target: t.lease.Target,
			Created: s.Now(), Expires: s.Now().Add(time.Duration(p.Expires)), Source: "cordon journal repair", Policy: p, Executed: []string{},
		},
		Place: lease.Place{Worktree: s.State.Tree(string(id)), Tree: t.lease.Tree},
	}
	if l.Home, err = os.UserHomeDir(); err != nil {
		return err
	}
	l.Home = filepath.Clean(l.Home)
	if l.Fold, err = worktree.FoldsCase(s.State.Path()); err != nil {
		return err
	}
	sealed, err := lease.Seal(l)
	if err != nil {
		return err
	}
	reasons := []string{"the journal was damaged: " + why}
	return s.Append(id, ledger.Recovered, ledger.Recovery{Lease: sealed.Bytes(), Hash: sealed.Hash(), Command: t.lease.command, Who: who, Reasons: reasons})
}
