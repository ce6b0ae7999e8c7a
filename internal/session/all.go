package session

import (
	"context"
	"path/filepath"

	"cordon/internal/state"
)

// All opens every repository that this user has state for. One that cannot be opened any
// more has no workers that anybody could act on.
func All(ctx context.Context) ([]*Session, error) {
	repos, err := state.Repositories()
	if err != nil {
		return nil, err
	}
	var list []*Session
	for _, dir := range repos {
		if filepath.Base(dir) == ".git" {
			dir = filepath.Dir(dir)
		}
		if s, err := Open(ctx, dir); err == nil && s.State.Exists() {
			list = append(list, s)
		}
	}
	return list, ctx.Err()
}
