package gitfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/plainfile"
)

// underWay are the files by which git remembers what a checkout is in the
// middle of.
var underWay = []struct{ name, what string }{
	{"rebase-merge", "a rebase"},
	{"rebase-apply", "a rebase"},
	{"MERGE_HEAD", "a merge"},
	{"CHERRY_PICK_HEAD", "a cherry-pick"},
	{"REVERT_HEAD", "a revert"},
}

// UnderWay says what the checkout of a git directory, on a branch, is in the middle of, "" for
// nothing, and which branch that is about: a rebase leaves its branch and comes back to it.
func UnderWay(gitDir, on string) (what, branch string, err error) {
	for _, u := range underWay {
		_, err := os.Lstat(filepath.Join(gitDir, u.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", "", err
		}
		name, err := plainfile.Read(filepath.Join(gitDir, u.name, "head-name"), plainfile.Line)
		if err != nil { // not a rebase, or one of no branch
			return u.what, on, nil
		}
		return u.what, strings.TrimSpace(string(name)), nil
	}
	return "", on, nil
}
