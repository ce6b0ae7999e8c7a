// Package state knows where cordon keeps things and how they are removed.
//
// Everything about one host repository lies in one directory outside of it:
//
//	journal.*               what happened (package journal)
//	odb/                    an empty object directory that reads from the host's
//	gate.git/               results on their way to the host (package gate)
//	trees/ID/               the worktree of a worker, where it is a plain directory
//	bases/TREE/             a prepared checkout, read by many workers (package base)
//	unpacked/NAME/          files that a client unpacked from its program, read by many workers (package unpacked)
//	workers/ID/             transcript, audit report, lock of a worker
//	frozen/ID/              the worktree of a quarantined worker
//	history/ID/             the commits of a worker, as verified objects
//	ignore/ID/              the base commit's ignore rules while an audit runs
//	layers/ID/              what a worker wrote privately: outside its tree, and in one that is copied on write
//	shadow/ID/              the repository of a worker in a checkout that was adopted
//	accept/ID/              a merged tree while acceptance commands run on it
//	landing/NAME/           new files and index of a checkout while its branch moves
//	trash/NAME/             what was removed, until gc takes it
//	fleet/                  keys, tickets and packs of the home of a fleet (cordon-fleet)
//	reserve/                space for clearing up on a full disk
//
// The package refuses to remove anything by a path: Trash and Erase take a name
// below one of these directories and never follow a symbolic link out of them.
package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/gitfile"
	"cordon/internal/paths"
)

// Dir is the state of one host repository.
type Dir struct{ path string }

// Root returns the directory that holds the state of every repository.
func Root() (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("no directory for cordon's state: %w", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	if !filepath.IsAbs(base) {
		return "", fmt.Errorf("XDG_STATE_HOME must be an absolute path, not %q", base)
	}
	return filepath.Join(base, "cordon"), nil
}

// RealRoot is Root with the links of what is there resolved.
func RealRoot() (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	return resolve(root)
}

// CellRoot is the directory in which cells show trees. No host has it: where one does,
// trees are shown in the state instead (package workspace).
const CellRoot = "/cordon"

// Seen is where every worker of the repository sees its tree, in its own cell: caches that
// hold the path of what they were made from serve the next worker too. Seen is no path of the host.
func (d Dir) Seen() string { return filepath.Join(CellRoot, filepath.Base(d.path)) }

// SeenAccepted is where acceptance commands see the merged tree. It is not where the worker
// saw its tree: a result that works only there must not pass.
func (d Dir) SeenAccepted() string { return filepath.Join(CellRoot, "accept", filepath.Base(d.path)) }

// Key is a name for a path, for what is kept of something that has no worker.
func Key(path string) string {
	sum := sha256.Sum256([]byte(path))
	return keyPrefix + hex.EncodeToString(sum[:6])
}

const keyPrefix = "exec-"

// IsKey reports whether a name is one of Key's. No worker has such a name.
func IsKey(name string) bool {
	return strings.HasPrefix(name, keyPrefix) && len(name) == len(keyPrefix)+12
}

// For names the state directory of a repository without touching the disk
// beyond resolving links. The name is derived from where the repository is.
func For(host git.Host) (Dir, error) {
	root, err := RealRoot()
	if err != nil {
		return Dir{}, err
	}
	for _, p := range []string{root, host.Dir} {
		if !utf8.ValidString(p) {
			return Dir{}, fmt.Errorf("%q is not valid UTF-8: cordon cannot record such a path", p)
		}
	}
	for _, p := range places(host) {
		if paths.Within(root, p) {
			return Dir{}, fmt.Errorf("cordon's state (%s) must not lie inside the repository: set XDG_STATE_HOME to another place", root)
		}
	}
	sum := sha256.Sum256([]byte(host.Dir))
	return Dir{path: filepath.Join(root, label(host)+"-"+hex.EncodeToString(sum[:6]))}, nil
}

// places are where a repository lies: its git directory, the checkout that the
// operator stands in, and the main checkout, which may be another one.
func places(host git.Host) []string {
	list := []string{host.Dir, host.Top}
	if filepath.Base(host.Dir) == ".git" {
		list = append(list, filepath.Dir(host.Dir))
	}
	return list
}

// label is a short readable part of the directory's name.
func label(host git.Host) string {
	name := filepath.Base(host.Dir)
	if name == ".git" {
		name = filepath.Base(filepath.Dir(host.Dir))
	}
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '_'
	}, strings.TrimSuffix(name, ".git"))
	return name[:min(len(name), 40)]
}

// resolve follows the links of the longest existing part of a path.
func resolve(path string) (string, error) {
	rest := ""
	for p := path; ; {
		real, err := filepath.EvalSymlinks(p)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || p == filepath.Dir(p) {
			return "", err
		}
		rest = filepath.Join(filepath.Base(p), rest)
		p = filepath.Dir(p)
	}
}

