package worktree

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/plainfile"
)

// Sweep disarms what a command has left in directories that it wrote in place and that
// the operator's git would obey: new repositories, bare ones included. They are moved to
// a directory of cordon's, or renamed where that is on another file system, and kept.
//
// It runs when the processes of the command have ended. Every directory is opened from
// the one above it without following a link. A new repository that can run nothing (no
// hooks, a configuration of a few harmless keys) stays: builds clone repositories.
type Sweep struct {
	Known   []string            // repositories that were there before
	Partial map[string][]string // Hazards.Partial of before
	Aside   string              // where to move to; made when it is needed

	// Note is told what is going to be moved.
	Note func(Moved) error

	// Obeyed says which setting of the operator's own names something that is in a
	// repository at a directory; "" for none.
	Obeyed func(top string) string

	Moved []Moved
	Blind []string // what could not be looked at
	seen  int
}

// Moved is something that was disarmed, and why.
type Moved struct {
	From string `json:"from"`
	To   string `json:"to"`
	Why  string `json:"why"`
}

// The bounds of one sweep.
const (
	sweepDepth   = 400
	sweepEntries = 5_000_000
)

// Directory sweeps one directory.
func (s *Sweep) Directory(dir string) {
	f, err := openDir(unix.AT_FDCWD, dir)
	if err == unix.ENOENT {
		return // it is gone, with all that was in it
	}
	if err != nil {
		s.blind(dir, err)
		return
	}
	s.walk(f, dir, 0)
}

func (s *Sweep) blind(path string, err error) {
	s.Blind = append(s.Blind, fmt.Sprintf("%s: %v", path, err))
}

func openDir(at int, name string) (*os.File, error) {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// batch is how many names are read from a directory at a time: a directory may hold
// millions.
const batch = 1024

// walk looks at one directory and closes it.
func (s *Sweep) walk(dir *os.File, path string, depth int) {
	defer dir.Close()
	var parts []string // of a git directory
	for {
		entries, err := dir.ReadDir(batch)
		if errors.Is(err, io.EOF) {
			break
		}
		if s.seen += len(entries); s.seen > sweepEntries || depth > sweepDepth {
			err = errors.New("there is too much to look at")
		}
		if err != nil {
			s.blind(path, err)
			break
		}
		for _, e := range entries {
			if slices.Contains(gitParts, e.Name()) {
				parts = append(parts, e.Name())
			}
			s.look(dir, e, path, depth)
		}
	}
	if !wholeGitDir(parts) || slices.Contains(s.Known, path) {
		return
	}
	if why := s.runs(dir, path); why != "" {
		s.disarmBare(dir, path, parts, why)
	}
}

// look disarms or enters one entry of a directory.
func (s *Sweep) look(dir *os.File, e os.DirEntry, path string, depth int) {
	at := filepath.Join(path, e.Name())
	switch git := strings.EqualFold(e.Name(), ".git"); {
	case !git && !e.IsDir() || slices.Contains(s.Known, at):
	case git && s.disarmed(dir, e.Name(), path):
	case e.IsDir(): // also a .git that runs nothing: another one may lie in it
		s.enter(dir, e.Name(), at, depth)
	}
}

// disarmed moves a .git away that is no directory or that can run something.
func (s *Sweep) disarmed(dir *os.File, name, path string) bool {
	why := couldRun
	if sub, err := openDir(int(dir.Fd()), name); err == nil {
		why = s.runs(sub, path)
		sub.Close()
	}
	if why != "" {
		s.move(dir, name, path, why)
	}
	return why != ""
}

const couldRun = "it is a git repository that could run programs"

// runs says why a git directory whose files lie at top is no harmless one; "" when it is.
func (s *Sweep) runs(dir *os.File, top string) string {
	if !runsNothing(dir) {
		return couldRun
	}
	if s.Obeyed != nil {
		if setting := s.Obeyed(top); setting != "" {
			return "your git would run or obey a file of the command's in this repository (" + setting + ")"
		}
	}
	return ""
}

func (s *Sweep) enter(dir *os.File, name, at string, depth int) {
	sub, err := openLocked(int(dir.Fd()), name)
	if errors.Is(err, unix.ENOENT) {
		return // it was moved aside just now
	}
	if err != nil {
		s.blind(at, err)
		return
	}
	s.walk(sub, at, depth+1)
}

// openLocked opens a directory although the command may have taken away the right to
// list it, which git does not need.
func openLocked(at int, name string) (*os.File, error) {
	f, err := openDir(at, name)
	if !errors.Is(err, unix.EACCES) {
		return f, err
	}
	var st unix.Stat_t
	if unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return nil, err
	}
	mode := uint32(st.Mode) & 0o7777
	if plainfile.ChmodAt(at, name, mode|0o700) != nil {
		return nil, err
	}
	defer plainfile.ChmodAt(at, name, mode) //nolint:errcheck // as it was, if it can be
	return openDir(at, name)
}

