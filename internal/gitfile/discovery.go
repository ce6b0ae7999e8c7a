package gitfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"cordon/internal/plainfile"
)

// Texts adds what files hold to a question, for a memory of answers that depend on them. A file
// that is not there counts as that. It reports false if one cannot be read as a file.
func Texts(question string, most int64, files ...string) (string, bool) {
	for _, f := range files {
		text, err := plainfile.ReadLinked(f, most)
		switch {
		case err == nil:
			question += fmt.Sprintf("\n%q is %q", f, text)
		case isAbsent(f):
			question += fmt.Sprintf("\n%q is absent", f)
		default:
			return "", false
		}
	}
	return question, true
}

// isAbsent reports whether nothing has a name, not even a link that leads nowhere.
func isAbsent(path string) bool {
	_, err := os.Lstat(path)
	return os.IsNotExist(err)
}

// Discovery is all that the discovery of a repository from dir depends on, where that is plain: a
// directory .git of this user's in or above dir, on one file system, and nothing on the way
// that git could take for a repository.
func Discovery(dir string, most int64) (string, bool) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", false
	}
	start, err := os.Stat(dir)
	if err != nil {
		return "", false
	}
	for top := dir; ; top = filepath.Dir(top) {
		if !isAbsent(filepath.Join(top, "HEAD")) || top == "/" {
			return "", false
		}
		if isAbsent(filepath.Join(top, ".git")) {
			continue
		}
		git := filepath.Join(top, ".git")
		if !sameOwner(start, top, git, filepath.Join(git, "objects"), filepath.Join(git, "refs")) || !isAbsent(filepath.Join(git, "commondir")) {
			return "", false
		}
		head, err := plainfile.Read(filepath.Join(git, "HEAD"), plainfile.Line)
		if err != nil || !strings.HasPrefix(string(head), "ref: refs/heads/") {
			return "", false
		}
		config, err := plainfile.ReadLinked(filepath.Join(git, "config"), most)
		if err != nil || strings.Contains(strings.ToLower(string(config)), "worktree") {
			return "", false // the tree is elsewhere, or links decide where
		}
		question := fmt.Sprintf("%q\n%q", dir, config)
		return Texts(question, most, filepath.Join(git, "config"), filepath.Join(git, "config.worktree"), filepath.Join(git, "shallow"))
	}
}

// sameOwner reports whether paths are directories of this user's and on the file system of a start.
func sameOwner(start os.FileInfo, dirs ...string) bool {
	on, ok := start.Sys().(*syscall.Stat_t)
	for _, dir := range dirs {
		fi, err := os.Lstat(dir)
		if err != nil || !fi.IsDir() || !ok {
			return false
		}
		st, ok := fi.Sys().(*syscall.Stat_t)
		if !ok || int(st.Uid) != os.Geteuid() || st.Dev != on.Dev {
			return false
		}
	}
	return ok
}
