// Package warrant makes what the guard of a worker is started with, and the scope by which
// calls are explained, also for a worker that does not exist. It refuses to judge a call:
// package guard does.
package warrant

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/depcache"
	"cordon/internal/guard"
	"cordon/internal/ledger"
	"cordon/internal/overlay"
	"cordon/internal/policy"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
)

// Warrant is what the guard of a worker is started with.
func Warrant(s *worksite.Site, w *ledger.Worker) (guard.Warrant, error) {
	root, err := state.RealRoot()
	if err != nil {
		return guard.Warrant{}, err
	}
	l := w.Lease.Lease()
	ward := guard.NewWarrant(w.Lease)
	ward.Hosts, ward.State = s.Hosts(), root
	ward.Packages = movedPackages(l.Home, append([]string{l.Worktree, root}, ward.Hosts...)...)
	ward.Private = !l.Adopted || l.Policy.Isolation != policy.None
	ward.Confined = confinedBy(w)
	if !ward.Confined { // a cell does not see cordon's state
		ward.Journal = s.WorkerFile(w.ID, worksite.DecisionsFile)
	}
	return ward, nil
}

// movedPackages are the directories of package managers that the operator keeps elsewhere:
// a variable says so, or a link.
func movedPackages(home string, others ...string) []string {
	return depcache.Moved(worksite.RealPaths(depcache.Roots(home, os.Getenv)...), home, others)
}

// confinedBy reports whether a cell holds if the guard is wrong. A cell that may
// be weaker counts when it was seen to be whole.
func confinedBy(w *ledger.Worker) bool {
	switch w.Lease.Lease().Policy.Isolation {
	case policy.None:
		return false
	case policy.Degraded:
		return w.Start != nil && len(w.Start.Missing) == 0
	}
	return true
}

// Scope is where the guard of a worker lets it be, with its tree as it is seen
// from here.
func Scope(ctx context.Context, s *worksite.Site, w *ledger.Worker) (*guard.Scope, error) {
	ward, err := Warrant(s, w)
	if err != nil {
		return nil, err
	}
	scope, err := ward.Scope(w.Lease.Lease().Created) // a person may ask about a lease that is over
	if err != nil || !worksite.Layered(w) || w.Tree == nil || s.TreeGone(w) != "" {
		return scope, err
	}
	if err := s.Begin(ctx); err != nil {
		return nil, err
	}
	tree, err := workspace.OpenTree(ctx, s, w)
	if err != nil {
		return nil, err
	}
	scope.Files = layeredFiles{scope.Worktree, tree}
	return scope, nil
}

// layeredFiles are the machine's files with a tree that is mounted in a cell only.
type layeredFiles struct {
	at   string
	tree *overlay.Dir
}

func (f layeredFiles) within(name string) (string, bool) {
	if name == f.at {
		return "", true
	}
	return strings.CutPrefix(name, f.at+"/")
}

// Readlink implements guard.Files.
func (f layeredFiles) Readlink(name string) (string, error) {
	rel, ok := f.within(name)
	if !ok {
		return os.Readlink(name)
	}
	if rel == "" {
		return "", unix.EINVAL
	}
	dir, err := f.sub(filepath.Dir(rel))
	if err != nil {
		return "", err
	}
	e, err := dir.Entry(filepath.Base(rel))
	if err != nil {
		return "", err
	}
	if e.Kind() != unix.S_IFLNK {
		return "", unix.EINVAL
	}
	return e.Readlink()
}

func (f layeredFiles) sub(rel string) (*overlay.Dir, error) {
	if rel == "" || rel == "." {
		return f.tree, nil
	}
	return f.tree.Sub(rel)
}

// ReadDir implements guard.Files.
func (f layeredFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	rel, ok := f.within(name)
	if !ok {
		return os.ReadDir(name)
	}
	dir, err := f.sub(rel)
	if err != nil {
		return nil, err
	}
	entries, err := dir.Entries()
	if err != nil {
		return nil, err
	}
	list := make([]fs.DirEntry, 0, len(entries))
	for _, e := range entries {
		list = append(list, layeredEntry{e})
	}
	return list, nil
}

// layeredEntry is an entry of a tree in the library's form.
type layeredEntry struct{ e overlay.Entry }

func (l layeredEntry) Name() string { return l.e.Name }

func (l layeredEntry) IsDir() bool { return l.e.Kind() == unix.S_IFDIR }

func (l layeredEntry) Type() fs.FileMode {
	switch l.e.Kind() {
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFLNK:
		return fs.ModeSymlink
	case unix.S_IFREG:
		return 0
	}
	return fs.ModeIrregular
}

func (l layeredEntry) Info() (fs.FileInfo, error) { return nil, fs.ErrInvalid }
