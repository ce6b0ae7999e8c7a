package follow

import (
	"bytes"
	"errors"
	"io"
	"path"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

// item is one path of a move and what is to be done about it.
type item struct {
	delta git.Delta
	old   identity // what is there, to be replaced or removed; zero for nothing
	done  bool     // nothing is to be done
	ahead bool     // because the index is at the new commit already
	why   string   // it is left alone, for this reason
	at    string   // what the reason is about
}

// glance is what was at a path before git compared it with the index.
type glance struct {
	identity
	err error
}

// judgement is what is known of a checkout before a move.
type judgement struct {
	root, files *dir // the checkout, and the new files
	seen        map[string]glance
	ahead       map[string]bool // paths at which the index is at the new commit already
	changed     map[string]bool // files that are not as the index says
	hidden      map[string]byte // paths that git does not look at, with their letter of git ls-files -v
	leaving     map[string]bool // paths that the move deletes
	gone        map[inode]bool  // the files there
	large       map[string]bool // paths that Git LFS keeps
	format      git.Format
}

// inodes are the files at some paths.
func inodes(seen map[string]glance, at map[string]bool) map[inode]bool {
	all := map[inode]bool{}
	for p := range at {
		if g := seen[p]; g.exists() {
			all[g.inode] = true
		}
	}
	return all
}

// WhyUntracked is the reason of an obstacle that is not a file of git's.
const WhyUntracked = "an untracked file is there"

// Why else a path is left as it is.
const (
	whyChanged = "it has an uncommitted change"
	whyCrowded = "a staged file and the landing need one name for a file and for a directory"
	whySparse  = "it exists, although git is set to skip it"
	whyAssumed = "git is set to assume it unchanged; git update-index --no-assume-unchanged undoes that"
)

func (j judgement) judge(d git.Delta) item {
	it := item{delta: d, at: d.Path}
	g := j.seen[d.Path]
	it.old = g.identity
	switch staged := j.staged(d); {
	case j.ahead[d.Path]:
		it.done, it.ahead = true, true
	case d.Old.Mode == git.Gitlink || d.New.Mode == git.Gitlink:
		it.old = identity{} // a directory, which is made or removed when it is empty
	case d.Old.Mode == git.Absent:
		return j.added(it, g, staged)
	case j.hidden[d.Path] == 'S' || j.hidden[d.Path] == 's' || d.New.Mode != git.Absent && !staged.exists():
		if it.done = true; g.exists() {
			it.why = whySparse
		}
	case j.hidden[d.Path] != 0:
		it.why = whyAssumed
	case g.err != nil:
		it.why = g.err.Error()
	case !j.changed[d.Path], j.unchanged(d, g.identity):
	case d.New.Mode == git.Absent && !g.exists(), j.same(d.Path, g.identity, staged):
		it.done = true // by a cordon that was killed
	default:
		it.why = whyChanged
	}
	return it
}

// staged is the new file, if git wrote one: outside of a sparse checkout it does not.
func (j judgement) staged(d git.Delta) identity {
	if d.New.Mode == git.Absent {
		return identity{}
	}
	id, _ := j.files.look(d.Path)
	return id
}

// added judges a path that the old commit does not have. What git does not track is
// somebody's, whether or not a rule ignores it.
func (j judgement) added(it item, g glance, staged identity) item {
	p := it.delta.Path
	switch {
	case !staged.exists():
		if it.done = true; g.exists() {
			it.why = whySparse
		}
	case errors.Is(g.err, ErrLink):
		for _, dir := range above(p) {
			if id, err := j.root.look(dir); err == nil && id.exists() && !id.directory() && !j.leaving[dir] {
				it.at, it.why = dir, WhyUntracked
				return it
			}
		}
	case g.err != nil:
		it.why = g.err.Error()
	case !g.exists():
	case g.directory():
		it.old = identity{} // it goes, with the files in it
		if keeps, err := j.keeper(p); err != nil {
			it.why = err.Error()
		} else if keeps != "" {
			it.at, it.why = keeps, WhyUntracked
		}
	case j.gone[g.inode]:
		it.old = identity{} // where case does not matter: it goes, under its old name
	case j.same(p, g.identity, staged):
		it.done = true
	default:
		it.why = WhyUntracked
	}
	return it
}

// keeper names something below a directory that does not leave with the move.
func (j judgement) keeper(rel string) (string, error) {
	d, err := j.root.below(rel, false)
	if err != nil {
		return "", err
	}
	defer d.close()
	names, err := d.names()
	if err != nil {
		return "", err
	}
	for _, name := range names {
		p := path.Join(rel, name)
		id, err := d.stat(name)
		if err != nil {
			return "", err
		}
		if !id.directory() {
			if !j.leaving[p] {
				return p, nil
			}
			continue
		}
		if found, err := j.keeper(p); err != nil || found != "" {
			return found, err
		}
	}
	return "", nil
}

// names lists a directory.
func (d *dir) names() ([]string, error) {
	f, err := d.open(".", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// same reports whether a path of the checkout already is the new file.
func (j judgement) same(p string, there, staged identity) bool {
	return sameFile(j.root, p, there, j.files, p, staged)
}

func sameFile(a *dir, p string, at identity, b *dir, q string, bt identity) bool {
	if at.mode&unix.S_IFMT != bt.mode&unix.S_IFMT || at.executable() != bt.executable() || at.size != bt.size {
		return false
	}
	x, err := a.contentOf(p, at)
	if err != nil {
		return false
	}
	defer x.Close()
	y, err := b.contentOf(q, bt)
	if err != nil {
		return false
	}
	defer y.Close()
	n, err := common(x, y)
	return err == nil && n == bt.size
}

// contentOf is content of a path below d.
func (d *dir) contentOf(rel string, id identity) (io.ReadCloser, error) {
	in, err := d.below(path.Dir(rel), false)
	if err != nil {
		return nil, err
	}
	defer in.close()
	return in.content(path.Base(rel), id)
}

// common counts the bytes at the beginning that two readers share. It is an error
// when they differ before x ends.
func common(x, y io.Reader) (n int64, err error) {
	a, b := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		i, err := io.ReadFull(x, a)
		k, _ := io.ReadFull(y, b)
		if i > k || !bytes.Equal(a[:i], b[:i]) {
			return n, errors.New("they differ")
		}
		n += int64(i)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}
