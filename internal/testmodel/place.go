package testmodel

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Place links a real client into a directory, with the packages that it needs and nothing
// of the other clients, and is the directory of its program. Where nothing can be linked it
// is the one that Install names, whose clients are used where they are.
func Place(program, to string) (string, error) {
	bin, err := Install()
	if err != nil {
		return "", err
	}
	modules := filepath.Dir(bin)
	needed, err := needs(modules, filepath.Join(modules, Packages[program].Name))
	if err != nil {
		return "", err
	}
	at := filepath.Join(to, "node_modules")
	for _, dir := range needed {
		err := linkFiles(dir, filepath.Join(at, strings.TrimPrefix(dir, modules)))
		if errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EPERM) {
			return bin, nil
		}
		if err != nil {
			return "", err
		}
	}
	own := filepath.Join(at, ".bin")
	if err := os.MkdirAll(own, 0o755); err != nil {
		return "", err
	}
	target, err := os.Readlink(filepath.Join(bin, program))
	if err != nil {
		return "", err
	}
	return own, os.Symlink(target, filepath.Join(own, program))
}

// needs are the directories of a package and of all that it depends on and that is
// installed, each once, and none below another's.
func needs(modules, pkg string) ([]string, error) {
	var list []string
	seen := map[string]bool{}
	for open := []string{pkg}; len(open) > 0; {
		dir := open[0]
		if open = open[1:]; seen[dir] {
			continue
		}
		seen[dir] = true
		if !strings.Contains(strings.TrimPrefix(dir, modules), "/node_modules/") { // its own are linked with it
			list = append(list, dir)
		}
		text, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			return nil, err
		}
		var is struct {
			Dependencies         map[string]string
			OptionalDependencies map[string]string
			PeerDependencies     map[string]string
		}
		if err := json.Unmarshal(text, &is); err != nil {
			return nil, err
		}
		for _, names := range []map[string]string{is.Dependencies, is.OptionalDependencies, is.PeerDependencies} {
			for name := range names {
				if found := findPackage(filepath.Dir(modules), dir, name); found != "" {
					open = append(open, found)
				}
			}
		}
	}
	return list, nil
}

// findPackage finds a package as Node does: in the directory that asks and in those above it.
func findPackage(top, from, name string) string {
	for dir := from; ; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, "node_modules", name)
		if _, err := os.Stat(filepath.Join(at, "package.json")); err == nil {
			return at
		}
		if dir == top || dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// linkFiles links the files of a package but those that only people and compilers read.
func linkFiles(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		at := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case err != nil:
			return err
		case e.IsDir():
			return os.MkdirAll(at, 0o755)
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, at)
		case strings.HasSuffix(path, ".d.ts") || strings.HasSuffix(path, ".d.cts") || strings.HasSuffix(path, ".d.mts") || strings.HasSuffix(path, ".map"):
			return nil
		}
		return os.Link(path, at)
	})
}
