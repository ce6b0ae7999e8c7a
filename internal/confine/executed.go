package confine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"cordon/internal/fault"
	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/policy"
	"cordon/internal/worksite"
)

// ProtectExecuted denies writing to the tracked files that the operator's git
// runs or is steered by: hooks that lie in the tree, configuration that is
// included from it, programs and files that a setting names, and what a protected
// name leads to where the base commit has it as a link. Only a write root that is the
// very thing lifts that.
func ProtectExecuted(ctx context.Context, s *worksite.Site, l *lease.Lease) error {
	places, err := filesGitRuns(ctx, s)
	if err != nil {
		return err
	}
	linked, err := behindLinks(ctx, s, *l)
	if err != nil {
		return err
	}
	for _, p := range linked {
		places = append(places, namedFile{rel: p})
	}
	l.Executed, l.ExecutedBy = []string{}, map[string]string{}
	for _, p := range places {
		if listsPath(l.Policy.Filesystem.WriteRoots, p.rel) || listsPath(l.Executed, p.rel) {
			continue
		}
		pattern := asPattern(p.rel)
		l.Executed = append(l.Executed, pattern)
		if p.why != "" {
			l.ExecutedBy[pattern] = "your git runs or reads it: " + p.why
		}
	}
	return nil
}

// unwritable are the characters that a pattern has another meaning for.
const unwritable = "*?[]{}!$~\\"

// asPattern writes a path as a deny_write. A character that has no plain form there is
// denied together with any other in its place.
func asPattern(rel string) string {
	var pattern strings.Builder
	for _, c := range rel {
		switch {
		case strings.ContainsRune("$~*", c):
			pattern.WriteString("[" + string(c) + "]")
		case strings.ContainsRune(unwritable, c):
			pattern.WriteByte('?')
		default:
			pattern.WriteRune(c)
		}
	}
	return pattern.String()
}

func listsPath(entries []string, p string) bool {
	for _, e := range entries {
		if path.Clean(e) == p {
			return true
		}
	}
	return false
}

// linkedHooks lists a directory of hooks and where the links in it lead.
func linkedHooks(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, syscall.ENOTDIR) { // /dev/null means none
		return nil, err
	}
	list := []string{dir}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		list = append(list, to)
	}
	return list, nil
}

// insideAny makes a path relative to the tops of the checkouts it lies in, both as it is
// written and as its links resolve. What lies in a git directory is not in a tree.
func insideAny(path string, tops []string) []string {
	var list []string
	for _, place := range []string{path, resolveLinks(path)} {
		for _, top := range tops {
			rel, err := filepath.Rel(top, place)
			rel = filepath.ToSlash(rel)
			if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, "../") || rel == ".git" || strings.HasPrefix(rel, ".git/") {
				continue
			}
			if !listsPath(list, rel) {
				list = append(list, rel)
			}
		}
	}
	return list
}

// behindLinks lists where the base commit's links at denied names lead. The
// name is denied, so the place it leads to must be.
func behindLinks(ctx context.Context, s *worksite.Site, l lease.Lease) ([]string, error) {
	files, err := s.Special(ctx, l.Base)
	if err != nil {
		return nil, err
	}
	p := l.Policy
	p.Filesystem.WriteRoots, p.Filesystem.Scratch, p.Filesystem.DenyRead = []string{"."}, nil, nil
	rules, err := policy.Compile(p, policy.Location{Worktree: "/worktree", Home: l.Home})
	if err != nil {
		return nil, &fault.RefusedError{Err: err}
	}
	var list []string
	for _, f := range files {
		if f.Mode != git.Symlink || !rules.JudgeLink(f.Path).Class.IsViolation() {
			continue
		}
		target, err := s.Host.Blob(ctx, f.OID)
		if err != nil {
			return nil, err
		}
		to := path.Join(path.Dir(f.Path), string(target))
		if !path.IsAbs(string(target)) && to != "." && to != ".." && !strings.HasPrefix(to, "../") {
			list = append(list, to)
		}
	}
	return list, nil
}
