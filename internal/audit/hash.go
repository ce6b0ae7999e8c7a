package audit

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"cordon/internal/git"
)

// batch is a part of a directory: its files are opened from it, not from the top.
type batch struct {
	dir   string
	nodes []int
}

// maxBatch is small enough that a large directory is shared by all processors.
const maxBatch = 64

// hash fills entries for every node of some whose content matters.
func (c *collector) hash(ctx context.Context, of func(i int) bool) error {
	list := c.batches(of)
	if len(list) == 0 {
		return ctx.Err()
	}
	next := make(chan batch)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(list)) {
		wg.Go(func() {
			h := hasher{format: c.Format, layer: c.Layer, live: c.Live, buf: make([]byte, 1<<17)}
			if top, err := openDirectory(c.Top); err == nil { // else every batch says so
				h.top = top
				defer top.Close()
			}
			for b := range next {
				c.hashBatch(ctx, &h, b)
			}
		})
	}
	for _, b := range list {
		next <- b
	}
	close(next)
	wg.Wait()
	return ctx.Err()
}

// batches fills the entries that need no reading and lists the others.
func (c *collector) batches(of func(i int) bool) []batch {
	var list []batch
	open := map[string]int{} // directory → its last batch
	for i, n := range c.survey.nodes {
		if !of(i) || !c.entry(i, n) {
			continue
		}
		d := dirOf(n.path)
		at, ok := open[d]
		if !ok || len(list[at].nodes) == maxBatch {
			at = len(list)
			list, open[d] = append(list, batch{dir: d}), at
		}
		list[at].nodes = append(list[at].nodes, i)
	}
	return list
}

// entry fills in what git would hold for a node, and reports whether its content
// has to be read for that.
func (c *collector) entry(i int, n node) bool {
	e := &c.entries[i]
	switch {
	case n.err != nil:
		c.errs[i] = n.err
		return false
	case n.isLink():
		*e = git.Entry{Mode: git.Symlink, OID: c.Format.Blob([]byte(n.target))}
		return false
	case n.special():
		return false
	}
	e.Mode = git.Regular
	if n.executes() {
		e.Mode = git.Executable
	}
	_, seeded := c.seeded[n.path]
	return n.size <= maxFile && (!c.ignored[n.path] || seeded)
}

func (c *collector) hashBatch(ctx context.Context, h *hasher, b batch) {
	dir, err := h.open(c.Top, b.dir)
	if err == nil {
		defer dir.Close()
	}
	for _, i := range b.nodes {
		switch {
		case err != nil:
			c.errs[i] = err
		case ctx.Err() == nil:
			c.entries[i].OID, c.errs[i] = h.file(dir, c.survey.nodes[i])
		}
	}
}

// open opens a directory of the tree.
func (h *hasher) open(top, dir string) (*os.File, error) {
	if h.top != nil && dir != "" {
		if fd, err := openAtOnce(h.top, dir); err == nil {
			return os.NewFile(uintptr(fd), dir), nil
		}
	}
	return openBelow(top, dir)
}

// hasher reads files, one after the other.
type hasher struct {
	top    *os.File // of the tree
	format git.Format
	layer  bool
	live   bool
	buf    []byte
}

var errChanged = errors.New("it changed while it was read")

// file is the name that git would give to a file's content.
func (h *hasher) file(dir *os.File, n node) (git.OID, error) {
	name := path.Base(n.path)
	if h.layer && !h.live && unlock(dir, name, n.mode, 0o400) {
		defer setMode(dir, name, n.mode)
	}
	fd, err := openat(dir, name, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return "", err
	}
	if kindOfStat(&st) != unix.S_IFREG {
		return "", errChanged
	}
	if h.layer {
		if _, err := overlayMarks(fd); err != nil {
			return "", err
		}
	}
	return h.content(fd, st.Size)
}

// hashFile is the name that git would give to what a file of the operator's holds.
func hashFile(top, full string, format git.Format) (git.OID, error) {
	f, err := openFile(top, full, false)
	if err != nil {
		return "", err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return "", err
	}
	h := hasher{format: format, buf: make([]byte, 1<<17)}
	return h.content(int(f.Fd()), fi.Size())
}

// content hashes what an open file holds, which must be as much as it said.
func (h *hasher) content(fd int, size int64) (git.OID, error) {
	sum := h.format.BlobHash(size)
	for left := size; ; {
		n, err := unix.Read(fd, h.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return "", fmt.Errorf("read: %w", err)
		case n == 0 && left > 0 || int64(n) > left:
			return "", errChanged
		}
		left -= int64(n)
		sum.Write(h.buf[:n])
		if left == 0 && n < len(h.buf) { // nothing comes after it
			return git.OID(hex.EncodeToString(sum.Sum(nil))), nil
		}
	}
}
