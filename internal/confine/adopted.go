package confine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"cordon/internal/audit"
	"cordon/internal/cell"
	"cordon/internal/enclosure"
	"cordon/internal/follow"
	"cordon/internal/gitfile"
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
	c, err := s.Linked(ctx, l.Worktree)
	if err != nil {
		return nil, err
	}
	modules, err := enclosure.SubmoduleBinds(shadow, l.Worktree, gitfile.PlaceOf(c.Top, c.GitDir).Modules())
	if err != nil {
		return nil, err
	}
	e.Write, e.Over = nil, []cell.Over{{At: l.Worktree, Below: []string{l.Worktree}, Layer: worktree.FilesLayer}}
	e.Bind, e.GitDir = append(binds, modules...), enclosure.WritableBind(binds)
	return enclosure.OrderFor(ctx, s.Host, s.State, l, sealed.Rules(), e)
}

// sinceFile is a file that was written when a launch in an adopted checkout began: what is changed there
// later, by the clock of file systems, is not the worker's.
const sinceFile = "since"

// BeginAdopted notes when a launch of a worker in an adopted checkout begins. What an earlier one left is
// placed before.
func BeginAdopted(ctx context.Context, s *worksite.Site, w *ledger.Worker) (said []string, err error) {
	if !w.Lease.Lease().Adopted {
		return nil, nil
	}
	if said, err = PlaceAdopted(ctx, s, w); err != nil {
		return said, err
	}
	at := s.WorkerFile(w.ID, sinceFile)
	if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return said, err
	}
	text, err := json.Marshal(inodes([]string{w.Lease.Lease().Worktree}))
	if err != nil {
		return said, err
	}
	return said, os.WriteFile(at, text, 0o600)
}

// PlaceAdopted places what a worker wrote in an adopted checkout, when its launch has ended. It says what
// was not placed.
func PlaceAdopted(ctx context.Context, s *worksite.Site, w *ledger.Worker) ([]string, error) {
	l := w.Lease.Lease()
	layers := s.State.Layers(string(w.ID))
	layer := follow.Layer{
		Upper: worktree.Upper(layers, worktree.FilesLayer), Into: l.Worktree,
		Aside: asideIn(filepath.Dir(s.State.Path())), Spare: filepath.Join(layers, "spare"),
		Note: func(k follow.Kept) error { return noteKept(s.WorkerFile(w.ID, disarmedFile), k) },
	}
	var since unix.Stat_t
	if !l.Adopted || unix.Lstat(s.WorkerFile(w.ID, sinceFile), &since) != nil {
		return nil, nil // nothing was launched in a layer
	}
	if empty, err := layer.Empty(); err != nil || empty {
		return nil, err
	}
	layer.Since = since.Mtim
	var inodes []uint64
	if text, err := os.ReadFile(s.WorkerFile(w.ID, sinceFile)); err == nil && json.Unmarshal(text, &inodes) == nil {
		layer.Inode = inodeAt(inodes, 0)
	}
	hides, err := enclosure.Hides(w.Lease.Rules().Hidden(), l.Worktree, []string{l.Worktree})
	if err != nil {
		return nil, err
	}
	j, err := newJudge(ctx, judged{
		dirs: []string{l.Worktree}, own: filepath.Join(l.Worktree, ".git"), top: l.Worktree, rules: w.Lease.Rules(),
		roots: l.Policy.Filesystem.WriteRoots, hides: hides,
	})
	if err != nil {
		return nil, err
	}
	placed, err := j.place(layer)
	return append(keptLines(placed), j.careful()...), err
}

// noteKept writes down what is kept aside, before that is done.
func noteKept(file string, k follow.Kept) error {
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	f, err := plainfile.Open(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

// disarmedFile lists what was kept aside of what a worker wrote in an adopted checkout, a
// line each. The audit reports that: the tree does not show it any more.
const disarmedFile = "disarmed"

// maxDisarmed is how long that list may be.
const maxDisarmed = 64 << 20

// Disarmed are the findings about what was kept aside.
func Disarmed(s *worksite.Site, w *ledger.Worker) ([]audit.Finding, error) {
	text, err := plainfile.Read(s.WorkerFile(w.ID, disarmedFile), maxDisarmed)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []audit.Finding
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxDisarmed)
	for err == nil && lines.Scan() {
		var k follow.Kept
		if err = json.Unmarshal(lines.Bytes(), &k); err == nil {
			list = append(list, disarmedFinding(w.Lease.Lease().Worktree, k))
		}
	}
	return list, errors.Join(err, lines.Err())
}

// disarmedFinding is of a kind that never lands: a release can only leave it behind.
func disarmedFinding(top string, k follow.Kept) audit.Finding {
	rel, err := filepath.Rel(top, k.Path)
	if err != nil {
		rel = k.Path
	}
	return audit.Finding{
		Change: audit.Change{Kind: audit.Nested, Path: audit.Path(filepath.ToSlash(rel)), Detail: "kept aside as " + k.At},
		Class:  audit.Violation, Rule: k.Why,
	}
}
