package mount

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
	"cordon/internal/paths"
)

// The view is built in a tmpfs that becomes the root: the host's own root lies at
// hostRoot until it is done, and is detached then.
const (
	hostRoot = "/host"
	newRoot  = "/new"
	memory   = "/memory" // the layers, when they are not kept
	nothing  = "/nothing"

	emptyFile = "/file" // which nobody can read

	skeletons = "/skeletons"
	hidings   = "/hidings"
	asides    = "/asides"
)

// builder carries out the operations of a view. Every path is walked from a
// descriptor and without following a link: the paths of a plan are resolved
// already, so a link on the way was put there since, by a cell that writes there.
type builder struct {
	base      int
	layers    string // where the layers are, below base
	skeletons int
	sockets   []string
	ahead     map[string]<-chan hidden // see hideAhead; by where the overlay is seen
}

// Build makes the cell's file system and enters it. When it returns, nothing
// of the host's is reachable but what the operations show. It returns a descriptor
// of the file system that holds the layers which are not kept.
func Build(s plan.Spec) (int, error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return -1, &plan.LayerError{Layer: plan.Namespaces, Err: fmt.Errorf("make mounts private: %w", err)}
	}
	if err := enterBase(s.Limits.InMemory()); err != nil {
		return -1, &plan.LayerError{Layer: plan.Namespaces, Err: err}
	}
	base, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	b := &builder{base: base, layers: memory, sockets: s.Sockets}
	if s.Keep != "" {
		b.layers = hostRoot + s.Keep
	}
	defer b.hideAhead(s.View)()
	for _, op := range s.View {
		if err := b.do(op); err != nil && !(op.Bare && errors.Is(err, unix.ENOENT)) { // gone meanwhile: nothing to show
			return -1, fmt.Errorf("%s at %s: %w", op.Do, op.At, err)
		}
	}
	for _, op := range s.View {
		if op.Do == plan.DevFS {
			if err := b.seal(op.At); err != nil {
				return -1, fmt.Errorf("seal %s: %w", op.At, err)
			}
		}
	}
	return base, leaveBase()
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
	for _, dir := range []string{hostRoot, newRoot, memory, nothing, skeletons, hidings, asides} {
		if err := os.Mkdir(at+dir, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(at+emptyFile, nil, 0); err != nil {
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

// open walks to a place below the base, through mounts and not through links.
func (b *builder) open(path string) (int, error) {
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC | unix.O_NOFOLLOW,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	fd, err := unix.Openat2(b.base, strings.TrimPrefix(path, "/"), &how)
	if err != nil {
		return -1, fmt.Errorf("%s: %w", strings.TrimPrefix(path, hostRoot), err)
	}
	return fd, nil
}

// descriptor is a path to what a descriptor is of, for calls that take only paths,
// and for mount options, in which a path may hold what is taken for a separator.
func descriptor(fd int) string { return hostRoot + "/proc/self/fd/" + strconv.Itoa(fd) }

// mount mounts a new file system at a place of the view.
func (b *builder) mount(kind, at string, flags uintptr, options string) error {
	target, err := b.open(newRoot + at)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	return unix.Mount(kind, descriptor(target), kind, flags, options)
}

// seal makes what is mounted at a place of the view read-only.
func (b *builder) seal(at string) error {
	target, err := b.open(newRoot + at)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	return unix.MountSetattr(target, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// bind shows a part of the host, with what is mounted below it: the kernel
// refuses to uncover what that hides. It is never a way to a set-user-id program
// or a device.
func (b *builder) bind(from, at string, write bool) error {
	source, err := b.open(from)
	if err != nil {
		return err
	}
	defer unix.Close(source)
	tree, err := unix.OpenTree(source, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return fmt.Errorf("open_tree: %w", err)
	}
	defer unix.Close(tree)
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV, Propagation: unix.MS_PRIVATE}
	if !write {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
		return fmt.Errorf("mount_setattr: %w", err)
	}
	target, err := b.open(newRoot + at)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	return unix.MoveMount(tree, "", target, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

func (b *builder) do(op plan.Op) error {
	switch op.Do {
	case plan.Overlay:
		return b.overlay(op)
	case plan.BindOver:
		return b.bind(hostRoot+op.From, op.At, op.Write)
	case plan.Tmpfs:
		return b.tmpfs(op)
	case plan.Private:
		return b.private(op)
	case plan.Mask:
		return b.mask(op)
	case plan.ProcFS:
		return b.procfs(op.At)
	case plan.SysFS:
		return b.sysfs(op.At)
	case plan.DevFS:
		return b.devfs(op.At)
	case plan.Skeleton:
		return b.skeleton(op)
	}
	return fmt.Errorf("unknown operation %q", op.Do)
}

// overlay shows a directory of the host.
func (b *builder) overlay(op plan.Op) error {
	err := b.overlayOf(hostRoot+op.From, op)
	if err == nil || !op.Bare || op.Layer != "" || len(op.Absent)+len(op.Make)+len(op.Files) > 0 {
		return err
	}
	// Some file systems cannot be a layer of an overlay. Sockets can be reached
	// through a bind.
	if err := b.bind(hostRoot+op.From, op.At, false); err != nil {
		return err
	}
	for _, s := range b.sockets {
		if paths.Within(s, op.At) {
			if err := unlessGone(b.bind(emptyFile, s, false)); err != nil {
				return err
			}
		}
	}
	return nil
}

// overlayOf mounts a directory, or those that the operation names instead, with a
// private layer above, or with none and read-only. A sealed one is read-only too.
func (b *builder) overlayOf(below string, op plan.Op) error {
	lower, err := b.lower(below, op)
	if err != nil {
		return err
	}
	defer func() { closeAll(lower) }()
	above, err := b.hiding(op, lower)
	if err != nil {
		return err
	}
	kept, err := b.kept(op)
	if err != nil {
		return err
	}
	if kept < 0 {
		return b.stacked(op, above, lower, lower[0])
	}
	defer unix.Close(kept)
	above = descriptor(kept) + ":" + above // it lay above what is hidden, and does so again
	err = b.stacked(op, above, lower, kept)
	if !errors.Is(err, unix.ELOOP) {
		return err
	}
	aside, err := b.setAside(lower)
	if err != nil {
		return err
	}
	defer unix.Close(aside)
	return b.stacked(op, above, []int{aside}, kept)
}

// lower opens a directory, or those that the operation names instead.
func (b *builder) lower(below string, op plan.Op) ([]int, error) {
	paths := []string{below}
	if len(op.Below) > 0 {
		paths = nil
		for _, p := range op.Below {
			paths = append(paths, hostRoot+p)
		}
	}
	var lower []int
	for _, p := range paths {
		fd, err := b.open(p)
		if err != nil {
			closeAll(lower)
			return nil, err
		}
		lower = append(lower, fd)
	}
	return lower, nil
}

// lowerLayers begins the options of every overlay.
const lowerLayers = "userxattr,index=off,xino=off,lowerdir="

// stack is a list of layers, topmost first.
func stack(above string, lower []int) string {
	for _, fd := range lower {
		above += ":" + descriptor(fd)
	}
	return above
}

// stacked mounts an overlay of what lies above and below, and of the private layer.
func (b *builder) stacked(op plan.Op, above string, lower []int, top int) error {
	options := lowerLayers + stack(above, lower)
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV)
	if op.Layer == "" || op.Sealed {
		flags |= unix.MS_RDONLY
	}
	if op.Layer != "" {
		upper, work, err := b.layer(op, top)
		if err != nil {
			return err
		}
		defer upper.Close()
		defer work.Close()
		options += fmt.Sprintf(",upperdir=%s,workdir=%s", descriptor(int(upper.Fd())), descriptor(int(work.Fd())))
	}
	if err := b.mount("overlay", op.At, flags, options); err != nil {
		return &plan.LayerError{Layer: plan.CopyView, Err: fmt.Errorf("mount: %w", err)}
	}
	return nil
}

// setAside shows directories as a file system of its own. The kernel does not stack
// a layer above a directory that it lies in, as what was kept of a home lies in that
// home; a clone of the mount does not help, because directories are compared. What
// is kept cannot be set aside itself: its signs for "removed" would be obeyed there
// and not be seen above.
func (b *builder) setAside(lower []int) (int, error) {
	b.skeletons++
	dir := fmt.Sprintf("%s/%d", asides, b.skeletons)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return -1, err
	}
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV | unix.MS_RDONLY)
	if err := unix.Mount("overlay", dir, "overlay", flags, lowerLayers+stack(nothing, lower)); err != nil {
		return -1, &plan.LayerError{Layer: plan.CopyView, Err: fmt.Errorf("set aside: %w", err)}
	}
	return b.open(dir)
}

// kept opens what an earlier cell left of a layer, or is -1.
func (b *builder) kept(op plan.Op) (int, error) {
	if op.Kept == "" {
		return -1, nil
	}
	fd, err := b.open(hostRoot + op.Kept)
	if errors.Is(err, unix.ENOENT) {
		return -1, nil
	}
	return fd, err
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

func (b *builder) tmpfs(op plan.Op) error {
	options := fmt.Sprintf("mode=%04o", op.Mode)
	if op.Size > 0 {
		options += fmt.Sprintf(",size=%d", op.Size)
	}
	if err := b.mount("tmpfs", op.At, unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return err
	}
	return b.makeParts(newRoot+op.At, op)
}

// skeleton is a directory of the host's that is taken apart: its entries are
// mounted in it one by one.
func (b *builder) skeleton(op plan.Op) error {
	b.skeletons++
	dir := fmt.Sprintf("%s/%d", skeletons, b.skeletons)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if err := b.makeParts(dir, op); err != nil {
		return err
	}
	if op.From != "" {
		mode, err := b.modeOf(hostRoot + op.From)
		if err != nil {
			return err
		}
		if err := os.Chmod(dir, mode); err != nil {
			return err
		}
	}
	if op.Layer == "" {
		return b.bind(dir, op.At, false)
	}
	op.Make, op.Files, op.Links = nil, nil, nil // they are below the layer
	return b.overlayOf(dir, op)
}

func (b *builder) modeOf(path string) (os.FileMode, error) {
	fd, err := b.open(path)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	return modeOfFd(fd)
}

func modeOfFd(fd int) (os.FileMode, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return os.FileMode(st.Mode & 0o777), err
}

// private is a directory of the layers, or a tmpfs when there are none.
func (b *builder) private(op plan.Op) error {
	if b.layers == memory {
		return b.fresh(op)
	}
	if err := b.layerDir(op.Layer, op.Mode); err != nil {
		return err
	}
	dir := b.layers + "/" + op.Layer
	if err := b.makeParts(dir, op); err != nil {
		return err
	}
	return b.bind(dir, op.At, true)
}

// fresh is a directory in memory: empty, or above what an earlier cell left.
func (b *builder) fresh(op plan.Op) error {
	kept, err := b.kept(op)
	if err != nil {
		return err
	}
	if kept < 0 {
		return b.tmpfs(op)
	}
	unix.Close(kept)
	op.Below, op.Kept = []string{op.Kept}, ""
	return b.overlayOf("", op)
}

// mask puts something that cannot be read over a path of the host. What is gone
// meanwhile needs none.
func (b *builder) mask(op plan.Op) error {
	if op.File {
		return unlessGone(b.bind(emptyFile, op.At, false))
	}
	err := b.mount("tmpfs", op.At, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755,size=64k")
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := b.makeParts(newRoot+op.At, op); err != nil {
		return err
	}
	mode := uint32(0)
	if len(op.Make)+len(op.Files) > 0 {
		mode = 0o555
	}
	if err := unix.Chmod(newRoot+op.At, mode); err != nil { // it is ours now, and nothing was on the way
		return err
	}
	return b.seal(op.At)
}

func unlessGone(err error) error {
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}
