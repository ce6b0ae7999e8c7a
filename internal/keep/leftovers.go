package keep

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"cordon/internal/confine"
	"cordon/internal/ledger"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/worktree"
)

// leftovers are directories of cordon's own that no running worker has.
func leftovers(s *worksite.Site, now *ledger.Ledger) ([]Chore, error) {
	var list []Chore
	for _, part := range []string{"accept", "ignore", "history", "layers"} {
		entries, err := os.ReadDir(filepath.Join(s.State.Path(), part))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if inUse(s, now, part, e.Name()) {
				continue
			}
			path := filepath.Join(s.State.Path(), part, e.Name())
			c := Chore{What: part + "/" + e.Name(), Why: "left by an interrupted run", do: func(context.Context) error { return s.State.Erase(path) }}
			c.Bytes, _ = worktree.Bytes(path) // for display
			list = append(list, c)
		}
	}
	return list, nil
}

// inUse reports whether a working directory is somebody's: a view's while its
// process lives, any other while its worker is held; histories are kept.
func inUse(s *worksite.Site, now *ledger.Ledger, part, name string) bool {
	id, view, isView := strings.Cut(name, ".view-")
	if isView {
		pid, err := strconv.Atoi(view)
		return err != nil || syscall.Kill(pid, 0) == nil
	}
	id, step, _ := strings.Cut(id, ".")
	w, err := now.Find(id)
	over := err == nil && (w.Discard != nil || w.Removal != nil)
	return part == "history" && !over || part == "layers" && step == "" || s.State.Held(state.WorkerLock(id))
}

// shadowChores moves the private repositories of executions to the trash whose
// checkout is gone: commits may be in them that are nowhere else.
func shadowChores(s *worksite.Site) ([]Chore, error) {
	entries, err := os.ReadDir(s.State.Shadow(""))
	if err != nil {
		return nil, err
	}
	var list []Chore
	for _, e := range entries {
		dir := s.State.Shadow(e.Name())
		top, err := os.ReadFile(filepath.Join(dir, confine.ShadowTop))
		if err != nil || worksite.Exists(string(top)) {
			continue // a worker's, or still in use
		}
		c := Chore{What: "shadow/" + e.Name() + ", to the trash", Why: "the checkout " + string(top) + " of cordon exec is gone"}
		c.Bytes, _ = worktree.Bytes(dir) // for display
		c.do = func(context.Context) error { _, err := s.State.Trash(dir, s.Now()); return err }
		list = append(list, c)
	}
	return list, nil
}

// copyChores deletes the copies of the commits of executions when they are old or their
// checkout is gone. The commits themselves are in shadow/ or in the trash.
func copyChores(s *worksite.Site, o Options) ([]Chore, error) {
	entries, err := os.ReadDir(s.State.History(""))
	if err != nil {
		return nil, err
	}
	var list []Chore
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil || !state.IsKey(e.Name()) {
			continue // a worker's, or gone meanwhile
		}
		dir, over := s.State.History(e.Name()), fi.ModTime().Add(TrashTime)
		c := Chore{What: "history/" + e.Name(), Why: "a copy of the commits of cordon exec"}
		top, err := os.ReadFile(filepath.Join(s.State.Shadow(e.Name()), confine.ShadowTop))
		if c.Keep = err == nil && worksite.Exists(string(top)) && s.Now().Before(over) && !o.EmptyTrash; c.Keep {
			c.Why += " in " + string(top) + ", kept until " + over.Format("2006-01-02")
		}
		c.Bytes, _ = worktree.Bytes(dir) // for display
		c.do = func(ctx context.Context) error { return eraseCopy(ctx, s.State, dir) }
		list = append(list, c)
	}
	return list, nil
}

// eraseCopy deletes a copy of commits while nobody makes one.
func eraseCopy(ctx context.Context, in state.Dir, dir string) error {
	release, err := in.Await(ctx, confine.ShadowLock)
	if err != nil {
		return err
	}
	defer release()
	return in.Erase(dir)
}
