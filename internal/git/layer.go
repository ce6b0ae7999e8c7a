package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// TreeChanges is Diff with the directories that came, went or changed among the
// files. What is a file in one tree and a directory in the other is two changes.
func (r Repo) TreeChanges(ctx context.Context, from, to OID) ([]Delta, error) {
	return r.diff(ctx, from, to, "-t")
}

// Layer writes some files of a tree to the directory top, which has nothing in their
// places, and makes the index of r, a private repository made by Init, the index of
// the whole tree. What the index knows of files that the tree has unchanged is kept:
// they are there already, or lie elsewhere.
func (r Repo) Layer(ctx context.Context, top string, tree OID, paths []string) error {
	info := filepath.Join(r.Dir, "info")
	if err := os.MkdirAll(info, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(info, "attributes"), []byte(raw), 0o644); err != nil {
		return err
	}
	// Not through in: the configuration is our own and has no driver to mute.
	at := []string{"--git-dir=" + r.Dir, "--work-tree=" + top}
	_, err := r.bin.run(ctx, call{
		dir: top, repo: at, config: []string{"core.fsync=none"},
		args: []string{"read-tree", "-i", "-m", string(tree)},
	})
	if err != nil || len(paths) == 0 {
		return err
	}
	_, err = r.bin.run(ctx, call{
		dir: top, repo: at, config: []string{"core.fsync=none", "checkout.workers=1"}, patience: -1,
		args:  []string{"checkout-index", "-u", "-f", "-z", "--stdin"},
		stdin: strings.NewReader(strings.Join(paths, "\x00") + "\x00"),
	})
	return err
}
