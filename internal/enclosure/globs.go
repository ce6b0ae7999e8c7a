package enclosure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"cordon/internal/policy"
)

// matches are the paths that absolute patterns stand for, with links resolved. A
// pattern without wildcards stands for its path also when nothing is there yet.
func matches(globs []string) ([]string, error) { return resolver{}.matches(globs) }

func (w resolver) matches(globs []string) ([]string, error) {
	var list []string
	for _, g := range globs {
		g = strings.TrimSuffix(g, "/**")
		if g == "" {
			g = "/"
		}
		found := []string{policy.UnescapeGlob(g)}
		if policy.HasWildcard(g) {
			var err error
			if found, err = doublestar.FilepathGlob(g, doublestar.WithNoFollow()); err != nil {
				return nil, fmt.Errorf("%s: %w", g, err)
			}
		}
		for _, p := range found {
			list = append(list, w.targets(p)...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// resolver remembers where directories really are and what is in them: the patterns of
// a policy share most of their way, and there are hundreds of them.
type resolver map[string]*resolvedDir

type resolvedDir struct {
	real string
	in   map[string]os.FileMode // what is there; nil: nothing is, or it cannot be listed
	file []string               // the plain files that were asked for
	gone string                 // the first on the way that is not there; "": it is, or who knows
}

// files are the plain files among what was looked at.
func (w resolver) files() []string {
	var list []string
	for _, at := range w {
		list = append(list, at.file...)
	}
	slices.Sort(list)
	return list
}

// targets lists where a path is, and where it leads if it is a link.
func (w resolver) targets(path string) []string {
	if path == "/" {
		return []string{"/"}
	}
	dir := w.resolveDir(filepath.Dir(path))
	if dir.gone != "" {
		return []string{dir.gone} // what is absent is absent as a whole
	}
	name := filepath.Base(path)
	at := filepath.Join(dir.real, name)
	switch mode, there := dir.in[name]; {
	case there && mode.IsRegular():
		dir.file = append(dir.file, at)
	case there && mode&os.ModeSymlink != 0:
		if real, err := resolve(at); err == nil { // a way that cannot be gone leads nowhere in the cell either
			return []string{at, real}
		}
	}
	return []string{at}
}

// resolveDir is where a directory really is.
func (w resolver) resolveDir(path string) *resolvedDir {
	if known, ok := w[path]; ok {
		return known
	}
	p := &resolvedDir{real: path}
	if path != "/" {
		up := w.resolveDir(filepath.Dir(path))
		if up.gone != "" {
			w[path] = up
			return up
		}
		name := filepath.Base(path)
		p.real = filepath.Join(up.real, name)
		mode, there := up.in[name]
		if mode&os.ModeSymlink != 0 {
			if real, err := resolve(p.real); err == nil {
				p.real, mode = real, os.ModeDir
			}
		}
		if !there && up.in != nil {
			p.gone = p.real
		}
		if p.gone != "" || there && !mode.IsDir() {
			w[path] = p // nothing is below it
			return p
		}
	}
	if entries, err := os.ReadDir(p.real); err == nil {
		p.in = make(map[string]os.FileMode, len(entries))
		for _, e := range entries {
			p.in[e.Name()] = e.Type()
		}
	}
	w[path] = p
	return p
}

// resolve follows the links of the longest existing part of a path.
func resolve(path string) (string, error) {
	rest := ""
	for p := path; ; p = filepath.Dir(p) {
		real, err := filepath.EvalSymlinks(p)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || p == "/" {
			return "", err
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}
