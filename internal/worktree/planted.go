package worktree

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/gitfile"
	"cordon/internal/plainfile"
)

// Sweep disarms what a command has left in directories that it wrote in place and that
// the operator's git would obey: new repositories, bare ones included. They are moved to
// a directory of cordon's, or to a new one beside them where that is on another file
// system, and kept. What was a git directory is none there, and nothing in it is.
//
// It runs when the processes of the command have ended. Every directory is opened from
// the one above it without following a link, also where the command has locked it. A new repository that can run nothing (no
// hooks, a configuration of a few harmless keys) stays: builds clone repositories.
type Sweep struct {
	Known []string // repositories that were there before
	Aside string   // where to move to; made when it is needed

	// Obeyed says which setting of the operator's own names something that is in a
	// repository at a directory; "" for none.
	Obeyed func(top string) string

	Moved     []Moved
	Blind     []string // what could not be looked at
	MoreMoved int      // how many there are besides those listed
	MoreBlind int

	moves    int
	harmless int
	seen     int
	beside   bool // something was kept where it was found
}

// Moved is something that was disarmed, and why.
type Moved struct {
	From string
	To   string
	Why  string
}

// The bounds of one sweep.
const (
	sweepDepth   = 400
	sweepEntries = 5_000_000
	sweepListed  = 1000 // of what was moved, and of what could not be looked at

	// new repositories that run nothing themselves; the settings of the operator's are compared with each
	sweepHarmless = 1000
)

// Directory sweeps one directory.
func (s *Sweep) Directory(dir string) {
	s.enter(unix.AT_FDCWD, dir, dir, 0, false)
}