// Inside reports whether a path lies in the state of any repository: such a
// place is written by workers, and git must not be asked about it.
func Inside(path string) (bool, error) {
	root, err := RealRoot()
	if err != nil {
		return false, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return false, err
	}
	if path, err = resolve(path); err != nil {
		return false, err
	}
	return paths.Within(path, root), nil
}

// Path is the directory itself.
func (d Dir) Path() string { return d.path }

// The parts.
func (d Dir) Objects() string             { return filepath.Join(d.path, "odb") }
func (d Dir) Gate() string                { return filepath.Join(d.path, "gate.git") }
func (d Dir) Tree(id string) string       { return filepath.Join(d.path, "trees", id) }
func (d Dir) Fleet() string               { return filepath.Join(d.path, "fleet") }
func (d Dir) Returned() string            { return filepath.Join(d.Fleet(), "results") }
func (d Dir) NewTree(id string) string    { return filepath.Join(d.path, "trees", id+".new") }
func (d Dir) Worker(id string) string     { return filepath.Join(d.path, "workers", id) }
func (d Dir) Frozen(id string) string     { return filepath.Join(d.path, "frozen", id) }
func (d Dir) Acceptance(id string) string { return filepath.Join(d.path, "accept", id) }
func (d Dir) Ignore(id string) string     { return filepath.Join(d.path, "ignore", id) }
func (d Dir) Layers(id string) string     { return filepath.Join(d.path, "layers", id) }
func (d Dir) Agent(id string) string      { return filepath.Join(d.path, "agents", id) } // what its client keeps
func (d Dir) Post(id string) string       { return filepath.Join(d.path, "posts", id) }  // what it can read, and its socket
func (d Dir) Shadow(id string) string     { return filepath.Join(d.path, "shadow", id) }
func (d Dir) History(id string) string    { return filepath.Join(d.path, "history", id) }
func (d Dir) Base(name string) string     { return filepath.Join(d.path, "bases", name) }
func (d Dir) Unpacked(name string) string { return filepath.Join(d.path, "unpacked", name) }
func (d Dir) Cache(name string) string    { return filepath.Join(d.path, "caches", name) }
func (d Dir) Landing(name string) string  { return filepath.Join(d.path, "landing", name) }
func (d Dir) Handed(id string) string     { return filepath.Join(d.path, "handed", id) } // Git LFS content that it handed in

var parts = []string{"trees", "workers", "frozen", "accept", "trash", "ignore", "history", "layers", "shadow", "bases", "agents", "posts", "landing", "handed",
	"unpacked", "caches", "queue"}

// Make creates what is missing and points odb at the host's objects.
func (d Dir) Make(host git.Host) error {
	for _, p := range parts {
		if err := os.MkdirAll(filepath.Join(d.path, p), 0o700); err != nil {
			return fmt.Errorf("cordon's state: %w", err)
		}
	}
	if err := d.private(); err != nil {
		return err
	}
	return d.linkObjects(host)
}

// linkObjects is repeated at every start: the host may have been moved back and
// forth. It writes only what is not there already, and by renaming: another
// cordon's git may be reading the file, and must not find it empty.
func (d Dir) linkObjects(host git.Host) error {
	const name = "info/alternates"
	have, err := os.ReadFile(filepath.Join(d.Objects(), name))
	if err == nil && string(have) == host.ObjectsDir()+"\n" {
		return nil
	}
	// A draft that stays behind is trash whose time is over.
	draft, err := os.MkdirTemp(filepath.Join(d.path, "trash"), "0-odb-")
	if err != nil {
		return fmt.Errorf("cordon's state: %w", err)
	}
	defer os.RemoveAll(draft) // cordon's own, and made just now
	if err := gitfile.WriteAlternates(draft, host.ObjectsDir()); err != nil {
		return err
	}
	want, err := os.ReadFile(filepath.Join(draft, name))
	if err != nil {
		return err
	}
	if string(have) == string(want) {
		return nil // a path that is quoted in the file
	}
	if err := os.MkdirAll(filepath.Join(d.Objects(), "info"), 0o700); err != nil {
		return err
	}
	return os.Rename(filepath.Join(draft, name), filepath.Join(d.Objects(), name))
}

// private refuses a state directory that somebody else can write.
func (d Dir) private() error {
	fi, err := os.Lstat(d.path)
	if err != nil {
		return err
	}
	if !fi.IsDir() || fi.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("cordon's state %s can be written by others: make it a directory with mode 0700", d.path)
	}
	return nil
}

