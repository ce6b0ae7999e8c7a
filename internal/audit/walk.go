package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
	"cordon/internal/overlay"
	"cordon/internal/plainfile"
)

// Bounds of what cordon reads of a worker's tree. Beyond them the answer is a
// violation, not a guess.
const (
	maxDepth   = 400
	maxEntries = 5_000_000
	maxNew     = 1_000_000 // names beside those of the base
	maxText    = 256 << 20 // bytes of all paths of a tree
	maxFile    = 2 << 30
	maxTotal   = 32 << 30
)

// node is one thing found in a worker's tree.
type node struct {
	path   string
	mode   uint32 // st_mode
	size   int64
	nlink  uint64
	target string // of a symbolic link
	err    error  // it could not be looked at
}

func (n node) kind() uint32   { return n.mode & unix.S_IFMT }
func (n node) isLink() bool   { return n.kind() == unix.S_IFLNK }
func (n node) isFile() bool   { return n.kind() == unix.S_IFREG }
func (n node) special() bool  { return !n.isLink() && !n.isFile() }
func (n node) setid() bool    { return n.mode&(unix.S_ISUID|unix.S_ISGID|unix.S_ISVTX) != 0 }
func (n node) executes() bool { return n.mode&0o100 != 0 }

// survey is everything below an open directory, in order of path. Directories are
// apart: git does not know them.
type survey struct {
	seen    int // names
	most    int // how many there may be
	text    int // bytes of their paths
	live    bool
	top     string
	layer   bool // it is the upper layer of an overlay
	nodes   []node
	folders map[string]*folder // "" is the top
	blind   map[string]bool    // what could not be looked at
	locked  []lock
	lockTop func()
	ahead   chan<- string // is told of every directory; may be nil
}

// folder is a directory as it was read.
type folder struct {
	names []string // in order
	gone  []string // of a layer: names that are not to be seen
	anew  bool     // of a layer: nothing below it shows
}

// lock is a directory of a layer that was locked, and is for the time being not.
type lock struct {
	path string
	mode uint32
}

// walk reads a tree from its top. What lies in the top's own .git is not part
// of the tree and never lands.
func walk(top string, layer, live bool, most int, ahead chan<- string) (*survey, error) {
	s := &survey{top: top, layer: layer, live: live, most: most, ahead: ahead, folders: map[string]*folder{}, blind: map[string]bool{}, lockTop: func() {}}
	if layer && !live {
		s.lockTop = unlockTop(top)
	}
	dir, err := openDirectory(top)
	if err == nil {
		err = s.directory(dir, "", 0)
	}
	if err != nil {
		s.lockAgain()
		return nil, err
	}
	sort.Slice(s.nodes, func(i, j int) bool { return s.nodes[i].path < s.nodes[j].path })
	return s, nil
}

// lockAgain leaves the directories of a layer as they were.
func (s *survey) lockAgain() {
	for _, l := range slices.Backward(s.locked) {
		dir, err := openBelow(s.top, dirOf(l.path))
		if err != nil {
			continue // somebody took it away meanwhile
		}
		setMode(dir, path.Base(l.path), l.mode)
		dir.Close()
	}
	s.lockTop()
}

// directory reads one directory and closes it.
func (s *survey) directory(dir *os.File, prefix string, depth int) error {
	defer dir.Close()
	if depth > maxDepth {
		s.add(node{path: prefix, mode: unix.S_IFDIR, err: fmt.Errorf("more than %d directories deep", maxDepth)})
		return nil
	}
	f := &folder{}
	if s.layer {
		var err error
		if f.anew, err = overlayMarks(int(dir.Fd())); err != nil {
			s.add(node{path: prefix, mode: unix.S_IFDIR, err: err})
			return nil
		}
	}
	names, err := plainfile.Names(dir, max(s.most-s.seen, 0)+1) // .git is not counted
	if errors.Is(err, plainfile.ErrMany) {
		return fmt.Errorf("the tree holds more than %d names", s.most)
	}
	if err != nil {
		s.add(node{path: prefix, mode: unix.S_IFDIR, err: err})
	}
	slices.Sort(names)
	s.folders[prefix] = f
	if s.ahead != nil {
		s.ahead <- prefix
	}
	for _, name := range names {
		if prefix == "" && name == ".git" {
			s.repository(dir)
			continue
		}
		if s.seen++; s.seen > s.most {
			return fmt.Errorf("the tree holds more than %d names", s.most)
		}
		if s.text += len(prefix) + len(name) + 1; s.text > maxText {
			return fmt.Errorf("the paths of the tree are longer than %d MiB together", maxText>>20)
		}
		if err := s.entry(dir, f, path.Join(prefix, name), name, depth); err != nil {
			return err
		}
	}
	return nil
}

