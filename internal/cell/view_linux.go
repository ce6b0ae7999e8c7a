package cell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// The view is built in a tmpfs that becomes the root: the host's own root lies at
// hostRoot until it is done, and is detached then.
const (
	hostRoot = "/host"
	newRoot  = "/new"
	memory   = "/memory" // the layers, when they are not kept
	nothing  = "/nothing"

	skeletons = "/skeletons"
)

// builder carries out the operations of a view.
type builder struct {
	layers    string // directory of the layers, as seen while building
	skeletons int
}

// buildView makes the cell's file system and enters it. When it returns, nothing
// of the host's is reachable but what the operations show. It returns a descriptor
// of the file system that holds the layers which are not kept.
func buildView(s Spec) (int, error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return -1, &layerError{Namespaces, fmt.Errorf("make mounts private: %w", err)}
	}
	if err := enterBase(s.Limits.Disk); err != nil {
		return -1, &layerError{Namespaces, err}
	}
	base, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	return base, buildOps(s.View, s.Keep)
}

func buildOps(ops []Op, layers string) error {
	b := &builder{layers: memory}
	if layers != "" {
		b.layers = hostRoot + layers
	}
	for _, op := range ops {
		if err := b.do(op); err != nil {
			return fmt.Errorf("%s at %s: %w", op.Do, op.At, err)
		}
	}
	for _, op := range ops {
		if op.Do == DevFS {
			if err := seal(newRoot+op.At, unix.MOUNT_ATTR_RDONLY, 0); err != nil {
				return fmt.Errorf("seal %s: %w", op.At, err)
			}
		}
	}
	return leaveBase()
}

// baseRoom is what the view itself needs: mount points and names that are hidden.
const baseRoom = 16 << 20

