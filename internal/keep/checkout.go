package keep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/audit"
	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/inspect"
	"cordon/internal/ledger"
	"cordon/internal/overlay"
	"cordon/internal/plainfile"
	"cordon/internal/state"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
	"cordon/internal/worktree"
)

// CheckedOut is what a checkout made.
type CheckedOut struct {
	Dir    string       `json:"dir,omitempty"`
	Branch string       `json:"branch,omitempty"`
	Commit git.OID      `json:"commit,omitempty"`
	Files  int          `json:"files,omitempty"`
	Left   []audit.Path `json:"left_out,omitempty"` // repositories and special files: not for an operator's git
}

// CheckoutDir is where a worker's tree is put when nobody says where: beside the
// operator's checkout.
func CheckoutDir(s *worksite.Site, w *ledger.Worker) (string, error) {
	if s.Host.Top == "" {
		return "", &fault.MistakeError{Err: errors.New("the repository has no checkout to put the directory beside: name one")}
	}
	return s.Host.Top + "-" + string(w.ID), nil
}

// Checkout writes a worker's tree as it is now into a new plain directory. It holds
// every file, whatever the lease says of it, and no repository: git would run what
// one of the worker's says.
func Checkout(ctx context.Context, s *worksite.Site, w *ledger.Worker, dir string) (CheckedOut, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return CheckedOut{}, err
	}
	if inside, err := state.Inside(dir); err != nil || inside {
		return CheckedOut{}, errors.Join(err, fault.Refuse("%s lies in cordon's state: name another directory", dir))
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return CheckedOut{}, &fault.MistakeError{Err: fmt.Errorf("%s already exists: name a directory that does not", dir)}
	}
	if err := s.Begin(ctx); err != nil {
		return CheckedOut{}, err
	}
	tree, err := workspace.OpenTree(ctx, s, w)
	if err != nil {
		return CheckedOut{}, err
	}
	defer tree.Close()
	// Whoever looks meanwhile finds a name that says what it is.
	partial, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".partial-")
	if err != nil {
		return CheckedOut{}, err
	}
	if err := os.Chmod(partial, 0o755); err != nil {
		return CheckedOut{}, err
	}
	to, err := os.OpenRoot(partial)
	if err != nil {
		return CheckedOut{}, err
	}
	defer to.Close()
	out := CheckedOut{Dir: dir}
	if err := out.copy(ctx, tree, to, ".", 0); err != nil {
		return CheckedOut{}, errors.Join(err, os.RemoveAll(partial)) // made above, and nobody else's
	}
	return out, os.Rename(partial, dir)
}

// maxCheckoutDepth is how many directories deep a tree is written out, as deep as the
// audit reads one.
const maxCheckoutDepth = 400

// copy copies a directory of the tree.
func (c *CheckedOut) copy(ctx context.Context, from *overlay.Dir, to *os.Root, at string, depth int) error {
	entries, err := from.Entries()
	if err != nil {
		return err
	}
	if isRepository(entries) {
		c.Left = append(c.Left, audit.Path(at))
		return nil
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.entry(ctx, e, to, path.Join(at, e.Name), depth); err != nil {
			return err
		}
	}
	return nil
}

// isRepository reports whether git would take a directory for one of its own.
func isRepository(entries []overlay.Entry) bool {
	var names []string
	files := map[string]bool{}
	for _, e := range entries {
		names = append(names, e.Name)
		files[e.Name] = e.Kind() != unix.S_IFDIR
	}
	return audit.Repository(names, func(name string) bool { return files[name] }) != ""
}

func (c *CheckedOut) entry(ctx context.Context, e overlay.Entry, to *os.Root, at string, depth int) error {
	switch {
	case depth >= maxCheckoutDepth:
		c.Left = append(c.Left, audit.Path(at))
		return nil
	case audit.DotGit(e.Name):
		if at != ".git" { // the tree's own is no part of it
			c.Left = append(c.Left, audit.Path(at))
		}
		return nil
	case e.Kind() == unix.S_IFDIR:
		sub, err := e.Dir()
		if err != nil {
			return c.skipUnreadable(at, err)
		}
		defer sub.Close()
		if err := to.Mkdir(at, 0o700|e.Perm()); err != nil {
			return err
		}
		return c.copy(ctx, sub, to, at, depth+1)
	case e.Kind() != unix.S_IFREG && e.Kind() != unix.S_IFLNK:
		c.Left = append(c.Left, audit.Path(at))
		return nil
	}
	if err := worktree.CopyEntry(to, at, e); err != nil {
		return c.skipUnreadable(at, err)
	}
	c.Files++
	return nil
}

// skipUnreadable leaves out what cannot be read as what it was a moment ago: the worker may
// have locked it, and may be at work on it.
func (c *CheckedOut) skipUnreadable(at string, err error) error {
	for _, e := range []error{fs.ErrNotExist, fs.ErrPermission, unix.ENOTDIR, unix.ELOOP, plainfile.ErrKind} {
		if errors.Is(err, e) {
			if !errors.Is(err, fs.ErrNotExist) {
				c.Left = append(c.Left, audit.Path(at))
			}
			return nil
		}
	}
	return fmt.Errorf("%s: %w", audit.Path(at), err)
}

// CheckoutBranch puts what a worker changed, as far as git can hold it, on a new
// branch of the operator's repository. That is no landing: the target is not touched
// and nothing is judged.
func CheckoutBranch(ctx context.Context, s *worksite.Site, w *ledger.Worker, name string) (CheckedOut, error) {
	if err := s.Begin(ctx); err != nil {
		return CheckedOut{}, err
	}
	if !s.Host.ValidBranch(ctx, name) {
		return CheckedOut{}, &fault.MistakeError{Err: fmt.Errorf("%q is not a branch name", name)}
	}
	base, commit, err := inspect.DiffEnds(ctx, s, w)
	if err != nil {
		return CheckedOut{}, err
	}
	release, err := s.State.Await(ctx, state.GateLock)
	if err != nil {
		return CheckedOut{}, err
	}
	defer release()
	ref := "refs/heads/" + strings.TrimPrefix(name, "refs/heads/")
	if _, err := s.Host.Ref(ctx, ref); !errors.Is(err, git.ErrNoRef) {
		return CheckedOut{}, &fault.MistakeError{Err: errors.Join(err, fmt.Errorf("branch %s already exists: name another", name))}
	}
	// The event comes first: it explains the branch to whoever compares the host.
	if err := s.Append(w.ID, ledger.Branched, ledger.Branch{Ref: ref, Commit: commit}); err != nil {
		return CheckedOut{}, err
	}
	return CheckedOut{Branch: name, Commit: commit}, s.Gate.Branch(ctx, ref, commit, base)
}
