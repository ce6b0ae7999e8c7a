package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/plainfile"
)

// refTable is what a worker's git directory calls by name.
type refTable struct {
	refs  map[string]git.OID
	heads map[string]string // HEAD and the HEADs of worktrees it made → ref name or object
	count int
}

// readRefs reads refs as files. A format of refs it does not know is an error,
// so that the caller falls back to every commit there is.
func readRefs(gitDir string) (*refTable, error) {
	dir, err := openDir(gitDir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	t := &refTable{refs: map[string]git.OID{}, heads: map[string]string{}}
	var st unix.Stat_t
	if err := fstatat(dir, "reftable", &st); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the refs are kept in a format that cordon does not read")
	}
	if err := fstatat(dir, "HEAD", &st); err != nil {
		return nil, fmt.Errorf("HEAD: %w: the repository was removed or emptied", err)
	}
	if err := t.packed(dir); err != nil {
		return nil, fmt.Errorf("packed-refs: %w", err)
	}
	if err := t.named(dir, ""); err != nil {
		return nil, err
	}
	return t, t.worktrees(dir)
}

// named reads the refs and the HEAD of a git directory, or of the private part
// of a worktree's.
func (t *refTable) named(dir *os.File, prefix string) error {
	refs, err := subdir(dir, "refs")
	switch {
	case err == nil:
		if err := t.loose(refs, prefix+"refs", 0); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return t.head(dir, prefix+"HEAD")
}

// small reads a file that has no reason to be large.
func small(dir *os.File, name string) (string, error) {
	f, err := regular(dir, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSmallFile+1))
	if len(b) > maxSmallFile {
		return "", fmt.Errorf("%s is larger than %d bytes", name, maxSmallFile)
	}
	return string(b), err
}

func (t *refTable) packed(dir *os.File) error {
	text, err := small(dir, "packed-refs")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		if line[0] == '#' || line[0] == '^' {
			continue
		}
		hex, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		oid, err := git.ParseOID(hex)
		if err != nil {
			return err
		}
		t.refs[name] = oid
	}
	return nil
}

func (t *refTable) loose(dir *os.File, prefix string, depth int) error {
	defer dir.Close()
	names, err := plainfile.Names(dir, maxRefs)
	if errors.Is(err, plainfile.ErrMany) {
		return errors.New("too many refs")
	}
	if err != nil {
		return err
	}
	for _, name := range names {
		full := path.Join(prefix, name)
		if t.count++; t.count > maxRefs || depth > 50 {
			return errors.New("too many refs")
		}
		var st unix.Stat_t
		if err := fstatat(dir, name, &st); err != nil {
			return err
		}
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			sub, err := subdir(dir, name)
			if err != nil {
				return err
			}
			if err := t.loose(sub, full, depth+1); err != nil {
				return err
			}
			continue
		}
		if strings.HasSuffix(name, ".lock") {
			continue
		}
		if err := t.one(dir, name, full); err != nil {
			return fmt.Errorf("%s: %w", Path(full), err)
		}
	}
	return nil
}

func (t *refTable) one(dir *os.File, name, full string) error {
	text, err := small(dir, name)
	if err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	if to, ok := strings.CutPrefix(text, "ref:"); ok {
		t.heads[full] = strings.TrimSpace(to)
		return nil
	}
	oid, err := git.ParseOID(text)
	if err != nil {
		return err
	}
	t.refs[full] = oid
	return nil
}

func (t *refTable) head(dir *os.File, full string) error {
	err := t.one(dir, "HEAD", full)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", Path(full), err)
	}
	return nil
}

// worktrees reads the private refs of linked worktrees that the worker made
// itself.
func (t *refTable) worktrees(dir *os.File) error {
	all, err := subdir(dir, "worktrees")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer all.Close()
	names, err := plainfile.Names(all, maxRefs)
	if err != nil {
		return err
	}
	for _, name := range names {
		sub, err := subdir(all, name)
		if err != nil {
			return err
		}
		err = t.named(sub, "worktrees/"+name+"/")
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// tips lists every commit-ish with a name, detached heads included.
func (t *refTable) tips() map[string]git.OID {
	all := map[string]git.OID{}
	for name, oid := range t.refs {
		all[name] = oid
	}
	return all
}

// resolve follows HEAD to an object; "" when it names a branch without one.
func (t *refTable) resolve(name string) git.OID {
	for range 10 {
		if oid, ok := t.refs[name]; ok {
			return oid
		}
		to, ok := t.heads[name]
		if !ok {
			return ""
		}
		name = to
	}
	return ""
}
