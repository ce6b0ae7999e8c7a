package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/git"
	"cordon/internal/gitfile"
	"cordon/internal/plainfile"
)

// Near is the state of the repository around a directory, found without git: for a glance
// that has to be quick. It is false where there is no checkout or nothing is kept. What is
// decided about workers goes by git.Discover and For.
func Near(dir string) (Dir, bool) {
	around, ok := gitfile.Around(dir)
	if !ok {
		return Dir{}, false
	}
	common, err := filepath.EvalSymlinks(around.Common)
	if err != nil {
		return Dir{}, false
	}
	found, err := For(git.Host{Repo: git.Repo{Dir: common}, Top: around.Top})
	return found, err == nil && found.Exists()
}

// Repositories are the git directories of all repositories that this user has state for, as
// far as they still exist.
func Repositories() ([]string, error) {
	root, err := RealRoot()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []string
	for _, e := range entries {
		text, err := plainfile.Read(filepath.Join(Dir{filepath.Join(root, e.Name())}.Objects(), "info", "alternates"), plainfile.Line)
		if err != nil {
			continue
		}
		repo := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "/objects")
		if fi, err := os.Stat(repo); err == nil && fi.IsDir() && filepath.IsAbs(repo) {
			list = append(list, repo)
		}
	}
	return list, err
}
