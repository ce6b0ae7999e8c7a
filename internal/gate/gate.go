// Package gate decides what reaches the operator's repository, and is the only
// package that writes to it.
//
// A result comes in as a snapshot of audited files, is written into a bare
// repository of cordon's own, merged there, held against the lease again,
// tested, sent to the host as checked objects, and becomes the target branch's
// next commit by compare-and-swap. The tree that was audited is the tree that is
// tested is the tree that lands; each step proves it for the step before.
//
// The package refuses to run git in a worker's tree, to fetch from a worker's
// repository, to move a branch under a checkout whose changes it would touch, and to answer
// anything but "quarantine" to a case it does not know.
package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/audit"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/lfs"
	"cordon/internal/state"
)

// Gate is the way into one host repository.
type Gate struct {
	bin   git.Binary
	host  git.Host
	state state.Dir
	repo  git.Repo
	// Settled says which landings were interrupted before, and are settled now.
	Settled []string
	// Fetching hears that the operator's git fetches objects which a partial clone lacks;
	// nil: nobody does.
	Fetching func(count int, remote string)
}

// Refs of cordon's own in the host repository.
const (
	pins       = "refs/cordon/pins/"       // base commits of leases: gc must not take them
	results    = "refs/cordon/results/"    // commits that passed or wait for a person
	quarantine = "refs/cordon/quarantine/" // evidence
	trash      = "refs/cordon/trash/"      // discarded evidence, for a while
)

// snapshots are refs of the gate repository.
const snapshots = "refs/in/"

// Open makes the gate repository if there is none.
func Open(ctx context.Context, bin git.Binary, host git.Host, dir state.Dir) (*Gate, error) {
	g := &Gate{bin: bin, host: host, state: dir, repo: git.OpenBare(bin, dir.Gate(), host.Format)}
	release, err := dir.Lock(state.GateLock, true)
	if err != nil {
		return nil, err
	}
	defer release()
	// The link to the host's objects is made last: without it, the making of the
	// repository was interrupted, and may be repeated.
	if _, err := os.Lstat(filepath.Join(dir.Gate(), "objects", "info", "alternates")); errors.Is(err, os.ErrNotExist) {
		if _, err := git.Init(ctx, bin, dir.Gate(), git.InitOptions{Bare: true, Format: host.Format, Alternate: dir.Objects()}); err != nil {
			return nil, err
		}
	}
	g.Settled = g.settleAll(ctx)
	return g, g.matchShallow()
}

// matchShallow ends history where the host's ends.
func (g *Gate) matchShallow() error {
	want, err := g.host.ShallowFile()
	if err != nil {
		return err
	}
	have, err := g.repo.ShallowFile()
	if err != nil || bytes.Equal(want, have) {
		return err
	}
	path := filepath.Join(g.repo.Dir, "shallow")
	if want == nil {
		return os.Remove(path)
	}
	return os.WriteFile(path, want, 0o600)
}

// Repo is the gate repository: it has the host's objects and every result.
func (g *Gate) Repo() git.Repo { return g.repo }

// Pin keeps a base commit from the host's gc.
func (g *Gate) Pin(ctx context.Context, id lease.ID, base git.OID) error {
	return g.host.SetRef(ctx, pins+string(id), base, "cordon: base of "+string(id))
}

// Forget drops a worker's pin and result refs, once nothing needs them.
func (g *Gate) Forget(ctx context.Context, id lease.ID) error {
	if err := drop(ctx, g.host.Repo, pins+string(id), results+string(id)); err != nil {
		return err
	}
	if err := g.state.Erase(g.Handed(id).Dir); err != nil {
		return err
	}
	return drop(ctx, g.repo, snapshots+string(id), snapshots+string(id)+".*")
}

// drop deletes a ref, or everything below a name.
func drop(ctx context.Context, repo git.Repo, name string, more ...string) error {
	refs, err := repo.Refs(ctx, append(more, name)...)
	if err != nil {
		return err
	}
	for _, r := range refs {
		if err := repo.DeleteRef(ctx, r.Name, r.OID); err != nil {
			return err
		}
	}
	return nil
}

// Snapshot writes the audited files of a worker's tree as one commit on the
// base, and proves that the commit holds what the audit saw and nothing else.
// It is named refs/in/NAME in the gate repository.
func (g *Gate) Snapshot(ctx context.Context, name string, base git.OID, top string, files []audit.Finding) (git.OID, error) {
	worker, _, _ := strings.Cut(name, ".")
	handed := g.Handed(lease.ID(worker))
	message := "snapshot of " + worker + "\n"
	commit, err := g.repo.Snapshot(ctx, snapshots+name, base, message, func(w *git.Writer) error {
		for _, f := range files {
			if f.New.Mode == git.Absent {
				w.Delete(string(f.Path))
			}
		}
		for _, f := range files {
			if f.New.Mode == git.Absent {
				continue
			}
			if err := put(w, top, f, handed); err != nil {
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

func put(w *git.Writer, top string, f audit.Finding, handed lfs.Store) error {
	content, size, err := audit.Content(top, f)
	if err != nil {
		return err
	}
	defer content.Close()
	if f.LFS {
		pointer := lfs.Pointer{OID: f.SHA256, Size: f.Size}
		if err := handed.Put(pointer, content); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		text := pointer.Text()
		return w.Put(string(f.Path), f.New.Mode, int64(len(text)), bytes.NewReader(text))
	}
	return w.Put(string(f.Path), f.New.Mode, size, content)
}

// proveSnapshot compares a snapshot with the audit, path by path.
func (g *Gate) proveSnapshot(ctx context.Context, base, commit git.OID, files []audit.Finding) error {
	deltas, err := g.repo.Diff(ctx, base, commit)
	if err != nil {
		return err
	}
	want := map[string]git.Entry{}
	for _, f := range files {
		want[string(f.Path)] = f.New
	}
	for _, d := range deltas {
		if e, ok := want[d.Path]; !ok || e != d.New {
			return fmt.Errorf("%s changed after the audit: audited as %s %s, stored as %s %s",
				audit.Path(d.Path), e.Mode, e.OID.Short(), d.New.Mode, d.New.OID.Short())
		}
		delete(want, d.Path)
	}
	for p := range want {
		return fmt.Errorf("%s was audited but is missing from the snapshot", audit.Path(p))
	}
	return nil
}

// keep sends a commit to the host and names it there.
func (g *Gate) keep(ctx context.Context, ref string, commit git.OID, known ...git.OID) error {
	if err := g.repo.Send(ctx, g.host.Repo, []git.OID{commit}, known); err != nil {
		return err
	}
	return g.name(ctx, ref, commit)
}

// Branch makes a branch of the operator's that is not there yet.
func (g *Gate) Branch(ctx context.Context, ref string, commit, base git.OID) error {
	if err := g.repo.Send(ctx, g.host.Repo, []git.OID{commit}, []git.OID{base}); err != nil {
		return err
	}
	return g.host.UpdateRef(ctx, ref, commit, "", "cordon: "+strings.TrimPrefix(ref, "refs/heads/"))
}

func (g *Gate) name(ctx context.Context, ref string, commit git.OID) error {
	return g.host.SetRef(ctx, ref, commit, "cordon: "+strings.TrimPrefix(ref, "refs/cordon/"))
}
