package session

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/audit"
	"cordon/internal/ledger"
)

// treeLayers are the layers of a worker that are its tree, and not what it wrote
// elsewhere.
var treeLayers = map[string]bool{"tree": true, "git": true}

// afresh puts away what a worker wrote outside its tree before its agent is started
// again: a client would run what an earlier launch has left for it in the home. What
// violates the lease is judged instead.
func (s *Session) afresh(ctx context.Context, w *ledger.Worker) (violates bool, err error) {
	found, err := s.wroteOutside(ctx, w)
	if err != nil {
		return false, err
	}
	for _, f := range found {
		if f.Class == audit.Violation {
			s.Voice.Step(w.ID, "outside", "it is not started again: "+Line(f))
			return true, nil
		}
	}
	at, away := s.State.Layers(string(w.ID)), s.State.Layers(string(w.ID)+".away")
	if _, err := s.State.Trash(away, s.Now()); err != nil { // of an attempt that was broken off
		return false, err
	}
	entries, err := os.ReadDir(at)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := os.Mkdir(away, 0o700); err != nil {
		return false, err
	}
	for _, e := range entries {
		if treeLayers[e.Name()] {
			continue
		}
		if err := os.Rename(filepath.Join(at, e.Name()), filepath.Join(away, e.Name())); err != nil {
			return false, err
		}
	}
	_, err = s.State.Trash(away, s.Now())
	return false, err
}
