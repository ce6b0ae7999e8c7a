package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

// Advance moves the files and the index of a clean checkout from one commit to
// another, leaving everything else in it alone. It refuses when that would lose
// a byte: of a file with changes, or of one that git does not track, ignored or
// not. Repeating it after an interruption completes it. With dry set it only
// says whether it would refuse.
func (r Repo) Advance(ctx context.Context, c Checkout, from, to OID, dry bool) error {
	deltas, err := r.Diff(ctx, from, to)
	if err != nil {
		return err
	}
	way := newWay(c.Top, r.Format, deltas)
	if err := r.clear(ctx, c, way, deltas); err != nil {
		return err
	}
	// The index may be stale only in its stat data; refresh it first, or
	// read-tree takes every touched file for a changed one.
	if err := r.refresh(ctx, c); err != nil {
		return err
	}
	args := []string{"read-tree", "-m", "-u", string(from), string(to)}
	if dry {
		args = []string{"read-tree", "-m", "-u", "-n", string(from), string(to)}
	}
	_, err = r.in(ctx, c, call{args: args})
	if err == nil || dry || ctx.Err() != nil {
		return err
	}
	// Git writes the files before the index. One that already is what it is to
	// become was written by an attempt that did not come to its end.
	adopted, aerr := r.adopt(ctx, c, way, deltas)
	if aerr != nil || !adopted {
		return errors.Join(err, aerr)
	}
	_, err = r.in(ctx, c, call{args: args})
	return err
}

func (r Repo) refresh(ctx context.Context, c Checkout) error {
	_, err := r.in(ctx, c, call{args: []string{"update-index", "-q", "--refresh", "--ignore-submodules"}})
	if exitCode(err) == 1 { // some files differ: read-tree says which of them matter
		return nil
	}
	return err
}

// clear refuses when a new file would take the place of one that git does not
// track. The index is asked only when there is something to ask about.
func (r Repo) clear(ctx context.Context, c Checkout, w way, deltas []Delta) error {
	if found, err := w.blockers(deltas); err != nil || len(found) == 0 {
		return err
	}
	index, err := r.Index(ctx, c)
	if err != nil {
		return err
	}
	w.tracked = index
	found, err := w.blockers(deltas)
	if err != nil || len(found) == 0 {
		return err
	}
	return blocked(found)
}

// adopt enters files in the index that have their new content already and that
// the index has with the old one, or not at all.
func (r Repo) adopt(ctx context.Context, c Checkout, w way, deltas []Delta) (bool, error) {
	index, err := r.Index(ctx, c)
	if err != nil {
		return false, err
	}
	var in strings.Builder
	for _, d := range deltas {
		if d.New.Mode != Absent && index[d.Path] == d.Old && w.holds(d.Path, d.New) {
			fmt.Fprintf(&in, "%s %s\t%s\x00", d.New.Mode, d.New.OID, d.Path)
		}
	}
	if in.Len() == 0 {
		return false, nil
	}
	if _, err = r.in(ctx, c, call{args: []string{"update-index", "-z", "--index-info"}, stdin: strings.NewReader(in.String())}); err != nil {
		return false, err
	}
	return true, r.refresh(ctx, c)
}

// Index lists the entries of a checkout's index that are not in conflict.
func (r Repo) Index(ctx context.Context, c Checkout) (map[string]Entry, error) {
	out, err := r.in(ctx, c, call{listing: true, args: []string{"ls-files", "-z", "--stage"}})
	if err != nil {
		return nil, err
	}
	index := map[string]Entry{}
	for _, rec := range lines(out) {
		meta, name, ok := strings.Cut(rec, "\t")
		f := strings.Fields(meta)
		if !ok || len(f) != 3 {
			return nil, fmt.Errorf("unexpected answer of git ls-files: %q", rec)
		}
		if f[2] != "0" {
			continue
		}
		if index[name], err = entry(f[0], f[1]); err != nil {
			return nil, err
		}
	}
	return index, nil
}

// way is what lies where a checkout is to get new files. Git looks after files
// that it tracks and after untracked ones, but overwrites untracked ones that
// some rule ignores; here those are somebody's too.
type way struct {
	top     string
	format  Format
	leaving map[string]bool  // tracked files that the move deletes
	tracked map[string]Entry // of the index; git looks after them itself
}

func newWay(top string, format Format, deltas []Delta) way {
	w := way{top: top, format: format, leaving: map[string]bool{}}
	for _, d := range deltas {
		if d.New.Mode == Absent {
			w.leaving[d.Path] = true
		}
	}
	return w
}

// blockers lists what is in the way of the new files.
func (w way) blockers(deltas []Delta) (map[string]bool, error) {
	found := map[string]bool{}
	for _, d := range deltas {
		if d.Old.Mode != Absent || d.New.Mode == Gitlink {
			continue
		}
		p, err := w.blocker(d)
		if err != nil {
			return nil, err
		}
		if p != "" {
			found[p] = true
		}
	}
	return found, nil
}

// safe reports whether a file may be where another is to be: git takes it away,
// or refuses to.
func (w way) safe(p string) bool {
	_, tracked := w.tracked[p]
	return tracked || w.leaving[p]
}

// BlockedError says that files which git does not track are where new ones are
// to be.
type BlockedError struct{ Paths []string } // quoted

func (e *BlockedError) Error() string {
	return "untracked files are in the way: " + strings.Join(e.Paths, ", ")
}

func blocked(found map[string]bool) error {
	var list []string
	for p := range found {
		list = append(list, fmt.Sprintf("%q", p))
	}
	sort.Strings(list)
	const shown = 5
	if n := len(list) - shown; n > 0 {
		list = append(list[:shown], fmt.Sprintf("%d more", n))
	}
	return &BlockedError{Paths: list}
}

// blocker names what is in the way of one new file.
func (w way) blocker(d Delta) (string, error) {
	names := strings.Split(d.Path, "/")
	for i := range names {
		p := path.Join(names[:i+1]...)
		fi, err := os.Lstat(filepath.Join(w.top, p))
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		switch last := i == len(names)-1; {
		case !last && fi.IsDir():
			continue
		case !last || !fi.IsDir():
			if w.safe(p) || last && w.holds(p, d.New) {
				return "", nil
			}
			return p, nil
		}
		return w.keeper(p)
	}
	return "", nil
}

// keeper names something below a directory that does not leave with the move.
func (w way) keeper(dir string) (found string, err error) {
	err = filepath.WalkDir(filepath.Join(w.top, dir), func(full string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(w.top, full)
		if err == nil && !w.safe(filepath.ToSlash(rel)) {
			found = filepath.ToSlash(rel)
			return fs.SkipAll
		}
		return err
	})
	return found, err
}

// holds reports whether a path of the checkout already is an entry, byte for
// byte.
func (w way) holds(p string, e Entry) bool {
	full := filepath.Join(w.top, p)
	fi, err := os.Lstat(full)
	if err != nil {
		return false
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(full)
		return err == nil && e.Mode == Symlink && w.format.Blob([]byte(to)) == e.OID
	}
	mode := Regular
	if fi.Mode()&0o100 != 0 {
		mode = Executable
	}
	if !fi.Mode().IsRegular() || mode != e.Mode {
		return false
	}
	content, err := os.ReadFile(full)
	return err == nil && w.format.Blob(content) == e.OID
}
