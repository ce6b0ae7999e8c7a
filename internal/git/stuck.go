package git

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"cordon/internal/gitfile"
	"cordon/internal/plainfile"
)

// BlockedError names a pipe or a device in a checkout or a repository that git opened and waits for. For
// example, nobody writes to the pipe.
type BlockedError struct{ Path string }

func (e *BlockedError) Error() string {
	return fmt.Sprintf("%s is a pipe or a device, so git would wait for it forever: remove it", e.Path)
}

// stuckAfter is the interval between two looks at a git process. A process that ends
// sooner costs no search, and a later look finds a file that is created later.
const stuckAfter = time.Second

// watcher ends the context of a git process that waits for a pipe or a device.
type watcher struct {
	stop    func()       // ends the watching
	started atomic.Int32 // the process that works, which leads its process group; 0: none does
}

func watch(ctx context.Context, c call) (context.Context, *watcher) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watcher{stop: func() { cancel(nil) }}
	go func() {
		before := ""
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(stuckAfter):
			}
			group := int(w.started.Load())
			if group == 0 {
				before = ""
				continue
			}
			now, asleep := activity(group)
			if asleep && now == before { // a slow process is not a stuck one
				if at := c.blocking(ctx); at != "" {
					cancel(&BlockedError{at})
				}
			}
			before = now
		}
	}()
	return ctx, w
}

// opened are the files that git opens in every directory of a checkout.
var opened = []string{".gitignore", ".gitattributes", ".gitmodules", ".mailmap", ".git"}

// blocking finds a pipe or a device where a call opens files. It returns "" if there is
// none.
func (c call) blocking(ctx context.Context) string {
	every := func(string, fs.DirEntry) bool { return true }
	for _, dir := range c.repositories() {
		if at := plainfile.PipeBelow(ctx, dir, every); at != "" {
			return at
		}
	}
	top := c.option("--work-tree=")
	if top == "" {
		return ""
	}
	return plainfile.PipeBelow(ctx, top, func(path string, d fs.DirEntry) bool {
		return slices.Contains(opened, d.Name()) || strings.Contains(path[len(top):], "/.git/") && d.Type()&fs.ModeSymlink == 0
	})
}

// option is the value of an option about the repository; "" for none.
func (c call) option(name string) string {
	for _, arg := range c.repo {
		if value, ok := strings.CutPrefix(arg, name); ok {
			return value
		}
	}
	return ""
}

// maxBorrowed is how many repositories git follows that borrow objects from each other.
const maxBorrowed = 5

// repositories are the directories of git's own that a call reads: the git directory, the
// one that it shares, and the directories of objects that it borrows from.
func (c call) repositories() []string {
	dir := c.option("--git-dir=")
	if dir == "" {
		around, ok := gitfile.Around(c.dir)
		if !ok {
			return nil
		}
		dir = around.GitDir
	}
	p := gitfile.PlaceOf("", dir)
	list := []string{p.GitDir}
	if p.Common != p.GitDir {
		list = append(list, p.Common)
	}
	objects := filepath.Join(p.Common, "objects")
	for range maxBorrowed {
		if objects = gitfile.PathIn(filepath.Join(objects, "info", "alternates")); objects == "" { // the lists of cordon's own hold one path
			break
		}
		list = append(list, objects)
	}
	return list
}
