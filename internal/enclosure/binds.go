package enclosure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/cell"
	"cordon/internal/git"
	"cordon/internal/plainfile"
	"cordon/internal/worktree"
)

// LayeredTree are the directories of a layered tree in a cell: its files above a base's, and
// its repository above the base's index. A mount cannot be renamed or replaced, so
// the repository stays where it is.
func LayeredTree(tree string, below []string, index string) []cell.Over {
	return []cell.Over{
		{At: tree, Below: below, Layer: worktree.FilesLayer},
		{At: filepath.Join(tree, ".git"), Below: []string{index}, Layer: worktree.GitLayer},
	}
}

// ShadowBinds put the shadow in the place of a checkout's .git. What is mounted cannot
// be renamed, removed or replaced from inside.
func ShadowBinds(s worktree.Shadow, top string) ([]cell.Bind, error) {
	entry := filepath.Join(top, ".git")
	fi, err := os.Lstat(entry)
	if err != nil {
		return nil, err
	}
	if fi.IsDir() {
		return []cell.Bind{{From: s.GitDir(), At: entry, Write: true}}, nil
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is neither a directory nor a file", entry)
	}
	return []cell.Bind{
		{From: filepath.Join(s.Dir, "entry"), At: entry},
		{From: s.GitDir(), At: s.GitDir(), Write: true},
	}, nil
}

// ObjectBinds show the host's objects where the private repositories look for
// them, and the object directories that those read from in turn. The host's own
// path stays unseen.
func ObjectBinds(host git.Host, at string) ([]cell.Bind, error) {
	var list []cell.Bind
	seen := map[string]bool{}
	var add func(from, at string, depth int) error
	add = func(from, at string, depth int) error {
		real, err := filepath.EvalSymlinks(from)
		if err != nil {
			return fmt.Errorf("objects of the host: %w", err)
		}
		if seen[at] || depth > 5 { // git follows no more either
			return nil
		}
		if depth > 0 && filepath.Base(real) != "objects" { // git borrows from any directory, and here workers would read it
			return fmt.Errorf("objects of the host: info/alternates names %s, and only directories called objects are shown to workers", from)
		}
		seen[at] = true
		list = append(list, cell.Bind{From: real, At: at})
		text, err := plainfile.ReadLinked(filepath.Join(real, "info", "alternates"), plainfile.Text)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\n")
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if filepath.IsAbs(line) {
				err = add(line, filepath.Clean(line), depth+1)
			} else {
				err = add(filepath.Join(real, line), filepath.Join(at, line), depth+1)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return list, add(host.ObjectsDir(), at, 0)
}

// SubmoduleBinds show, read-only, the repositories of a checkout's submodules that lie in its git directory,
// where their .git files say that they are.
func SubmoduleBinds(s worktree.Shadow, top string, modules []git.Place) ([]cell.Bind, error) {
	var list []cell.Bind
	for _, m := range modules {
		real, err := filepath.EvalSymlinks(m.GitDir)
		if err != nil || real != m.GitDir {
			continue
		}
		if rel, err := filepath.Rel(filepath.Join(top, ".git"), m.GitDir); err == nil && filepath.IsLocal(rel) {
			if err := makeMountPoint(s, rel); err != nil {
				return nil, err
			}
		}
		list = append(list, cell.Bind{From: real, At: m.GitDir})
	}
	return list, nil
}

// makeMountPoint makes a directory to mount on in the shadow, which a worker may have
// written.
func makeMountPoint(s worktree.Shadow, rel string) error {
	root, err := os.OpenRoot(s.GitDir())
	if err != nil {
		return err
	}
	defer root.Close()
	return root.MkdirAll(rel, 0o755)
}
