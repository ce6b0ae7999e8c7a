package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/legible"
	"cordon/internal/plainfile"
)

// checkHost looks at the host's git directory before git does. A named pipe
// among its files would stop git for ever, and a commondir that leads elsewhere
// would make it read another repository's configuration.
func checkHost(dir string) error {
	dirs, err := gitDirs(dir)
	if err != nil {
		return err
	}
	for _, d := range dirs {
		for _, name := range []string{
			"HEAD", "packed-refs", "index", "config", "config.worktree", "commondir", "gitdir", "shallow",
			"info/attributes", "info/exclude", "info/grafts", "info/sparse-checkout", "objects/info/alternates",
		} {
			if err := plainFile(dir, filepath.Join(d, name)); err != nil {
				return err
			}
		}
		if strings.HasPrefix(d, "worktrees"+string(filepath.Separator)) {
			if err := checkCommon(dir, d); err != nil {
				return err
			}
		}
	}
	for _, d := range dirs {
		if err := checkRefs(dir, filepath.Join(d, "refs")); err != nil {
			return err
		}
	}
	return nil
}

func checkRefs(dir, below string) error {
	return filepath.WalkDir(filepath.Join(dir, below), func(p string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist): // git deletes them while we look
			return nil
		case err != nil || e.IsDir():
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		return plainFile(dir, rel)
	})
}

// plainFile refuses what git would wait on. A file that is not there is fine.
func plainFile(dir, name string) error {
	fi, err := os.Stat(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !fi.Mode().IsRegular() && !fi.IsDir() {
		err = fmt.Errorf(".git/%s is not a regular file", legible.Line(name))
	}
	return err
}

// checkCommon refuses a linked worktree whose private part says that it belongs
// to another repository.
func checkCommon(dir, worktree string) error {
	name := filepath.Join(worktree, "commondir")
	b, err := plainfile.Read(filepath.Join(dir, name), plainfile.Line)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // git does not take it for a worktree then
	}
	if err != nil {
		return err
	}
	common := strings.TrimRight(string(b), "\n")
	if !filepath.IsAbs(common) {
		common = filepath.Join(dir, worktree, common)
	}
	if filepath.Clean(common) != filepath.Clean(dir) {
		return fmt.Errorf(".git/%s leads to %s", legible.Line(name), legible.Line(common))
	}
	return nil
}

// gitDirs lists the git directories that belong to a repository, relative to its
// own: itself, the private parts of its worktrees and its submodules.
func gitDirs(dir string) ([]string, error) {
	dirs := []string{"."}
	entries, err := os.ReadDir(filepath.Join(dir, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		dirs = append(dirs, filepath.Join("worktrees", e.Name()))
	}
	modules, err := moduleDirs(dir)
	return append(dirs, modules...), err
}

// moduleDirs finds the git directories of submodules, whose names may have
// slashes.
func moduleDirs(dir string) ([]string, error) {
	var dirs []string
	found := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(dir, "modules"), func(p string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || !e.IsDir():
			return err
		case found[filepath.Dir(p)] && e.Name() != "modules":
			return fs.SkipDir // a part of the one above; only modules has others in it
		}
		if _, err := os.Lstat(filepath.Join(p, "HEAD")); err != nil {
			return nil
		}
		found[p] = true
		rel, err := filepath.Rel(dir, p)
		dirs = append(dirs, rel)
		return err
	})
	return dirs, err
}
