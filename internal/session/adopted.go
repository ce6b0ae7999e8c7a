package session

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/lease"
	"cordon/internal/ledger"
	"cordon/internal/plainfile"
	"cordon/internal/policy"
	"cordon/internal/worktree"
)

// prepareAdopted gives a worker in a checkout of another tool's a repository of
// its own: the host's is not written.
func (s *Session) prepareAdopted(ctx context.Context, w *ledger.Worker) error {
	l := w.Lease.Lease()
	if l.Policy.Isolation != policy.None {
		c, err := s.linked(ctx, l.Worktree)
		if err != nil {
			return err
		}
		branch := strings.TrimPrefix(c.Branch, "refs/heads/")
		if branch == "" {
			branch = l.Branch
		}
		dir := s.State.Shadow(string(l.ID))
		if err := s.State.Erase(dir); err != nil { // no worker has seen it
			return err
		}
		unseen, err := s.unseenBy(ctx, w.Lease)
		if err != nil {
			return err
		}
		_, err = worktree.MakeShadow(ctx, worktree.ShadowOrder{
			Bin: s.Bin, Host: s.Host, GitDir: c.GitDir, Alternate: s.State.Objects(),
			Commit: c.Head, Branch: branch, Dir: dir, Unseen: unseen,
		})
		if err != nil {
			return err
		}
	}
	return s.append(w.ID, ledger.Prepared, ledger.Tree{})
}

// encloseAdopted is the cell of a worker in a checkout of another tool's.
func (s *Session) encloseAdopted(ctx context.Context, sealed lease.Sealed, e enclosure.Enclosure) (*cell.Order, error) {
	l := sealed.Lease()
	shadow := worktree.Shadow{Dir: s.State.Shadow(string(l.ID))}
	binds, err := enclosure.ShadowBinds(shadow, l.Worktree)
	if err != nil {
		return nil, err
	}
	if err := s.guardAdopted(ctx, l, &inPlace{}, &e); err != nil {
		return nil, err
	}
	c, err := s.linked(ctx, l.Worktree)
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
	e.Bind, e.GitDir = append(binds, modules...), seenAt(binds)
	return s.order(ctx, sealed, e)
}

// guardAdopted finds what an adopted checkout holds that the operator's git runs or obeys.
// What a write root names itself is the worker's.
func (s *Session) guardAdopted(ctx context.Context, l lease.Lease, left *inPlace, e *enclosure.Enclosure) error {
	for _, root := range l.Policy.Filesystem.WriteRoots {
		left.opened = append(left.opened, filepath.Join(l.Worktree, filepath.FromSlash(root)))
	}
	return left.guard(ctx, e, filepath.Join(l.Worktree, ".git"))
}

// watchAdopted notes what is to be looked at when the launch of a worker in an adopted
// checkout has ended, however it ends; nil for other workers.
func (s *Session) watchAdopted(ctx context.Context, w *ledger.Worker) (*inPlace, error) {
	l := w.Lease.Lease()
	if !l.Adopted {
		return nil, nil
	}
	left := &inPlace{Worker: string(w.ID), Log: s.workerFile(w.ID, disarmedFile)}
	if err := s.guardAdopted(ctx, l, left, &enclosure.Enclosure{Write: []string{l.Worktree}}); err != nil {
		return nil, err
	}
	return left, left.open()
}

// disarmedFile lists what was moved aside of what a worker left in an adopted checkout, a
// line each. The audit reports that: the tree does not show it any more.
const disarmedFile = "disarmed"

// maxDisarmed is how long that list may be.
const maxDisarmed = 64 << 20

// disarmed are the findings about what was moved aside.
func (s *Session) disarmed(w *ledger.Worker) ([]audit.Finding, error) {
	text, err := plainfile.Read(s.workerFile(w.ID, disarmedFile), maxDisarmed)
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
