package gate

import (
	"context"

	"cordon/internal/git"
)

// Shown writes a commit on top of another in which some of its changes are undone, for somebody who looks at it, and brings it to
// the host. It lands nowhere. Two calls at the same time need different names.
func (g *Gate) Shown(ctx context.Context, name string, commit git.OID, undone []git.Delta) (git.OID, error) {
	ref := snapshots + name + ".shown"
	shown, err := g.repo.Snapshot(ctx, ref, commit, "cordon: instructions as they were before\n", func(w *git.Writer) error {
		for _, d := range undone {
			w.Delete(d.Path)
		}
		for _, d := range undone {
			if d.Old.Mode == git.Absent {
				continue
			}
			if err := w.Link(d.Path, d.Old); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if err := g.repo.Send(ctx, g.host.Repo, []git.OID{shown}, []git.OID{commit}); err != nil {
		return "", err
	}
	return shown, g.repo.SetRefs(ctx, []git.Ref{{Name: ref}}, "cordon: shown")
}
