package worktree

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

// Shadow is a repository of a worker's own for a checkout that shares one with
// the host: it takes the place of the checkout's .git in the cell. The host's git
// directory is not written, and what the worker does to the .git entry does not
// outlive the cell.
type Shadow struct{ Dir string }

// GitDir is the repository.
func (s Shadow) GitDir() string { return filepath.Join(s.Dir, ".git") }

// ShadowOrder says what a shadow is made of.
type ShadowOrder struct {
	Bin       git.Binary
	Host      git.Host
	GitDir    string // of the checkout: its index is there
	Alternate string
	Commit    git.OID // "": the branch has none yet
	Branch    string
	Unseen    []string // tracked files that the worker cannot see
	Dir       string   // where it is made
}

// MakeShadow makes a repository that has the checkout's commit, branch and index,
// and nothing else of the host's: no hook, no configuration, no other ref.
func MakeShadow(ctx context.Context, o ShadowOrder) (Shadow, error) {
	shallow, err := o.Host.ShallowFile()
	if err != nil {
		return Shadow{}, err
	}
	repo, err := git.Init(ctx, o.Bin, o.Dir, git.InitOptions{
		Format: o.Host.Format, Alternate: o.Alternate, Shallow: shallow, Branch: o.Branch,
	})
	if err != nil {
		return Shadow{}, err
	}
	if o.Commit != "" {
		if err := repo.UpdateRef(ctx, "refs/heads/"+o.Branch, o.Commit, "", "cordon: base"); err != nil {
			return Shadow{}, err
		}
	}
	s := Shadow{o.Dir}
	names, err := filepath.Glob(filepath.Join(o.GitDir, "sharedindex.*"))
	if err != nil {
		return Shadow{}, err
	}
	for _, name := range append(names, filepath.Join(o.GitDir, "index")) {
		if err := copyPlain(name, filepath.Join(s.GitDir(), filepath.Base(name))); err != nil {
			return Shadow{}, err
		}
	}
	if len(o.Unseen) > 0 {
		if err := repo.Conceal(ctx, git.Checkout{Top: o.Dir, GitDir: s.GitDir()}, o.Unseen); err != nil {
			return Shadow{}, err
		}
	}
	return s, os.WriteFile(filepath.Join(o.Dir, "entry"), []byte("gitdir: "+s.GitDir()+"\n"), 0o644)
}

// copyPlain copies a file of the host's git directory. One that is not there is
// not copied.
func copyPlain(from, to string) error {
	in, err := os.OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
