package gate

import (
	"bytes"
	"context"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/lease"
)

// Inside writes those changes of a stored result that may land as one commit on the base,
// without the others, and proves that it holds just these. It is named refs/in/ID.inside in
// the gate repository, and has to be judged again: changes can depend on others.
func (g *Gate) Inside(ctx context.Context, id lease.ID, base git.OID, found []audit.Finding) (git.OID, error) {
	var files []audit.Finding
	for _, f := range found {
		if f.Class == audit.Landing {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return base, nil
	}
	commit, err := g.repo.Snapshot(ctx, snapshots+string(id)+".inside", base, "inside the lease of "+string(id)+"\n", func(w *git.Writer) error {
		for _, f := range files {
			if f.New.Mode == git.Absent {
				w.Delete(string(f.Path))
			}
		}
		for _, f := range files {
			if f.New.Mode == git.Absent {
				continue
			}
			content, err := g.repo.Blob(ctx, f.New.OID)
			if err != nil {
				return err
			}
			if err := w.Put(string(f.Path), f.New.Mode, int64(len(content)), bytes.NewReader(content)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return commit, g.proveSnapshot(ctx, base, commit, files)
}