// enterBase makes an empty root with the host's below it.
func enterBase(room int64) error {
	const at = "/proc" // any directory that every system has: what it shows is still seen below hostRoot
	options := "mode=0755"
	if room > 0 {
		options += fmt.Sprintf(",size=%d", room+baseRoom)
	}
	if err := unix.Mount("cordon", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount a tmpfs: %w", err)
	}
	for _, dir := range []string{hostRoot, newRoot, memory, nothing, skeletons} {
		if err := os.Mkdir(at+dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(at+"/file", nil, 0); err != nil {
		return err
	}
	if err := unix.PivotRoot(at, at+hostRoot); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	return os.Chdir("/")
}

// leaveBase makes the finished view the root and lets the host's go.
func leaveBase() error {
	if err := os.Chdir(newRoot); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let the host's root go: %w", err)
	}
	return os.Chdir("/")
}

func (b *builder) do(op Op) error {
	at := newRoot + op.At
	switch op.Do {
	case Overlay:
		return b.overlay(op, at)
	case BindOver:
		return bind(hostRoot+op.From, at, op.Write)
	case Tmpfs:
		return b.tmpfs(op, at)
	case Private:
		return b.private(op, at)
	case Mask:
		return b.mask(op, at)
	case ProcFS:
		return procfs(at)
	case SysFS:
		return sysfs(at)
	case DevFS:
		return devfs(at)
	case Skeleton:
		return b.skeleton(op, at)
	}
	return fmt.Errorf("unknown operation %q", op.Do)
}

// overlay shows a directory of the host.
func (b *builder) overlay(op Op, at string) error {
	err := b.overlayOf(hostRoot+op.From, op, at)
	if err != nil && op.Bare && op.Layer == "" {
		// Some file systems cannot be a layer of an overlay.
		return bind(hostRoot+op.From, at, false)
	}
	return err
}

// overlayOf mounts a directory with a private layer above it, or with none and
// read-only.
func (b *builder) overlayOf(below string, op Op, at string) error {
	lower, err := unix.Open(below, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer unix.Close(lower)
	// By descriptor: a path may hold what mount options take for a separator.
	options := "userxattr,index=off,xino=off,lowerdir="
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV)
	if op.Layer == "" {
		options += nothing + ":" + descriptor(lower)
		flags |= unix.MS_RDONLY
	} else {
		upper, work, err := b.layer(op, below)
		if err != nil {
			return err
		}
		defer unix.Close(upper)
		defer unix.Close(work)
		options += fmt.Sprintf("%s,upperdir=%s,workdir=%s", descriptor(lower), descriptor(upper), descriptor(work))
	}
	if err := unix.Mount("overlay", at, "overlay", flags, options); err != nil {
		return &layerError{CopyView, fmt.Errorf("mount: %w", err)}
	}
	return nil
}

func descriptor(fd int) string { return hostRoot + "/proc/self/fd/" + strconv.Itoa(fd) }

// layer prepares the directories of a private layer.
func (b *builder) layer(op Op, lower string) (upper, work int, err error) {
	dir := filepath.Join(b.layers, op.Layer)
	for _, d := range []string{dir, dir + "/upper", dir + "/work"} {
		if err := os.Mkdir(d, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return 0, 0, err
		}
	}
	if err := likeBelow(dir+"/upper", lower); err != nil {
		return 0, 0, err
	}
	const open = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC | unix.O_NOFOLLOW
	if upper, err = unix.Open(dir+"/upper", open, 0); err != nil {
		return 0, 0, err
	}
	h := hider{dir + "/upper", lower, upper, map[string]bool{}, map[string]bool{}}
	err = h.take(op)
	if err == nil {
		work, err = unix.Open(dir+"/work", open, 0)
	}
	if err != nil {
		unix.Close(upper)
		return 0, 0, err
	}
	return upper, work, nil
}

// take does what an operation wants of the layer.
func (h hider) take(op Op) error {
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
	return makeDirs(h.upper, op.Make)
}

// likeBelow gives a directory of a layer the mode of the one that it covers.
func likeBelow(dir, lower string) error {
	fi, err := os.Lstat(lower)
	if err != nil {
		return err
	}
	return os.Chmod(dir, fi.Mode().Perm())
}

// hider takes names out of a layer.
type hider struct {
	upper, lower string
	dir          int             // upper
	there        map[string]bool // directories of the host's that the layer has too
	done         map[string]bool
}

// descend makes the directories of a layer down to the parent of a name. It stops
// where the host has none: what is absent there is absent as a whole. It returns
// how far it came.
func (h hider) descend(rel string) (string, error) {
	dir := filepath.Dir(rel)
	if dir == "." || h.there[dir] {
		return rel, nil
	}
	at, err := h.descend(dir)
	if err != nil || at != dir {
		return at, err
	}
	fi, err := os.Lstat(filepath.Join(h.lower, dir))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !fi.IsDir() {
		return dir, nil
	}
	if err != nil {
		return "", err
	}
	place := filepath.Join(h.upper, dir)
	err = os.Mkdir(place, 0o700)
	if err == nil {
		err = os.Chmod(place, fi.Mode().Perm())
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	h.there[dir] = true
	return rel, nil
}

// absent makes a name of the host's not there, now and when it comes to be. What
// the worker has made in its place stays.
func (h hider) absent(rel string) error {
	at, err := h.descend(rel)
	if err != nil || h.done[at] {
		return err
	}
	h.done[at] = true
	err = unix.Mknodat(h.dir, at, unix.S_IFCHR, 0) // the kernel's sign for "removed"
	if errors.Is(err, unix.ENOTDIR) {
		return nil // the worker has put a file where the way led
	}
	if !errors.Is(err, unix.EEXIST) {
		return err
	}
	place := filepath.Join(h.upper, at)
	fi, err := os.Lstat(place)
	if err != nil || !fi.IsDir() {
		return err
	}
	return opaque(place)
}

// empty makes a directory of the host's seen as an empty one.
func (h hider) empty(rel string) error {
	at := filepath.Join(h.upper, rel)
	if _, err := h.descend(rel); err != nil {
		return err
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	return opaque(at)
}

func opaque(dir string) error { return unix.Lsetxattr(dir, "user.overlay.opaque", []byte("y"), 0) }

// bind shows a part of the host, with what is mounted below it: the kernel
// refuses to uncover what that hides. It is never a way to a set-user-id program
// or a device.
func bind(from, at string, write bool) error {
	const flags = unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_SYMLINK_NOFOLLOW | unix.AT_RECURSIVE
	fd, err := unix.OpenTree(unix.AT_FDCWD, from, flags)
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(from, hostRoot), err)
	}
	defer unix.Close(fd)
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, Propagation: unix.MS_PRIVATE}
	if !write {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		return fmt.Errorf("mount_setattr: %w", err)
	}
	return unix.MoveMount(fd, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// seal changes what a mount allows.
func seal(at string, set, clear uint64) error {
	return unix.MountSetattr(unix.AT_FDCWD, at, unix.AT_SYMLINK_NOFOLLOW, &unix.MountAttr{Attr_set: set, Attr_clr: clear})
}

func (b *builder) tmpfs(op Op, at string) error {
	options := fmt.Sprintf("mode=%04o", op.Mode)
	if op.Size > 0 {
		options += fmt.Sprintf(",size=%d", op.Size)
	}
	if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return err
	}
	return makeParts(at, op)
}

// makeParts makes what an operation has to have in it.
func makeParts(at string, op Op) error {
	if err := makeDirs(at, op.Make); err != nil {
		return err
	}
	for _, name := range op.Files {
		if err := os.WriteFile(filepath.Join(at, name), nil, 0o600); err != nil {
			return err
		}
	}
	for _, l := range op.Links {
		if err := os.Symlink(l.To, filepath.Join(at, l.Name)); err != nil {
			return err
		}
	}
	return nil
}

// skeleton is a directory of the host's that is taken apart: its entries are
// mounted in it one by one.
func (b *builder) skeleton(op Op, at string) error {
	b.skeletons++
	dir := fmt.Sprintf("%s/%d", skeletons, b.skeletons)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := makeParts(dir, op); err != nil {
		return err
	}
	if op.From != "" {
		if err := likeBelow(dir, hostRoot+op.From); err != nil {
			return err
		}
	}
	if op.Layer == "" {
		return bind(dir, at, false)
	}
	return b.overlayOf(dir, op, at)
}

func makeDirs(at string, names []string) error {
	for _, rel := range names {
		if err := os.MkdirAll(filepath.Join(at, rel), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// private is a directory of the layers, or a tmpfs when there are none.
func (b *builder) private(op Op, at string) error {
	if b.layers == memory {
		return b.tmpfs(op, at)
	}
	dir := filepath.Join(b.layers, op.Layer)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := unix.Chmod(dir, op.Mode); err != nil {
		return err
	}
	if err := makeDirs(dir, op.Make); err != nil {
		return err
	}
	return bind(dir, at, true)
}

// mask puts something that cannot be read over a path of the host.
func (b *builder) mask(op Op, at string) error {
	if op.File {
		return bind("/file", at, false)
	}
	mode := uint32(0)
	if len(op.Make) > 0 {
		mode = 0o555
	}
	options := "mode=0755,size=64k"
	if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, options); err != nil {
		return err
	}
	if err := makeDirs(at, op.Make); err != nil {
		return err
	}
	if err := unix.Chmod(at, mode); err != nil {
		return err
	}
	return seal(at, unix.MOUNT_ATTR_RDONLY, 0)
}