// Exists reports whether the repository has any state yet.
func (d Dir) Exists() bool {
	_, err := os.Lstat(d.path)
	return err == nil
}

// margin is what must be free before a result is looked at: a judgement made on
// a full disk would be about the disk.
const margin = 1 << 20

// Room says whether the disk that the state is on is as good as full.
func (d Dir) Room() error {
	var fs unix.Statfs_t
	if err := unix.Statfs(d.path, &fs); err != nil {
		return fmt.Errorf("cordon's state: %w", err)
	}
	free := uint64(fs.Bavail) * uint64(fs.Bsize)
	if fs.Blocks > 0 && free < margin || fs.Files > 0 && fs.Ffree == 0 {
		return fmt.Errorf("cordon's state: %s: %w", d.path, unix.ENOSPC)
	}
	return nil
}

// Trash moves one of cordon's own directories out of the way at once, without
// reading it, and returns its new name. A directory that is not there is no
// error: removal may be repeated.
func (d Dir) Trash(path string, now time.Time) (string, error) {
	rel, err := d.owned(path)
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	name := filepath.Join("trash", fmt.Sprintf("%d-%s", now.UnixNano(), strings.ReplaceAll(rel, string(filepath.Separator), "-")))
	if err := move(root, rel, name); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	return filepath.Base(name), nil
}

// Freeze moves the worktree of a worker to where its processes do not know it.
func (d Dir) Freeze(id string) error {
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return err
	}
	defer root.Close()
	return move(root, filepath.Join("trees", id), filepath.Join("frozen", id))
}

// move renames a directory, also one that a worker made read-only.
func move(root *os.Root, from, to string) error {
	err := root.Rename(from, to)
	if !errors.Is(err, unix.EROFS) {
		return err
	}
	open(root, from, unlock)
	return root.Rename(from, to)
}

// open acts on a directory, if it can be opened.
func open(root *os.Root, rel string, act func(*os.File)) {
	f, err := root.OpenFile(rel, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	act(f)
}

// Drop moves one of cordon's own directories out of the way at once, for good: it is
// trash whose time is over, and Sweep or gc deletes it.
func (d Dir) Drop(path string, now time.Time) error {
	_, err := d.Trash(path, time.Unix(0, now.UnixMicro()))
	return err
}

// Dropped reports whether something in the trash is only waiting to be deleted.
func (t Trashed) Dropped() bool { return t.When.Before(time.Unix(0, 0).AddDate(10, 0, 0)) }

// Sweep deletes what was dropped.
func (d Dir) Sweep() error {
	all, err := d.Trashed()
	for _, t := range all {
		if t.Dropped() {
			err = errors.Join(err, d.Erase(t.Path))
		}
	}
	return err
}

// Erase deletes one of cordon's own directories for good.
func (d Dir) Erase(path string) error {
	rel, err := d.owned(path)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return err
	}
	defer root.Close()
	return erase(root, rel)
}

// erase deletes a directory although a worker may have left some in it that forbid their
// own removal.
func erase(root *os.Root, rel string) error {
	err := root.RemoveAll(rel)
	if err == nil {
		return nil
	}
	if lerr := lift(root, rel); lerr != nil {
		return errors.Join(err, lerr)
	}
	return root.RemoveAll(rel)
}

// Purge deletes all state of the repository. It is renamed first, so that no other
// cordon finds half of it.
func (d Dir) Purge() error {
	parent, err := os.OpenRoot(filepath.Dir(d.path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	gone := filepath.Base(d.path) + ".purged"
	if err := parent.Rename(filepath.Base(d.path), gone); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return erase(parent, gone)
}

// owned turns a path into a name of exactly two components below one of parts.
func (d Dir) owned(path string) (string, error) {
	rel, err := filepath.Rel(d.path, path)
	if err != nil {
		return "", err
	}
	part, name, ok := strings.Cut(rel, string(filepath.Separator))
	if !ok || name == "" || name == "." || name == ".." || strings.ContainsRune(name, filepath.Separator) || !contains(parts, part) {
		return "", fmt.Errorf("%s is not cordon's to remove", path)
	}
	return rel, nil
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// Trashed is one removed directory.
type Trashed struct {
	Name string
	Path string
	When time.Time
}

// Trashed lists what was removed and is still kept.
func (d Dir) Trashed() ([]Trashed, error) {
	entries, err := os.ReadDir(filepath.Join(d.path, "trash"))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	var all []Trashed
	for _, e := range entries {
		var ns int64
		if _, err := fmt.Sscanf(e.Name(), "%d-", &ns); err != nil {
			continue
		}
		all = append(all, Trashed{Name: e.Name(), Path: filepath.Join(d.path, "trash", e.Name()), When: time.Unix(0, ns)})
	}
	return all, nil
}