func (s *Sweep) blind(path string, err error) {
	if len(s.Blind) == sweepListed {
		s.MoreBlind++
		return
	}
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

// walk looks at one directory. One that is going to be moved itself stays a git directory.
func (s *Sweep) walk(dir *os.File, path string, depth int, leaves bool) {
	var parts []string // of a git directory
	before := len(s.Moved)
	for {
		entries, err := dir.ReadDir(batch)
		if errors.Is(err, io.EOF) {
			break
		}
		if s.seen += len(entries); s.seen > sweepEntries || depth > sweepDepth {
			err = errors.New("there are too many entries to search")
		}
		if err != nil {
			s.blind(path, err)
			break
		}
		for _, e := range entries {
			if slices.Contains(gitfile.Parts, e.Name()) {
				parts = append(parts, e.Name())
			}
			s.look(dir, e, path, depth)
		}
	}
	if leaves || !gitfile.IsRepository(parts) || slices.Contains(s.Known, path) {
		return
	}
	if why := s.runs(dir, path); why != "" {
		s.move(dir, "HEAD", path, why, before) // everything else in it may be the operator's
	}
}

// look enters one entry of a directory, and disarms it.
func (s *Sweep) look(dir *os.File, e os.DirEntry, path string, depth int) {
	at, why, before := filepath.Join(path, e.Name()), "", len(s.Moved)
	if slices.Contains(s.Known, at) {
		return
	}
	if strings.EqualFold(e.Name(), ".git") {
		why = s.armed(dir, e.Name(), path)
	}
	if e.IsDir() { // whatever becomes of a .git: another one may lie in it
		s.enter(int(dir.Fd()), e.Name(), at, depth+1, why != "")
	}
	if why != "" {
		s.move(dir, e.Name(), path, why, before)
	}
}

// armed says why a .git has to go: it is no directory, or it can run something.
func (s *Sweep) armed(dir *os.File, name, path string) string {
	sub, err := openDir(int(dir.Fd()), name)
	if err != nil {
		return couldRun
	}
	defer sub.Close()
	return s.runs(sub, path)
}

const couldRun = "it is a git repository that could run programs"

// runs says why a git directory whose files lie at top is no harmless one; "" when it is.
func (s *Sweep) runs(dir *os.File, top string) string {
	if !runsNothing(dir) {
		return couldRun
	}
	if s.harmless++; s.harmless > sweepHarmless {
		return "there are too many new repositories to look at each"
	}
	if s.Obeyed != nil {
		if setting := s.Obeyed(top); setting != "" {
			return "your git would run or obey a file of the command's in this repository (" + setting + ")"
		}
	}
	return ""
}

func (s *Sweep) enter(at int, name, path string, depth int, leaves bool) {
	dir, err := openLocked(at, name)
	if errors.Is(err, unix.ENOENT) {
		return // it is gone, or was moved aside just now, with all that was in it
	}
	if err != nil {
		s.blind(path, err)
		return
	}
	defer dir.Close()
	s.walk(dir.File, path, depth, leaves)
}

// unlocked is an open directory whose mode was changed if the command had taken away rights
// to it that git does not need.
type unlocked struct {
	*os.File
	mode lockedMode
}

// Close puts the mode back. Everything below was looked at: the way there needs the rights.
func (u unlocked) Close() {
	u.mode.restore(u.File)
	u.File.Close()
}

func openLocked(at int, name string) (unlocked, error) {
	mode := unlock(at, name, 0o500)
	f, err := openDir(at, name)
	return unlocked{f, mode}, err
}

// lockedMode is the mode that a directory had; 0 for one that was not changed.
type lockedMode uint32

const wasLocked = 1 << 31

func (m lockedMode) restore(dir *os.File) {
	if m != 0 {
		_ = unix.Fchmod(int(dir.Fd()), uint32(m)&^wasLocked) // if it can be
	}
}

// unlock gives us rights to a directory of ours. Where it cannot, the next step says why.
func unlock(at int, name string, rights uint32) lockedMode {
	var st unix.Stat_t
	err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	mode := uint32(st.Mode) & 0o7777
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || mode&rights == rights || int(st.Uid) != os.Geteuid() ||
		plainfile.ChmodAt(at, name, mode|0o700) != nil {
		return 0
	}
	return lockedMode(mode | wasLocked)
}

// move takes an entry of a directory away: to where such things are kept, or where that is
// on another file system, to a new directory beside it. Of what was moved before, only
// the part from inner on can lie in it.
func (s *Sweep) move(dir *os.File, name, path, why string, inner int) {
	defer unlock(int(dir.Fd()), ".", 0o700).restore(dir)
	unlock(int(dir.Fd()), name, 0o700) // for good: only who can write a directory can move it
	m := Moved{From: filepath.Join(path, name), Why: why}
	if err := unmake(dir, name); err != nil {
		s.blind(m.From, fmt.Errorf("git would still treat the kept copy as a repository: %w", err))
	}
	s.moves++
	target := fmt.Sprintf("%d-%s", s.moves, strings.TrimLeft(name, "."))
	err := os.MkdirAll(s.Aside, 0o700)
	if err == nil {
		m.To = filepath.Join(s.Aside, target)
		err = s.moveTo(m, dir, name, unix.AT_FDCWD, s.Aside)
	}
	if err != nil {
		beside := fmt.Sprintf("cordon-aside-%s-%s", filepath.Base(s.Aside), rand.Text()[:8])
		s.beside, m.To = true, filepath.Join(path, beside, target)
		if err = unix.Mkdirat(int(dir.Fd()), beside, 0o700); err == nil {
			err = s.moveTo(m, dir, name, int(dir.Fd()), beside)
		}
	}
	if err != nil {
		s.blind(m.From, fmt.Errorf("could not be moved aside: %w", err))
		return
	}
	for i := inner; i < len(s.Moved) && s.beside; i++ { // what was kept inside has moved with it
		if rest, ok := strings.CutPrefix(s.Moved[i].To, m.From); ok && strings.HasPrefix(rest, "/") {
			s.Moved[i].To = m.To + rest
		}
	}
	if len(s.Moved) == sweepListed {
		s.MoreMoved++
		return
	}
	s.Moved = append(s.Moved, m)
}

// moveTo moves into a directory.
func (s *Sweep) moveTo(m Moved, dir *os.File, name string, at int, into string) error {
	to, err := openDir(at, into)
	if err != nil {
		return err
	}
	defer to.Close()
	var from, there unix.Stat_t
	if err := errors.Join(unix.Fstat(int(dir.Fd()), &from), unix.Fstat(int(to.Fd()), &there)); err != nil {
		return err
	}
	if from.Dev != there.Dev {
		return unix.EXDEV
	}
	return unix.Renameat(int(dir.Fd()), name, int(to.Fd()), filepath.Base(m.To))
}

// unmake renames the HEAD of a git directory that is moved aside, so that git does not
// take the copy for a repository either.
func unmake(dir *os.File, name string) error {
	sub, err := openDir(int(dir.Fd()), name)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil // no directory
	}
	if err != nil {
		return err
	}
	defer sub.Close()
	err = unix.Renameat(int(sub.Fd()), "HEAD", int(sub.Fd()), "HEAD.disarmed-"+rand.Text()[:8]) // a name that nobody could have taken
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}
