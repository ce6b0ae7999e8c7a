package confine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// EncloseAdopted is the cell of a worker in a checkout of another tool's.
func EncloseAdopted(ctx context.Context, s *worksite.Site, sealed lease.Sealed, e enclosure.Enclosure) (*cell.Order, error) {
	l := sealed.Lease()
	shadow := worktree.Shadow{Dir: s.State.Shadow(string(l.ID))}
	binds, err := enclosure.ShadowBinds(shadow, l.Worktree)
	if err != nil {
		return nil, err
	}
	if err := guardAdopted(ctx, l, &InPlace{}, &e); err != nil {
		return nil, err
	}
	c, err := s.Linked(ctx, l.Worktree)
	if err != nil {
		return nil, err
	}
	if err := holdGitlinks(ctx, s.Host, c, &e); err != nil {
		return nil, err
	}
	modules, err := enclosure.SubmoduleBinds(shadow, s.Host, l.Worktree, e.Held)
	if err != nil {
		return nil, err
	}
	e.Bind, e.GitDir = append(binds, modules...), enclosure.WritableBind(binds)
	return enclosure.OrderFor(ctx, s.Host, s.State, l, sealed.Rules(), e)
}

// guardAdopted finds what an adopted checkout holds that the operator's git runs or obeys.
// What a write root names itself is the worker's.
func guardAdopted(ctx context.Context, l lease.Lease, left *InPlace, e *enclosure.Enclosure) error {
	for _, root := range l.Policy.Filesystem.WriteRoots {
		left.opened = append(left.opened, filepath.Join(l.Worktree, filepath.FromSlash(root)))
	}
	return left.guard(ctx, e, filepath.Join(l.Worktree, ".git"))
}

// WatchAdopted notes what is to be looked at when the launch of a worker in an adopted
// checkout has ended, however it ends; nil for other workers.
func WatchAdopted(ctx context.Context, s *worksite.Site, w *ledger.Worker) (*InPlace, error) {
	l := w.Lease.Lease()
	if !l.Adopted {
		return nil, nil
	}
	left := &InPlace{Worker: string(w.ID), Log: s.WorkerFile(w.ID, disarmedFile)}
	if err := guardAdopted(ctx, l, left, &enclosure.Enclosure{Write: []string{l.Worktree}}); err != nil {
		return nil, err
	}
	return left, left.open()
}

// disarmedFile lists what was moved aside of what a worker left in an adopted checkout, a
// line each. The audit reports that: the tree does not show it any more.
const disarmedFile = "disarmed"

// maxDisarmed is how long that list may be.
const maxDisarmed = 64 << 20

// Disarmed are the findings about what was moved aside.
func Disarmed(s *worksite.Site, w *ledger.Worker) ([]audit.Finding, error) {
	text, err := plainfile.Read(s.WorkerFile(w.ID, disarmedFile), maxDisarmed)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []audit.Finding
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxDisarmed)
	for err == nil && lines.Scan() {
		var m worktree.Moved
		if err = json.Unmarshal(lines.Bytes(), &m); err == nil {
			list = append(list, disarmedFinding(w.Lease.Lease().Worktree, m))
		}
	}
	return list, errors.Join(err, lines.Err())
}

// disarmedFinding is of a kind that never lands: a release can only leave it behind.
func disarmedFinding(top string, m worktree.Moved) audit.Finding {
	rel, err := filepath.Rel(top, m.From)
	if err != nil {
		rel = m.From
	}
	return audit.Finding{
		Change: audit.Change{Kind: audit.Nested, Path: audit.Path(filepath.ToSlash(rel)), Detail: "moved aside to " + m.To},
		Class:  audit.Violation, Rule: m.Why,
	}
}
