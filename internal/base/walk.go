package base

import (
	"context"
	"errors"
	"os"
	"path"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// item is one name of a directory.
type item struct {
	name string
	st   unix.Stat_t
}

func (i item) isDir() bool { return uint32(i.st.Mode)&unix.S_IFMT == unix.S_IFDIR }

// directory is one directory of a tree while it is open. The paths of a tree are
// relative to its top, which is ".".
type directory struct {
	path  string
	fd    int
	items []item // in the order of their names; gone when the visit is over
}

// walk visits every directory of a tree, several at once and in no order. It
// follows no link: the tree is read from its open top.
func walk(ctx context.Context, top string, visit func(directory) error) error {
	root, err := unix.Open(top, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: top, Err: err}
	}
	defer unix.Close(root)
	w := &walker{ctx: ctx, root: root, visit: visit, todo: []string{"."}}
	w.wake.L = &w.mu
	var all sync.WaitGroup
	for range max(2, runtime.GOMAXPROCS(0)) {
		all.Go(w.work)
	}
	all.Wait()
	return w.err
}

type walker struct {
	ctx   context.Context
	root  int
	visit func(directory) error

	mu   sync.Mutex
	wake sync.Cond // todo, busy or err changed
	todo []string
	busy int
	err  error
}

func (w *walker) work() {
	var r reader
	for {
		dir, ok := w.next()
		if !ok {
			return
		}
		below, err := w.look(dir, &r)
		w.done(below, err)
	}
}

// next waits for a directory to look at. There is none when nobody can find any.
func (w *walker) next() (string, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.todo) == 0 && w.busy > 0 && w.err == nil {
		w.wake.Wait()
	}
	if len(w.todo) == 0 || w.err != nil {
		return "", false
	}
	dir := w.todo[len(w.todo)-1]
	w.todo = w.todo[:len(w.todo)-1]
	w.busy++
	return dir, true
}

func (w *walker) done(below []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	w.todo = append(w.todo, below...)
	if w.err == nil {
		w.err = err
	}
	w.wake.Broadcast()
}

// look visits one directory and returns those in it.
func (w *walker) look(dir string, r *reader) (below []string, err error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	fd, err := unix.Openat(w.root, dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(fd)
	if err := r.read(fd); err != nil {
		return nil, &os.PathError{Op: "read", Path: dir, Err: err}
	}
	for i := range r.items {
		it := &r.items[i]
		if err := unix.Fstatat(fd, it.name, &it.st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return nil, &os.PathError{Op: "stat", Path: path.Join(dir, it.name), Err: err}
		}
		if it.isDir() {
			below = append(below, path.Join(dir, it.name))
		}
	}
	return below, w.visit(directory{path: dir, fd: fd, items: r.items})
}

// reader holds the names of one directory after the other, in the same memory: a
// tree has many.
type reader struct {
	raw   [32 << 10]byte
	names []string
	items []item
}

// read takes the names of an open directory, in order.
func (r *reader) read(fd int) error {
	r.names, r.items = r.names[:0], r.items[:0]
	for {
		n, err := unix.ReadDirent(fd, r.raw[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if n <= 0 {
			break
		}
		_, _, r.names = unix.ParseDirent(r.raw[:n], -1, r.names)
	}
	slices.Sort(r.names)
	for _, name := range r.names {
		r.items = append(r.items, item{name: name})
	}
	return nil
}