// Place takes one path away that should not have come to be: the rest of it below a
// directory that the command could write and not replace. A link on the way is taken
// itself: there was none.
func (s *Sweep) Place(dir, rest, why string) {
	f, err := openLocked(unix.AT_FDCWD, dir)
	if errors.Is(err, unix.ENOENT) {
		return // the directory is gone, and what would be in it
	}
	if err != nil {
		s.blind(filepath.Join(dir, rest), err)
		return
	}
	names := strings.Split(rest, "/")
	for i, name := range names {
		var st unix.Stat_t
		err := unix.Fstatat(int(f.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err != nil {
			if !errors.Is(err, unix.ENOENT) {
				s.blind(filepath.Join(dir, rest), err)
			}
			break // otherwise it did not come to be
		}
		kind := st.Mode & unix.S_IFMT
		if i == len(names)-1 || kind == unix.S_IFLNK {
			s.move(f, name, filepath.Join(dir, filepath.Join(names[:i]...)), why)
			break
		}
		if kind != unix.S_IFDIR {
			break // nothing is below it
		}
		sub, err := openLocked(int(f.Fd()), name)
		if err != nil {
			s.blind(filepath.Join(dir, filepath.Join(names[:i+1]...)), err)
			break
		}
		f.Close()
		f = sub
	}
	f.Close()
}

// disarmBare takes away what makes a git directory of a directory: its HEAD, or what has
// come to the HEAD that was there. Everything else in it may be the operator's.
func (s *Sweep) disarmBare(dir *os.File, path string, names []string, why string) {
	before := s.Partial[path]
	for _, name := range gitParts {
		if slices.Contains(names, name) && !slices.Contains(before, name) {
			s.move(dir, name, path, why)
			if name == "HEAD" {
				return
			}
		}
	}
}

// move takes an entry of a directory away: to where such things are kept, or where that is
// on another file system, to another name.
func (s *Sweep) move(dir *os.File, name, path, why string) {
	m := Moved{From: filepath.Join(path, name), Why: why}
	unmake(dir, name)
	target := fmt.Sprintf("%d-%s", len(s.Moved)+1, strings.TrimLeft(name, "."))
	err := os.MkdirAll(s.Aside, 0o700)
	if err == nil {
		var aside *os.File
		if aside, err = openDir(unix.AT_FDCWD, s.Aside); err == nil {
			m.To = filepath.Join(s.Aside, target)
			err = s.moveTo(m, dir, name, aside, target)
			aside.Close()
		}
	}
	if err != nil {
		target = fmt.Sprintf("cordon-aside-%s-%s", filepath.Base(s.Aside), target)
		m.To = filepath.Join(path, target)
		err = s.moveTo(m, dir, name, dir, target)
	}
	if err != nil {
		s.blind(m.From, fmt.Errorf("could not be moved aside: %w", err))
		return
	}
	s.Moved = append(s.Moved, m)
}

// moveTo moves, and notes it before. What cannot be noted is moved all the same.
func (s *Sweep) moveTo(m Moved, dir *os.File, name string, to *os.File, target string) error {
	var from, there unix.Stat_t
	if err := errors.Join(unix.Fstat(int(dir.Fd()), &from), unix.Fstat(int(to.Fd()), &there)); err != nil {
		return err
	}
	if from.Dev != there.Dev {
		return unix.EXDEV
	}
	if s.Note != nil {
		if err := s.Note(m); err != nil {
			s.blind(m.From, fmt.Errorf("was moved aside, and could not be noted: %w", err))
		}
	}
	return rename(dir, name, to, target)
}

// rename moves between open directories. The command may have locked what it left.
func rename(from *os.File, name string, to *os.File, target string) error {
	err := unix.Renameat(int(from.Fd()), name, int(to.Fd()), target)
	if !errors.Is(err, unix.EACCES) {
		return err
	}
	fi, serr := from.Stat()
	if serr != nil || from.Chmod(fi.Mode()|0o700) != nil {
		return err
	}
	defer from.Chmod(fi.Mode()) //nolint:errcheck // as it was, if it can be
	if sub, err := openDir(int(from.Fd()), name); err == nil {
		_ = sub.Chmod(0o700)
		sub.Close()
	}
	return unix.Renameat(int(from.Fd()), name, int(to.Fd()), target)
}

// unmake renames the HEAD of a git directory that is moved aside, so that git does not
// take the copy for a repository either.
func unmake(dir *os.File, name string) {
	sub, err := openDir(int(dir.Fd()), name)
	if err != nil {
		return
	}
	defer sub.Close()
	_ = unix.Renameat(int(sub.Fd()), "HEAD", int(sub.Fd()), "HEAD.disarmed")
}
