package worktree

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"cordon/internal/git"
)

// Prepared is a checkout of an order's commit that can be copied in a moment.
type Prepared struct {
	Copy       func(to string) error // makes a directory with its files, which can be written
	Index      string                // a directory that holds git's index of them
	Files      int
	Submodules []string
}

// snapshot is build for an order that has a prepared checkout.
func (o Order) snapshot(ctx context.Context) (Made, error) {
	made := Made{Files: o.From.Files, Submodules: o.From.Submodules, Snapshot: true}
	if err := o.From.Copy(o.Partial); err != nil {
		return made, err
	}
	if err := os.Chmod(o.Partial, 0o700); err != nil {
		return made, err
	}
	repo, err := o.repository(ctx)
	if err != nil {
		return made, err
	}
	if err := repo.Found(ctx, o.Commit, o.Branch); err != nil {
		return made, err
	}
	if err := copyIndex(o.From.Index, repo); err != nil {
		return made, err
	}
	made.Included, err = o.include(ctx)
	return made, err
}

// copyIndex gives a repository the index in a directory. It is newer than every file
// that it names, as the original is.
func copyIndex(from string, repo git.Repo) error {
	in, err := os.Open(filepath.Join(from, "index"))
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(filepath.Join(repo.Dir, "index"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in) // which shares what is on disk, where it can
	return errors.Join(err, out.Close())
}
