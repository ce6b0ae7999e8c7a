package gitfile

import (
	"os"
	"path/filepath"
	"strings"

	"cordon/internal/plainfile"
)

// Place is a directory in which git obeys the configuration of a repository.
type Place struct {
	Top    string // where git works: relative values start there
	GitDir string
	Common string // the git directory that this one shares its configuration with, or itself
}

// PlaceOf completes a top and its git directory. A top of "" is that of a bare repository.
func PlaceOf(top, gitDir string) Place {
	p := Place{Top: top, GitDir: gitDir, Common: gitDir}
	if top == "" {
		p.Top = gitDir
	}
	if to := PathIn(filepath.Join(gitDir, "commondir")); to != "" {
		p.Common = to
	}
	return p
}

// NamedBy is the directory that a .git file names, whether it is there or not; "" when the
// entry is no file. A relative name starts at the entry, also where that is a link.
func NamedBy(entry string) string { return PathIn(entry) }

// Linked lists the places of the worktrees that are linked to the same repository.
func (p Place) Linked() []Place {
	registry := filepath.Join(p.Common, "worktrees")
	entries, err := os.ReadDir(registry)
	if err != nil {
		return nil
	}
	var list []Place
	for _, e := range entries {
		dir := filepath.Join(registry, e.Name())
		if entry := PathIn(filepath.Join(dir, "gitdir")); entry != "" {
			list = append(list, Place{Top: filepath.Dir(entry), GitDir: dir, Common: p.Common})
		}
	}
	return list
}

// Modules lists the places of submodules whose git directories lie in that of a place. The
// setting core.worktree says where their files are.
func (p Place) Modules() []Place { return modulesIn(filepath.Join(p.GitDir, "modules"), 0) }

func modulesIn(dir string, depth int) []Place {
	entries, err := os.ReadDir(dir)
	if err != nil || depth > 16 {
		return nil
	}
	var list []Place
	for _, e := range entries {
		at := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			continue
		}
		if _, err := os.Lstat(filepath.Join(at, "HEAD")); err == nil {
			list = append(list, PlaceOf("", at))
			at = filepath.Join(at, "modules")
		}
		list = append(list, modulesIn(at, depth+1)...) // a name may have slashes
	}
	return list
}

// Configs are the configuration files of a place.
func (p Place) Configs() []string {
	list := []string{filepath.Join(p.Common, "config"), filepath.Join(p.GitDir, "config.worktree")}
	if p.Common != p.GitDir {
		list = append(list, filepath.Join(p.Common, "config.worktree"))
	}
	return list
}

// gitdir is how a .git file begins.
const gitdir = "gitdir: "

// maxPathFile is how long a .git file may be for git. Line ends at its end count for nothing.
const maxPathFile = 1 << 20

// PathIn is the path that a small file of git's holds, from where the file lies; "" when
// there is none.
func PathIn(file string) string {
	text, err := plainfile.ReadLinked(file, maxPathFile)
	if to := namedIn(file, text); err == nil && to != "" {
		return filepath.Clean(to)
	}
	return ""
}

// namedIn is the path in the text of a file, as it is written there.
func namedIn(file string, text []byte) string {
	to := strings.TrimRight(strings.TrimPrefix(string(text), gitdir), "\r\n")
	to, _, _ = strings.Cut(to, "\x00") // as it ends for git
	if to != "" && !filepath.IsAbs(to) {
		to = filepath.Dir(file) + "/" + to
	}
	return to
}
