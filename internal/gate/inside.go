package gate

import (
	"bytes"
	"context"
	"path"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/lease"
)

// Parts separates the changes of a result that may land from the others. A file that the worker moved is only gone
// together with where it went, and so is one whose directory became something that does not land.
func Parts(found []audit.Finding) (in, left []audit.Finding) {
	moved, replaced := map[git.OID]bool{}, map[string]bool{}
	for _, f := range found {
		if f.Class != audit.Landing && f.New.Mode != git.Absent {
			moved[f.New.OID], replaced[string(f.Path)] = true, true
		}
	}
	for _, f := range found {
		gone := f.New.Mode == git.Absent && moved[f.Old.OID]
		for dir := path.Dir(string(f.Path)); f.New.Mode == git.Absent && dir != "."; dir = path.Dir(dir) {
			gone = gone || replaced[dir]
		}
		if f.Class == audit.Landing && !gone {
			in = append(in, f)
		} else {
			left = append(left, f)
		}
	}
	return in, left
}

// Inside writes those changes of a stored result that may land as one commit on the base,
// without the others, and proves that it holds just these. It is named refs/in/ID.inside in
// the gate repository, and has to be judged again: changes can depend on others.
func (g *Gate) Inside(ctx context.Context, id lease.ID, base git.OID, found []audit.Finding) (git.OID, error) {
	files, _ := Parts(found)
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
