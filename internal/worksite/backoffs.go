package worksite

import (
	"path/filepath"

	"cordon/internal/backoff"
)

// BackOffs are until when no worker of a provider is to start.
func (s *Site) BackOffs() backoff.Store {
	return backoff.Store(filepath.Join(s.State.Path(), "backoff"))
}
