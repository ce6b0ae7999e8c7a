package cell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A kept layer is found again at the next launch as the worker left it. Nothing
// here follows a link in one: everything goes through os.Root or a descriptor.

// layerDir makes a directory of the layers.
func (b *builder) layerDir(name string, mode uint32) error {
	at, err := os.OpenRoot(b.layers) // cordon's own, which no cell sees
	if err != nil {
		return err
	}
	defer at.Close()
	if err := at.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	dir, err := at.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Fchmod(int(dir.Fd()), mode)
}

// makeParts makes what an operation has to have in it.
func (b *builder) makeParts(dir string, op Op) error {
	if len(op.Make)+len(op.Files)+len(op.Links) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return makeIn(root, op)
}

func makeIn(root *os.Root, op Op) error {
	for _, rel := range op.Make {
		if err := root.MkdirAll(rel, 0o755); err != nil {
			return err
		}
	}
	for _, rel := range op.Files {
		if err := root.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
			return err
		}
		f, err := root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
		if err != nil {
			return err
		}
		f.Close()
	}
	for _, l := range op.Links {
		if err := root.Symlink(l.To, l.Name); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// layer prepares the directories of an overlay's private layer.
func (b *builder) layer(op Op, lower int) (upper, work *os.File, err error) {
	if err := b.layerDir(op.Layer, 0o700); err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(filepath.Join(b.layers, op.Layer))
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	for _, name := range []string{"upper", "work"} {
		if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, nil, err
		}
	}
	if upper, err = root.OpenFile("upper", os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0); err != nil {
		return nil, nil, err
	}
	if work, err = root.OpenFile("work", os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0); err != nil {
		return nil, nil, errors.Join(err, upper.Close())
	}
	if err := prepareUpper(root, upper, lower, op); err != nil {
		return nil, nil, errors.Join(err, upper.Close(), work.Close())
	}
	return upper, work, nil
}

// prepareUpper gives an upper layer the mode of what it covers, and takes names
// away from it.
func prepareUpper(root *os.Root, upper *os.File, lower int, op Op) error {
	mode, err := modeOfFd(lower)
	if err != nil {
		return err
	}
	if err := unix.Fchmod(int(upper.Fd()), uint32(mode)); err != nil {
		return err
	}
	in, err := root.OpenRoot("upper")
	if err != nil {
		return err
	}
	defer in.Close()
	h := &hider{in: in, upper: int(upper.Fd()), lower: lower, there: map[string]bool{}, done: map[string]bool{}, open: map[string]*os.File{}}
	defer h.close()
	for _, rel := range op.Absent {
		if err := h.absent(rel); err != nil {
			return fmt.Errorf("hide %s: %w", rel, err)
		}
	}
	for _, rel := range op.Empty {
		if err := h.empty(rel); err != nil {
			return fmt.Errorf("hide %s: %w", rel, err)
		}
	}
	return makeIn(in, op)
}

// hider takes names out of a layer.
type hider struct {
	in    *os.Root
	upper int // the same
	lower int
	there map[string]bool // directories of the host's that the layer has too
	done  map[string]bool
	open  map[string]*os.File
	sign  struct { // the first whiteout
		dir  int
		name string
	}
}

// descend makes the directories of a layer down to the parent of a name. It stops
// where the host has none, or where the worker has something else: what is absent
// there is absent as a whole. It returns how far it came.
func (h *hider) descend(rel string) (string, error) {
	dir := filepath.Dir(rel)
	if dir == "." || h.there[dir] {
		return rel, nil
	}
	at, err := h.descend(dir)
	if err != nil || at != dir {
		return at, err
	}
	var st unix.Stat_t
	err = unix.Fstatat(h.lower, dir, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return dir, nil
	}
	if err != nil {
		return "", err
	}
	err = h.in.Mkdir(dir, 0o700)
	if err == nil {
		err = h.in.Chmod(dir, os.FileMode(st.Mode&0o777))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if fi, err := h.in.Lstat(dir); err != nil || !fi.IsDir() {
		return dir, err
	}
	h.there[dir] = true
	return rel, nil
}

// absent makes a name of the host's not there, now and when it comes to be. What
// the worker has made in its place stays.
func (h *hider) absent(rel string) error {
	at, err := h.descend(rel)
	if err != nil || h.done[at] {
		return err
	}
	h.done[at] = true
	err = h.whiteout(at)
	if !errors.Is(err, unix.EEXIST) {
		return err
	}
	fi, err := h.in.Lstat(at)
	if err != nil || !fi.IsDir() {
		return err
	}
	return h.opaque(at)
}

// whiteout puts the kernel's sign for "removed" at a name: one for all of them,
// which is cheaper than hundreds.
func (h *hider) whiteout(rel string) error {
	dir, name := filepath.Split(rel)
	parent, err := h.parent(filepath.Clean(dir))
	if err != nil {
		return err
	}
	if h.sign.name != "" {
		return unix.Linkat(h.sign.dir, h.sign.name, parent, name, 0)
	}
	if err := unix.Mknodat(parent, name, unix.S_IFCHR, 0); err != nil {
		return err
	}
	h.sign.dir, h.sign.name = parent, name
	return nil
}

// parent is a directory of the layer, by a descriptor that is kept until the end.
func (h *hider) parent(dir string) (int, error) {
	if dir == "." {
		return h.upper, nil
	}
	if f, ok := h.open[dir]; ok {
		return int(f.Fd()), nil
	}
	f, err := h.in.OpenFile(dir, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return -1, err
	}
	h.open[dir] = f
	return int(f.Fd()), nil
}

func (h *hider) close() {
	for _, f := range h.open {
		f.Close()
	}
}

// empty makes a directory of the host's seen as an empty one.
func (h *hider) empty(rel string) error {
	if _, err := h.descend(rel); err != nil {
		return err
	}
	if err := h.in.MkdirAll(rel, 0o755); err != nil {
		return err
	}
	return h.opaque(rel)
}

func (h *hider) opaque(rel string) error {
	dir, err := h.in.OpenFile(rel, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Fsetxattr(int(dir.Fd()), "user.overlay.opaque", []byte("y"), 0)
}
