package base

import (
	"context"
	"os"
	"path"
	"runtime"
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
	items []item // in no order
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
	for {
		dir, ok := w.next()
		if !ok {
			return
		}
		below, err := w.look(dir)
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
func (w *walker) look(dir string) ([]string, error) {
	if err := w.ctx.Err(); err != nil {
		return nil, err
	}
	fd, err := unix.Openat(w.root, dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	d := directory{path: dir, fd: fd, items: make([]item, len(names))}
	var below []string
	for i, name := range names {
		it := &d.items[i]
		it.name = name
		if err := unix.Fstatat(fd, name, &it.st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return nil, &os.PathError{Op: "stat", Path: path.Join(dir, name), Err: err}
		}
		if it.isDir() {
			below = append(below, path.Join(dir, name))
		}
	}
	return below, w.visit(d)
}
