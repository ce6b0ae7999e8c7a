package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/git"
	"cordon/internal/plainfile"
)

// Near is the state of the repository around a directory, found without git: for a glance
// that has to be quick. It is false where there is no checkout or nothing is kept. What is
// decided about workers goes by git.Discover and For.
func Near(dir string) (Dir, bool) {
	at, err := filepath.Abs(dir)
	if err == nil {
		at, err = filepath.EvalSymlinks(at)
	}
	for ; err == nil; at = filepath.Dir(at) {
		if common, ok := commonDir(filepath.Join(at, ".git")); ok {
			found, err := For(git.Host{Repo: git.Repo{Dir: common}, Top: at})
			return found, err == nil && found.Exists()
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return Dir{}, false
}

// commonDir is the git directory that a checkout's .git is or leads to.
func commonDir(dotGit string) (string, bool) {
	fi, err := os.Stat(dotGit)
	if err != nil {
		return "", false
	}
	if !fi.IsDir() {
		text, err := plainfile.Read(dotGit, plainfile.Line)
		to, is := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if err != nil || !is {
			return "", false
		}
		if !filepath.IsAbs(to) { // a submodule, or git worktree with worktree.useRelativePaths
			to = filepath.Join(filepath.Dir(dotGit), to)
		}
		dotGit = to
	}
	if text, err := plainfile.Read(filepath.Join(dotGit, "commondir"), plainfile.Line); err == nil {
		shared := strings.TrimSpace(string(text))
		if !filepath.IsAbs(shared) {
			shared = filepath.Join(dotGit, shared)
		}
		dotGit = shared
	}
	real, err := filepath.EvalSymlinks(dotGit)
	return real, err == nil
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
