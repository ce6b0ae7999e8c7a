package git

import "context"

// Commit resolves a revision as the operator's own git would in the checkout
// they stand in: HEAD there may be a linked worktree's own.
func (h Host) Commit(ctx context.Context, rev string) (OID, error) {
	return Repo{bin: h.bin, Dir: h.Private, Format: h.Format}.Commit(ctx, rev)
}
