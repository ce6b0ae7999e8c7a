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
)

// Bounds of what cordon reads of a worker's tree. Beyond them the answer is a
// violation, not a guess.
const (
	maxDepth   = 400
	maxEntries = 5_000_000
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

// survey is everything below an open directory, in order of path, without
// directories: git does not know them. Repositories inside the tree are listed
// by the directory that is one.
type survey struct {
	nodes []node
	repos map[string]string // directory → why it is one
	blind map[string]bool   // what could not be looked at
}

// walk reads a tree from its top. What lies in the top's own .git is not part
// of the tree and never lands.
func walk(top string) (*survey, error) {
	fd, err := unix.Open(top, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: top, Err: err}
	}
	s := &survey{repos: map[string]string{}, blind: map[string]bool{}}
	if err := s.directory(os.NewFile(uintptr(fd), top), "", 0); err != nil {
		return nil, err
	}
	sort.Slice(s.nodes, func(i, j int) bool { return s.nodes[i].path < s.nodes[j].path })
	return s, nil
}

// directory reads one directory and closes it.
func (s *survey) directory(dir *os.File, prefix string, depth int) error {
	defer dir.Close()
	if depth > maxDepth {
		s.add(node{path: prefix, err: fmt.Errorf("more than %d directories deep", maxDepth)})
		return nil
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		s.add(node{path: prefix, err: err})
	}
	if why := bareRepository(names, notDirectory(dir)); why != "" {
		s.repos[path.Join(".", prefix)] = why
	}
	for _, name := range names {
		if prefix == "" && name == ".git" {
			continue
		}
		if len(s.nodes) > maxEntries {
			return fmt.Errorf("the tree holds more than %d files", maxEntries)
		}
		if err := s.entry(dir, path.Join(prefix, name), name, depth); err != nil {
			return err
		}
	}
	return nil
}

func (s *survey) entry(dir *os.File, full, name string, depth int) error {
	var st unix.Stat_t
	if err := fstatat(dir, name, &st); err != nil {
		s.add(node{path: full, err: err})
		return nil
	}
	n := node{path: full, mode: uint32(st.Mode), size: st.Size, nlink: uint64(st.Nlink)}
	if isDotGit(name) {
		s.repos[path.Dir(full)] = "it holds " + Path(name).String()
	}
	switch n.kind() {
	case unix.S_IFDIR:
		return s.descend(dir, full, name, depth)
	case unix.S_IFLNK:
		n.target, n.err = readlinkat(dir, name, st.Size)
	}
	s.add(n)
	return nil
}

func (s *survey) descend(dir *os.File, full, name string, depth int) error {
	fd, err := openat(dir, name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		s.add(node{path: full, err: err})
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
	for {
		fd, err := unix.Openat(int(dir.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
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

// openFile opens a regular file below top, following no link on the way.
func openFile(top, full string) (*os.File, error) {
	names := splitPath(full)
	if slices.Contains(names, "..") {
		return nil, &fs.PathError{Op: "open", Path: full, Err: errors.New("not a path below the top")}
	}
	fd, err := unix.Open(top, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	dir := os.NewFile(uintptr(fd), top)
	for i, name := range names {
		flags := unix.O_RDONLY | unix.O_DIRECTORY
		if i == len(names)-1 {
			flags = unix.O_RDONLY
		}
		fd, err := openat(dir, name, flags)
		dir.Close()
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: full, Err: err}
		}
		dir = os.NewFile(uintptr(fd), full)
	}
	fi, err := dir.Stat()
	if err == nil && !fi.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: full, Err: errors.New("not a regular file")}
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// Content opens what a finding says a path holds now: the file, or the target of
// a link. The size is that of the content.
func Content(top string, f Finding) (io.ReadCloser, int64, error) {
	if f.New.Mode == git.Symlink {
		return io.NopCloser(strings.NewReader(string(f.Target))), int64(len(f.Target)), nil
	}
	file, err := openFile(top, string(f.Path))
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
