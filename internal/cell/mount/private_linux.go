package mount

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
)

// A kept layer is found again at the next launch as the worker left it. Nothing is
// written into one but by the kernel, and nothing here follows a link in one.

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
func (b *builder) makeParts(dir string, op plan.Op) error {
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

func makeIn(root *os.Root, op plan.Op) error {
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
func (b *builder) layer(op plan.Op, lower int) (upper, work *os.File, err error) {
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
	mode, err := modeOfFd(lower)
	if err == nil {
		err = unix.Fchmod(int(upper.Fd()), uint32(mode))
	}
	if err != nil {
		return nil, nil, errors.Join(err, upper.Close(), work.Close())
	}
	return upper, work, nil
}

// hiding makes the directory that lies between the host's and the worker's: names
// are taken away in it, and places to mount on are made. It is new for every
// launch and not the worker's to change.
func (b *builder) hiding(op plan.Op, lower []int) (string, error) {
	if len(op.Absent)+len(op.Make)+len(op.Files) == 0 {
		return nothing, nil
	}
	if made, ok := b.ahead[op.At]; ok && op.Do == plan.Overlay {
		if h, first := <-made; first {
			return h.dir, h.err
		}
	}
	return hideIn(b.hidingName(), op, lower)
}

// hidden is a directory in which names were taken away.
type hidden struct {
	dir string
	err error
}

// manyNames is how many names to take away are worth a thread.
const manyNames = 100

// hideAhead takes away the names of a long list, which is that of the home, while the other
// parts of the view are mounted: half of the time that a view takes goes there. The names
// lie beside the view until it is mounted. done waits for what was begun.
func (b *builder) hideAhead(view []plan.Op) (done func()) {
	var waits []func()
	for _, op := range view {
		if op.Do != plan.Overlay || len(op.Absent) < manyNames {
			continue
		}
		lower, err := b.lower(hostRoot+op.From, op)
		if err != nil {
			continue // the mount says it
		}
		if b.ahead == nil {
			b.ahead = map[string]<-chan hidden{}
			before := runtime.GOMAXPROCS(2) // this program has one otherwise
			waits = append(waits, func() { runtime.GOMAXPROCS(before) })
		}
		made, dir, ended := make(chan hidden, 1), b.hidingName(), make(chan struct{})
		go func() {
			defer close(ended)
			defer close(made)
			defer closeAll(lower)
			at, err := hideIn(dir, op, lower)
			made <- hidden{at, err}
		}()
		b.ahead[op.At] = made
		waits = append(waits, func() { <-ended })
	}
	return func() {
		for _, wait := range slices.Backward(waits) {
			wait()
		}
	}
}

// hidingName is a new name for such a directory.
func (b *builder) hidingName() string {
	b.skeletons++
	return fmt.Sprintf("%s/%d", hidings, b.skeletons)
}

func hideIn(dir string, op plan.Op, lower []int) (string, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	mode, err := modeOfFd(lower[0])
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, mode); err != nil {
		return "", err
	}
	in, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer in.Close()
	at, err := in.Open(".")
	if err != nil {
		return "", err
	}
	defer at.Close()
	h := &hider{in: in, upper: int(at.Fd()), lower: lower, there: map[string]bool{}, done: map[string]bool{}, open: map[string]*os.File{}}
	defer h.close()
	for _, rel := range op.Absent {
		if err := h.absent(rel); err != nil {
			return "", fmt.Errorf("hide %s: %w", rel, err)
		}
	}
	for _, rel := range slices.Concat(op.Make, op.Files) { // with the modes of what they are in
		if _, err := h.descend(rel); err != nil {
			return "", err
		}
	}
	return dir, makeIn(in, op)
}

// hider takes names away in a directory that lies over the host's.
type hider struct {
	in    *os.Root
	upper int             // the same, and not the worker's layer
	lower []int           // of the host, topmost first
	there map[string]bool // directories of the host's that the layer has too
	done  map[string]bool
	open  map[string]*os.File
	sign  struct { // the first whiteout
		dir  int
		name string
	}
}

// descend makes the directories down to the parent of a name. It stops where the
// host has none: what is absent there is absent as a whole. It returns how far it
// came.
func (h *hider) descend(rel string) (string, error) {
	dir := filepath.Dir(rel)
	if dir == "." || h.there[dir] {
		return rel, nil
	}
	at, err := h.descend(dir)
	if err != nil || at != dir {
		return at, err
	}
	st, err := h.stat(dir)
	if err == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR || errors.Is(err, unix.ENOTDIR) {
		return "", errNothingThere
	}
	if errors.Is(err, unix.ENOENT) {
		return dir, nil
	}
	if err != nil {
		return "", err
	}
	if err := h.make(dir, st.Mode&0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	h.there[dir] = true
	return rel, nil
}

// make makes a directory of the layer with a mode. The mode is set through a
// descriptor: os.Root.Chmod needs fchmodat2, which came with Linux 6.6, or /proc,
// which a half-built view does not have.
func (h *hider) make(dir string, mode uint32) error {
	if err := h.in.Mkdir(dir, 0o700); err != nil {
		return err
	}
	fd, err := h.parent(dir)
	if err != nil {
		return err
	}
	return unix.Fchmod(fd, mode)
}

// stat looks at what the layers below show of a name: the topmost that has it
// decides, and a sign that it was removed is an answer too.
func (h *hider) stat(rel string) (st unix.Stat_t, err error) {
	for _, lower := range h.lower {
		err = unix.Fstatat(lower, rel, &st, unix.AT_SYMLINK_NOFOLLOW)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0 {
			return st, unix.ENOENT
		}
		return st, err
	}
	return st, err
}

// errNothingThere says that a way leads through something that is no directory.
var errNothingThere = errors.New("nothing can be there")

// absent makes a name of the host's not there, now and when it comes to be.
func (h *hider) absent(rel string) error {
	at, err := h.descend(rel)
	if errors.Is(err, errNothingThere) {
		return nil
	}
	if err != nil || h.done[at] {
		return err
	}
	h.done[at] = true
	return h.whiteout(at)
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
