package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"cordon/internal/base"
	"cordon/internal/cell"
	"cordon/internal/fault"
	"cordon/internal/worktree"
)

// overlayTrial is where an overlay is tried.
type overlayTrial struct{ hide, below, layers, at string }

// run starts a cell with nothing in it but a directory that is copied on write.
func (t overlayTrial) run(ctx context.Context) error {
	for _, dir := range []string{filepath.Join(t.below, "d"), t.layers} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	argv := cell.Shell("rmdir d && mkdir d") // which a layer without attributes cannot show
	exit, err := cell.Run(ctx, cell.Command{
		Argv: argv, Dir: t.at, Env: []string{"PATH=/usr/bin:/bin"}, Limit: time.Minute,
		Cell: &cell.Order{
			Argv: argv, Dir: t.at, Hide: []string{t.hide}, Layers: t.layers,
			Over: []cell.Over{{At: t.at, Below: []string{t.below}, Layer: worktree.FilesLayer}},
		},
	})
	if err == nil && !exit.OK() {
		err = fmt.Errorf("a directory could not be replaced in it (%s, %d): the file system has no user extended attributes, as a tmpfs before Linux "+
			"6.6", exit.Reason, exit.Code)
	}
	return err
}

// Trees is what kinds of trees a place for cordon's state gives: what is empty can be
// had, and the rest says why it cannot.
type Trees struct{ Overlay, Snapshot string }

// TryTrees finds that out in a directory, and leaves nothing there.
func TryTrees(ctx context.Context, dir string) (Trees, error) {
	place, err := os.MkdirTemp(dir, ".cordon-doctor-")
	if err != nil {
		return Trees{}, err
	}
	in := func(name string) string { return filepath.Join(place, name) }
	defer func() { // made just now, and no worker was there
		_ = os.Chmod(filepath.Join(in("layers"), worktree.FilesLayer, "work", "work"), 0o700) // overlayfs leaves it without rights
		_ = os.RemoveAll(place)
	}()
	var t Trees
	if err := (overlayTrial{hide: place, below: in("below"), layers: in("layers"), at: in("tree")}).run(ctx); err != nil {
		t.Overlay = fault.OneLine(err)
	}
	if err := base.TrySnapshot(place); err != nil {
		t.Snapshot = fault.OneLine(err)
	}
	return t, ctx.Err()
}
