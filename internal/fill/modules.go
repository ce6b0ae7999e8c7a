package fill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"cordon/internal/git"
)

// Module is a submodule that is filled.
type Module struct {
	Path    string // in the tree
	Commit  git.OID
	Objects string     // where the host has it
	Files   []git.File // by their paths in the tree
}

// maxNested is how many submodules may lie in each other.
const maxNested = 10

// modules decides about submodules.
func (p *Plan) modules(ctx context.Context) error {
	var links []git.File
	for _, f := range p.order.Special {
		if f.Mode == git.Gitlink {
			links = append(links, f)
		}
	}
	if len(links) == 0 {
		return nil
	}
	names, err := p.order.Repo.Modules(ctx, p.order.Commit)
	if err != nil { // a file that git cannot read names nothing
		names = nil
	}
	for _, l := range links {
		if err := p.module(ctx, l, names[l.Path], p.order.Host.Dir, 1); err != nil {
			return err
		}
	}
	return nil
}

// module decides about one, and about those in it.
func (p *Plan) module(ctx context.Context, link git.File, name, above string, depth int) (err error) {
	if p.order.Unseen != nil && p.order.Unseen(link.Path) {
		return nil
	}
	dir, why := moduleDir(above, name)
	if why != nil || depth > maxNested {
		p.Empty = append(p.Empty, link.Path)
		return nil
	}
	m := Module{Path: link.Path, Commit: link.OID, Objects: filepath.Join(dir, "objects")}
	var inner []git.File
	var names map[string]string
	err = p.order.with(ctx, m.Objects, func(repo git.Repo) error {
		if kinds, err := repo.Kinds(ctx, []git.OID{m.Commit}); err != nil || kinds[m.Commit] != "commit" {
			return errors.Join(errAbsent, err)
		}
		if missing, err := repo.Missing(ctx, m.Commit); err != nil || len(missing) > 0 {
			return errors.Join(errAbsent, err)
		}
		files, err := repo.Tree(ctx, m.Commit)
		if err != nil {
			return err
		}
		for _, f := range files {
			if f.Path = path.Join(link.Path, f.Path); f.Mode == git.Gitlink {
				inner = append(inner, f)
			} else {
				m.Files = append(m.Files, f)
			}
		}
		if names, err = repo.Modules(ctx, m.Commit); err != nil {
			names = nil
		}
		return nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // whatever is wrong with it, the tree can do without
		p.Empty = append(p.Empty, link.Path)
		return nil
	}
	p.Modules = append(p.Modules, m)
	for _, l := range inner {
		if err := p.module(ctx, l, names[strings.TrimPrefix(l.Path, link.Path+"/")], dir, depth+1); err != nil {
			return err
		}
	}
	return nil
}

var errAbsent = errors.New("the host does not have it")

// with opens a repository of cordon's own that reads from an object directory, and removes
// it afterwards: of the other repository nothing but objects is read.
func (o Order) with(ctx context.Context, objects string, do func(git.Repo) error) error {
	if err := os.MkdirAll(o.Scratch, 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.Scratch, "module-")
	if err != nil {
		return err
	}
	repo, err := git.Init(ctx, o.Bin, filepath.Join(dir, "repo"), git.InitOptions{Format: o.Host.Format, Alternate: objects, Branch: "module"})
	if err == nil {
		err = do(repo)
	}
	return errors.Join(err, os.RemoveAll(o.Scratch)) // made just now
}

// check writes the files of a submodule.
func (o Order) check(ctx context.Context, root *os.Root, top string, m Module) error {
	if err := root.MkdirAll(m.Path, 0o755); err != nil {
		return err
	}
	return o.with(ctx, m.Objects, func(repo git.Repo) error {
		return repo.Populate(ctx, filepath.Join(top, m.Path), m.Commit, "module", nil)
	})
}

// moduleDir is the module repository of a name in a git directory. Every part of the way
// must be a directory itself: a link leads elsewhere.
func moduleDir(gitDir, name string) (string, error) {
	if err := checkName(name); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(gitDir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	at := "modules"
	for _, part := range append(strings.Split(name, "/"), "objects", "") {
		fi, err := root.Lstat(at)
		if err != nil {
			return "", err
		}
		if !fi.IsDir() {
			return "", fmt.Errorf("%s is not a directory", at)
		}
		at = filepath.Join(at, part)
	}
	return filepath.Join(gitDir, filepath.Dir(at)), nil
}

// checkName refuses a name of a submodule that could lead out of the directory of modules
// or be taken for an option.
func checkName(name string) error {
	if name == "" || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\\\x00\n") {
		return fmt.Errorf("%q is not the name of a submodule", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || strings.HasPrefix(part, "-") {
			return fmt.Errorf("%q is not the name of a submodule", name)
		}
	}
	return nil
}
