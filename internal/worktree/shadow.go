package worktree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/cell"
	"cordon/internal/git"
	"cordon/internal/paths"
	"cordon/internal/plainfile"
)

// Shadow is a repository of a worker's own for a checkout that shares one with
// the host: it takes the place of the checkout's .git in the cell. The host's git
// directory is not written, and what the worker does to the .git entry does not
// outlive the cell.
type Shadow struct{ Dir string }

// GitDir is the repository.
func (s Shadow) GitDir() string { return filepath.Join(s.Dir, ".git") }

// ShadowOrder says what a shadow is made of.
type ShadowOrder struct {
	Bin       git.Binary
	Host      git.Host
	GitDir    string // of the checkout: its index is there
	Alternate string
	Commit    git.OID // "": the branch has none yet
	Branch    string
	Unseen    []string // tracked files that the worker cannot see
	Dir       string   // where it is made
}

// MakeShadow makes a repository that has the checkout's commit, branch and index,
// and nothing else of the host's: no hook, no configuration, no other ref.
func MakeShadow(ctx context.Context, o ShadowOrder) (Shadow, error) {
	shallow, err := o.Host.ShallowFile()
	if err != nil {
		return Shadow{}, err
	}
	repo, err := git.Init(ctx, o.Bin, o.Dir, git.InitOptions{
		Format: o.Host.Format, Alternate: o.Alternate, Shallow: shallow, Branch: o.Branch,
	})
	if err != nil {
		return Shadow{}, err
	}
	if o.Commit != "" {
		if err := repo.UpdateRef(ctx, "refs/heads/"+o.Branch, o.Commit, "", "cordon: base"); err != nil {
			return Shadow{}, err
		}
	}
	s := Shadow{o.Dir}
	names, err := filepath.Glob(filepath.Join(o.GitDir, "sharedindex.*"))
	if err != nil {
		return Shadow{}, err
	}
	for _, name := range append(names, filepath.Join(o.GitDir, "index")) {
		if err := copyPlain(name, filepath.Join(s.GitDir(), filepath.Base(name))); err != nil {
			return Shadow{}, err
		}
	}
	if len(o.Unseen) > 0 {
		if err := repo.Conceal(ctx, git.Checkout{Top: o.Dir, GitDir: s.GitDir()}, o.Unseen); err != nil {
			return Shadow{}, err
		}
	}
	return s, os.WriteFile(filepath.Join(o.Dir, "entry"), []byte("gitdir: "+s.GitDir()+"\n"), 0o644)
}

// copyPlain copies a file of the host's git directory. One that is not there is
// not copied.
func copyPlain(from, to string) error {
	in, err := os.OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Binds put the shadow in the place of a checkout's .git. What is mounted cannot
// be renamed, removed or replaced from inside.
func (s Shadow) Binds(top string) ([]cell.Bind, error) {
	entry := filepath.Join(top, ".git")
	fi, err := os.Lstat(entry)
	if err != nil {
		return nil, err
	}
	if fi.IsDir() {
		return []cell.Bind{{From: s.GitDir(), At: entry, Write: true}}, nil
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is neither a directory nor a file", entry)
	}
	return []cell.Bind{
		{From: filepath.Join(s.Dir, "entry"), At: entry},
		{From: s.GitDir(), At: s.GitDir(), Write: true},
	}, nil
}

// ObjectBinds show the host's objects where the private repositories look for
// them, and the object directories that those read from in turn. The host's own
// path stays unseen.
func ObjectBinds(host git.Host, at string) ([]cell.Bind, error) {
	var list []cell.Bind
	seen := map[string]bool{}
	var add func(from, at string, depth int) error
	add = func(from, at string, depth int) error {
		real, err := filepath.EvalSymlinks(from)
		if err != nil {
			return fmt.Errorf("objects of the host: %w", err)
		}
		if seen[at] || depth > 5 { // git follows no more either
			return nil
		}
		seen[at] = true
		list = append(list, cell.Bind{From: real, At: at})
		text, err := plainfile.ReadLinked(filepath.Join(real, "info", "alternates"), plainfile.Text)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\n")
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if filepath.IsAbs(line) {
				err = add(line, filepath.Clean(line), depth+1)
			} else {
				err = add(filepath.Join(real, line), filepath.Join(at, line), depth+1)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return list, add(host.ObjectsDir(), at, 0)
}

// Submodules show, read-only, the repositories of a checkout's submodules that lie
// in the host's git directory, where their .git files say that they are.
func (s Shadow) Submodules(host git.Host, top string, entries []string) ([]cell.Bind, error) {
	var list []cell.Bind
	for _, entry := range entries {
		at := leadsTo(entry)
		real, err := filepath.EvalSymlinks(at)
		if at == "" || err != nil || !paths.Within(real, host.Dir) || real == host.Dir {
			continue
		}
		if rel, err := filepath.Rel(filepath.Join(top, ".git"), at); err == nil && filepath.IsLocal(rel) {
			if err := s.makeDir(rel); err != nil {
				return nil, err
			}
		}
		list = append(list, cell.Bind{From: real, At: at})
	}
	return list, nil
}

// makeDir makes a directory to mount on in the shadow, which a worker may have
// written.
func (s Shadow) makeDir(rel string) error {
	root, err := os.OpenRoot(s.GitDir())
	if err != nil {
		return err
	}
	defer root.Close()
	return root.MkdirAll(rel, 0o755)
}

// leadsTo is the directory that a .git file names.
func leadsTo(entry string) string {
	text, err := plainfile.Read(entry, plainfile.Line)
	to, found := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !found {
		return ""
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(entry), to)
	}
	return filepath.Clean(to)
}
