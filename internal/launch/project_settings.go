package launch

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"golang.org/x/sys/unix"

	"cordon/internal/agent"
	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/overlay"
	"cordon/internal/plainfile"
	"cordon/internal/worksite"
	"cordon/internal/workspace"
)

// checkProjectSettings refuses to start a client in a tree with a file that it would obey over
// its guard, whatever it is told. The tree is looked at as it is now: an earlier
// launch may have left the file there.
func checkProjectSettings(ctx context.Context, s *worksite.Site, w *ledger.Worker, a *agent.Adapter, interactive bool) error {
	if len(a.Project) == 0 {
		return nil
	}
	tree, err := workspace.OpenTree(ctx, s, w)
	if err != nil {
		return err
	}
	defer tree.Close()
	for _, name := range a.Project {
		text, err := readPlainIn(tree, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = a.Object(interactive, text)
		}
		if err != nil {
			return fault.Refuse("%s cannot be started in this tree: %s: %v", a.Name, name, err)
		}
	}
	return nil
}

// maxProject bounds a file of settings in a tree.
const maxProject = 1 << 20

// readPlainIn reads a plain file of a tree. What is a link, or too large for settings, is
// not read: a client would, and nobody knows what it finds.
func readPlainIn(tree *overlay.Dir, name string) ([]byte, error) {
	dir := tree
	if parent := path.Dir(name); parent != "." {
		sub, err := tree.Sub(parent)
		if err != nil {
			return nil, err
		}
		defer sub.Close()
		dir = sub
	}
	e, err := dir.Entry(path.Base(name))
	if err != nil {
		return nil, err
	}
	if e.Kind() != unix.S_IFREG {
		return nil, errors.New("it is not a plain file")
	}
	f, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return plainfile.Bounded(f, maxProject)
}
