package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"cordon/internal/paths"
)

// ErrNoGit says that PATH finds no git.
var ErrNoGit = errors.New("git is not on PATH")

// Find looks git up on PATH and checks its version. A git in one of the directories in
// which workers or commands write is passed over.
func Find(ctx context.Context, written ...string) (Binary, error) {
	b, err := Located(written...)
	if err != nil {
		return Binary{}, err
	}
	out, err := b.run(ctx, call{args: []string{"version"}})
	if err != nil {
		return Binary{}, err
	}
	if b.Version, err = parseVersion(string(out)); err != nil {
		return Binary{}, err
	}
	if b.Version.Less(MinVersion) {
		return Binary{}, fmt.Errorf("git %s at %s is too old: cordon needs %s or newer", b.Version, b.Path, MinVersion)
	}
	return b, nil
}

// Located is the git that Find finds, whatever its version: enough to list a configuration.
// Beside the given directories it passes over the checkouts of the repositories around
// them and around the current directory, and over relative entries of PATH.
func Located(written ...string) (Binary, error) {
	for _, dir := range slices.Concat(written, []string{"."}) {
		written = append(written, CheckoutsAround(dir)...)
	}
	passed := ""
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		at, err := exec.LookPath(filepath.Join(dir, "git"))
		switch {
		case !filepath.IsAbs(dir) || err != nil:
		case isWritten(at, written):
			passed = at
		default:
			return Binary{Path: at}, nil
		}
	}
	if passed != "" {
		return Binary{}, fmt.Errorf("%s is the only git on PATH, and a worker or a command under cordon exec could have written it: "+
			"add the directory of another git to PATH", passed)
	}
	return Binary{}, ErrNoGit
}

// isWritten reports whether a program, or what it is a link to, lies in one of some
// directories.
func isWritten(program string, dirs []string) bool {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return true
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(program))
	if err != nil {
		return true
	}
	for _, dir := range dirs {
		if end, err := filepath.EvalSymlinks(dir); err == nil {
			dir = end
		} else if !errors.Is(err, fs.ErrNotExist) {
			return true
		}
		if paths.Below(real, dir) || paths.Within(parent, dir) {
			return true
		}
	}
	return false
}

// CheckoutsAround lists the checkouts of the repositories that a directory lies in.
func CheckoutsAround(dir string) []string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	var list []string
	for up := dir; ; up = filepath.Dir(up) {
		if p, ok := PlaceAt(filepath.Join(up, ".git")); ok {
			list = append(list, up)
			if filepath.Base(p.Common) == ".git" {
				list = append(list, filepath.Dir(p.Common))
			}
			for _, linked := range p.Linked() {
				list = append(list, linked.Top)
			}
		}
		if up == filepath.Dir(up) {
			return list
		}
	}
}
