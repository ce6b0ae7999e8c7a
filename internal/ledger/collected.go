package ledger

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"cordon/internal/additive"
	"cordon/internal/gate"
	"cordon/internal/git"
	"cordon/internal/journal"
	"cordon/internal/lease"
)

// FoldName names this fold for checkpoints of the journal. It changes whenever the same
// events give another ledger, or the memo another form.
const FoldName = "cordon-ledger-5"

// ErrCollected says that gc has removed a worker: only a fold of the whole journal has it.
var ErrCollected = errors.New("the worker is collected")

// memo is what a ledger keeps of the workers that gc has removed.
type memo struct {
	Collected []string `json:"collected"`         // their names, in order; names are never given twice
	Adopted   []string `json:"adopted,omitempty"` // the worktrees that they had adopted
	Version   string   `json:"version,omitempty"` // the last one that an event names
	Seq       uint64   `json:"seq"`
	// Stages are those of them that were for a plan, in the order in which they were removed.
	Stages []pastWorker `json:"stages,omitempty"`
}

// pastWorker is what a plan has to know of a worker that gc has removed: without it, its stage would be
// done again.
type pastWorker struct {
	Worker    lease.ID     `json:"worker"`
	Stage     StageOf      `json:"stage"`
	Outcome   gate.Outcome `json:"outcome,omitempty"`
	Commit    git.OID      `json:"commit,omitempty"`
	Claim     *Claim       `json:"claim,omitempty"`
	Discarded bool         `json:"discarded,omitempty"`
	Created   time.Time    `json:"created"`
	Changed   time.Time    `json:"changed"`
}

// past is what is kept of the worker of a stage.
func past(w *Worker) pastWorker {
	p := pastWorker{
		Worker: w.ID, Stage: StageOf{Plan: w.Stage.Plan, Run: w.Stage.Run, Stage: w.Stage.Stage, Kind: w.Stage.Kind, Role: w.Stage.Role},
		Claim: w.Claim, Discarded: w.Discard != nil, Created: w.Created, Changed: w.Changed,
	}
	if w.Gate != nil {
		p.Outcome, p.Commit = w.Gate.Outcome, w.Gate.Commit
	}
	return p
}

// worker is the removed worker as far as it is known. It has no lease.
func (p pastWorker) worker() *Worker {
	w := &Worker{ID: p.Worker, Stage: &p.Stage, Claim: p.Claim, Removal: new(Removal), Created: p.Created, Changed: p.Changed}
	if p.Outcome != "" {
		w.Gate = &gate.Result{Outcome: p.Outcome, Commit: p.Commit}
	}
	if p.Discarded {
		w.Discard = new(Discard)
	}
	return w
}

// Current is an empty ledger that forgets what gc has removed but for the memo. It is a
// fold of the journal, for a view.
func Current() *Ledger { return &Ledger{byID: map[lease.ID]*Worker{}} }

var _ journal.Fold = (*Ledger)(nil)

// Wants implements journal.Fold. A repair of the journal is about workers that it names, and
// a plan about its stages. Nodes are few.
func (l *Ledger) Wants(worker, typ string) bool {
	return typ == Salvaged || isPlanEvent(typ) || isNodeEvent(typ) || l.byID[lease.ID(worker)] != nil
}

// Memo implements journal.Fold.
func (l *Ledger) Memo() ([]byte, error) {
	l.memo.Seq = l.Seq
	return json.Marshal(l.memo)
}

// Restore implements journal.Fold.
func (l *Ledger) Restore(text []byte) error {
	*l = Ledger{whole: l.whole, byID: map[lease.ID]*Worker{}}
	if text == nil {
		return nil
	}
	err := additive.Decode(text, &l.memo)
	l.Seq = l.memo.Seq
	return err
}

// Snapshot is the ledger as it is now. Later events do not change it.
func (l *Ledger) Snapshot() *Ledger {
	now := *l
	now.Workers, now.byID, now.Plans = slices.Clone(l.Workers), maps.Clone(l.byID), slices.Clone(l.Plans)
	now.memo.Collected, now.memo.Adopted, now.memo.Stages = slices.Clip(l.memo.Collected), slices.Clip(l.memo.Adopted), slices.Clip(l.memo.Stages)
	return &now
}

// collected reports whether gc has removed a worker of this name.
func (l *Ledger) collected(id lease.ID) bool {
	_, found := slices.BinarySearch(l.memo.Collected, string(id))
	return found
}

// replace puts a worker as it is now in the place of what it was before. One that gc has
// removed goes.
func (l *Ledger) replace(before, now *Worker) {
	i := len(l.Workers) - 1 // most events are of one of the last workers
	for l.Workers[i] != before {
		i--
	}
	if now.Removal == nil || l.whole {
		l.Workers[i], l.byID[now.ID] = now, now
		return
	}
	l.Workers = slices.Delete(l.Workers, i, i+1)
	delete(l.byID, now.ID)
	at, _ := slices.BinarySearch(l.memo.Collected, string(now.ID))
	l.memo.Collected = slices.Insert(slices.Clone(l.memo.Collected), at, string(now.ID))
	if now.Stage != nil {
		l.memo.Stages = append(slices.Clone(l.memo.Stages), past(now))
	}
	if t := now.Lease.Lease(); t.Adopted && !slices.Contains(l.memo.Adopted, t.Worktree) {
		l.memo.Adopted = append(slices.Clone(l.memo.Adopted), t.Worktree)
	}
}

// Adopted lists the worktrees that workers have ever adopted.
func (l *Ledger) Adopted() []string {
	list := slices.Clone(l.memo.Adopted)
	for _, w := range l.Workers {
		if t := w.Lease.Lease(); t.Adopted {
			list = append(list, t.Worktree)
		}
	}
	return list
}

// clone is a copy whose lists are its own. What it points to is replaced, never changed.
func (w *Worker) clone() *Worker {
	c := *w
	c.Questions, c.Doubts, c.Private = slices.Clone(w.Questions), slices.Clone(w.Doubts), slices.Clone(w.Private)
	return &c
}