// repository looks at the .git at the top. That of a plain tree is the worker's
// own. Over a layer's another directory was mounted, so that nothing but a place
// for that can be in the layer.
func (s *survey) repository(dir *os.File) {
	if !s.layer {
		return
	}
	fd, err := openat(dir, ".git", unix.O_RDONLY|unix.O_DIRECTORY)
	if err == nil {
		place := os.NewFile(uintptr(fd), ".git")
		defer place.Close()
		var names []string
		if names, err = place.Readdirnames(1); len(names) == 0 && errors.Is(err, io.EOF) {
			return
		}
	}
	s.add(node{path: ".git", err: errors.New("a file exists where the repository was mounted")})
}

func (s *survey) entry(dir *os.File, in *folder, full, name string, depth int) error {
	var st unix.Stat_t
	if err := fstatat(dir, name, &st); err != nil {
		in.names = append(in.names, name)
		s.add(node{path: full, err: err})
		return nil
	}
	if s.layer && overlay.Removed(&st) {
		in.gone = append(in.gone, name)
		return nil
	}
	in.names = append(in.names, name)
	n := node{path: full, mode: uint32(st.Mode), size: st.Size, nlink: uint64(st.Nlink)}
	switch n.kind() {
	case unix.S_IFDIR:
		return s.descend(dir, full, name, n.mode, depth)
	case unix.S_IFLNK:
		n.target, n.err = readlinkat(dir, name, st.Size)
	}
	s.add(n)
	return nil
}

func (s *survey) descend(dir *os.File, full, name string, mode uint32, depth int) error {
	if s.layer && !s.live && unlock(dir, name, mode, 0o500) {
		s.locked = append(s.locked, lock{full, mode})
	}
	fd, err := openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		s.add(node{path: full, mode: unix.S_IFDIR, err: err})
		return nil
	}
	return s.directory(os.NewFile(uintptr(fd), full), full, depth+1)
}

func (s *survey) add(n node) {
	s.nodes = append(s.nodes, n)
	if n.err != nil {
		s.blind[n.path] = true
	}
}

// Every system call below is relative to an open directory and follows no link.

func openat(dir *os.File, name string, flags int) (int, error) {
	if flags&unix.O_DIRECTORY == 0 {
		flags |= unix.O_NONBLOCK // a pipe
	}
	for {
		fd, err := unix.Openat(int(dir.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func fstatat(dir *os.File, name string, st *unix.Stat_t) error {
	for {
		err := unix.Fstatat(int(dir.Fd()), name, st, unix.AT_SYMLINK_NOFOLLOW)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func readlinkat(dir *os.File, name string, size int64) (string, error) {
	buf := make([]byte, max(size, 0)+unix.PathMax)
	n, err := unix.Readlinkat(int(dir.Fd()), name, buf)
	if err != nil {
		return "", err
	}
	if n == len(buf) {
		return "", errors.New("the link's target is too long")
	}
	return string(buf[:n]), nil
}

// openBelow opens a directory below top, "" for itself, following no link on the
// way.
func openBelow(top, full string) (*os.File, error) {
	dir, err := openDirectory(top)
	if err != nil || full == "" {
		return dir, err
	}
	if fd, err := openAtOnce(dir, full); err == nil {
		dir.Close()
		return os.NewFile(uintptr(fd), full), nil
	}
	for _, name := range splitPath(full) {
		fd, err := openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
		dir.Close()
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: full, Err: err}
		}
		dir = os.NewFile(uintptr(fd), full)
	}
	return dir, nil
}

// openFile opens a regular file below top, following no link on the way. In a
// worker's own place, what it has locked is unlocked for the time that it takes.
func openFile(top, full string, own bool) (*os.File, error) {
	names := splitPath(full)
	if slices.Contains(names, "..") {
		return nil, &fs.PathError{Op: "open", Path: full, Err: errors.New("not a path below the top")}
	}
	if own {
		defer unlockTop(top)()
	}
	dir, err := openDirectory(top)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	f, err := openOnward(dir, names, own)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: full, Err: err}
	}
	return plainfile.Check(f, nil)
}

// openOnward opens a file by the names that lead to it from a directory.
func openOnward(dir *os.File, names []string, own bool) (*os.File, error) {
	flags, need := 0, uint32(0o400)
	if len(names) > 1 {
		flags, need = unix.O_DIRECTORY, 0o500
	}
	var st unix.Stat_t
	if err := fstatat(dir, names[0], &st); err != nil {
		return nil, err
	}
	if kind := kindOfStat(&st); !own || kind != unix.S_IFDIR && kind != unix.S_IFREG {
		need = 0 // opening tells
	}
	f, restore, err := openOwn(dir, names[0], &st, flags, need)
	if err != nil || len(names) == 1 {
		if err == nil {
			restore()
		}
		return f, err
	}
	defer restore()
	defer f.Close()
	return openOnward(f, names[1:], own)
}

// Content opens what a finding says a path holds now: the file, or the target of
// a link. The size is that of the content.
func Content(top string, f Finding) (io.ReadCloser, int64, error) {
	if f.New.Mode == git.Symlink {
		return io.NopCloser(strings.NewReader(string(f.Target))), int64(len(f.Target)), nil
	}
	file, err := openFile(top, string(f.Path), true)
	if err != nil {
		return nil, 0, err
	}
	fi, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, fi.Size(), nil
}
