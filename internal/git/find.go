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
	"strings"

	"cordon/internal/gitfile"
	"cordon/internal/paths"
)

// ErrNoGit says that PATH finds no git.
var ErrNoGit = errors.New("git is not on PATH")

// Find looks git up on PATH and checks its version. A git in one of the directories in
// which workers or commands write is passed over.
func Find(ctx context.Context, written ...string) (Binary, error) {
	return FindKnown(ctx, func(_ string, ask func() (string, error)) (string, error) { return ask() }, written...)
}

// FindKnown is Find with somebody who may remember what that program has said.
func FindKnown(ctx context.Context, said func(program string, ask func() (string, error)) (string, error), written ...string) (Binary, error) {
	b, err := Located(written...)
	if err != nil {
		return Binary{}, err
	}
	out, err := said(b.Path, func() (string, error) {
		out, err := b.run(ctx, call{args: []string{"version"}})
		if err == nil {
			_, err = parseVersion(string(out))
		}
		return string(out), err
	})
	if err != nil {
		return Binary{}, err
	}
	if b.Version, err = parseVersion(out); err != nil {
		return Binary{}, err
	}
	if b.Version.Less(MinVersion) {
		return Binary{}, fmt.Errorf("git %s at %s is too old: cordon needs %s or newer", b.Version, b.Path, MinVersion)
	}
	return b, nil
}

// Located is the git that Find finds, whatever its version: enough to list a configuration.
func Located(written ...string) (Binary, error) {
	at, err := Program("git", written...)
	if errors.Is(err, errNotFound) {
		err = ErrNoGit
	}
	return Binary{Path: at, known: knownOf(at)}, err
}

// errNotFound says that PATH does not have a program.
var errNotFound = errors.New("not found on PATH")

// Program looks a program up on PATH, or takes an absolute path. Beside the given
// directories it passes over the checkouts of the repositories around them and around
// the current directory, and over relative entries of PATH: a worker could have written
// what lies there.
func Program(name string, written ...string) (string, error) {
	written = withCheckouts(written)
	if filepath.IsAbs(name) {
		at, err := exec.LookPath(name)
		if err == nil && isWritten(at, written) {
			err = fmt.Errorf("%s lies where a worker or a command under cordon exec could have written it", at)
		}
		return at, err
	}
	passed := ""
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		at, err := exec.LookPath(filepath.Join(dir, name))
		switch {
		case !filepath.IsAbs(dir) || err != nil:
		case isWritten(at, written):
			passed = at
		default:
			return at, nil
		}
	}
	if passed != "" {
		return "", fmt.Errorf("%s is the only %s on PATH, and a worker or a command under cordon exec could have written it: "+
			"add the directory of another %s to PATH", passed, name, name)
	}
	return "", fmt.Errorf("%s: %w", name, errNotFound)
}

// SafePath is PATH without relative entries and those that lie in directories in which
// workers or commands write.
func SafePath(written ...string) string {
	written = withCheckouts(written)
	var list []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) && !isWritten(filepath.Join(dir, "."), written) && !inside(dir, written) {
			list = append(list, dir)
		}
	}
	return strings.Join(list, string(filepath.ListSeparator))
}

func inside(dir string, written []string) bool {
	return slices.ContainsFunc(written, func(w string) bool { return paths.Within(dir, w) })
}

// withCheckouts adds the checkouts around some directories and around the current one.
func withCheckouts(written []string) []string {
	list := slices.Clone(written)
	for _, dir := range append(slices.Clone(written), ".") {
		list = append(list, gitfile.CheckoutsAround(dir)...)
	}
	return list
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
