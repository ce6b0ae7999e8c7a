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
	"slices"
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
	// announce writes new values of refs to the journal.
	announce func(worker lease.ID, refs []Naming) error
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

// PinOf is the ref that keeps the base of a worker's lease.
func PinOf(id lease.ID) string { return pins + string(id) }

// ResultOf is the ref that keeps what a worker has made for its target.
func ResultOf(id lease.ID) string { return results + string(id) }

// EvidenceOf is a ref that keeps a part of a worker's evidence: result, history or evidence.
func EvidenceOf(id lease.ID, part string) string { return quarantine + string(id) + "/" + part }

// Open makes the gate repository if there is none. announce is called before refs of cordon's own
// in the host get new values, and must be durable.
func Open(ctx context.Context, bin git.Binary, host git.Host, dir state.Dir, announce func(lease.ID, []Naming) error) (*Gate, error) {
	g := &Gate{bin: bin, host: host, state: dir, repo: git.OpenBare(bin, dir.Gate(), host.Format), announce: announce}
	release, err := dir.Await(ctx, state.GateLock)
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

// Pin keeps the base commit of a lease from the host's gc. The lease is in the journal and names it.
func (g *Gate) Pin(ctx context.Context, id lease.ID, base git.OID) error {
	pin := git.Ref{Name: PinOf(id), OID: base}
	if g.host.Holds(pin) {
		return nil
	}
	return g.host.SetRefs(ctx, []git.Ref{pin}, "cordon: base of "+string(id))
}

// Forget drops a worker's pin and result refs, once nothing needs them.
func (g *Gate) Forget(ctx context.Context, id lease.ID) error {
	if err := g.unname(ctx, id, PinOf(id), ResultOf(id)); err != nil {
		return err
	}
	if err := g.state.Erase(g.Handed(id).Dir); err != nil {
		return err
	}
	refs, err := g.repo.Refs(ctx, snapshots+string(id), snapshots+string(id)+".*")
	for i := range refs {
		refs[i].OID = ""
	}
	return errors.Join(err, g.repo.SetRefs(ctx, refs, "cordon: forget"))
}

// unname deletes refs of a worker, and everything below them.
func (g *Gate) unname(ctx context.Context, id lease.ID, names ...string) error {
	refs, err := g.host.Refs(ctx, names...)
	if err != nil {
		return err
	}
	var gone []Naming
	for _, r := range refs {
		gone = append(gone, Naming{Ref: r.Name})
	}
	return g.name(ctx, id, gone...)
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
			if f.Carried {
				if err := w.Link(string(f.Path), f.New); err != nil {
					return err
				}
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

// keep sends a commit of a worker to the host and names it there.
func (g *Gate) keep(ctx context.Context, id lease.ID, ref string, commit git.OID, known ...git.OID) error {
	if err := g.deliver(ctx, id, []git.OID{commit}, known); err != nil {
		return err
	}
	return g.name(ctx, id, Naming{Ref: ref, OID: commit})
}

// Branch makes a branch of the operator's that is not there yet.
func (g *Gate) Branch(ctx context.Context, ref string, commit, base git.OID) error {
	if err := g.repo.Send(ctx, g.host.Repo, []git.OID{commit}, []git.OID{base}); err != nil {
		return err
	}
	return g.host.UpdateRef(ctx, ref, commit, "", "cordon: "+strings.TrimPrefix(ref, "refs/heads/"))
}

// Naming is a new value of a ref of cordon's own in the host.
type Naming struct {
	Ref string  `json:"ref"`
	OID git.OID `json:"oid,omitempty"` // "": it is deleted
	// From is the ref that the value is copied from. Somebody else may have written that one: the
	// copy counts as cordon's only if it has a value that cordon gave to From.
	From string `json:"from,omitempty"`
}

// name gives refs of a worker new values, after the journal has them: the tripwire accepts no others.
func (g *Gate) name(ctx context.Context, id lease.ID, list ...Naming) error {
	list = slices.DeleteFunc(list, func(n Naming) bool { return g.host.Holds(git.Ref{Name: n.Ref, OID: n.OID}) })
	if len(list) == 0 {
		return nil
	}
	if err := g.announce(id, list); err != nil {
		return err
	}
	var refs []git.Ref
	for _, n := range list {
		refs = append(refs, git.Ref{Name: n.Ref, OID: n.OID})
	}
	return g.host.SetRefs(ctx, refs, "cordon: "+string(id))
}
