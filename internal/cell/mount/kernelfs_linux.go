package mount

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/plan"
)

const plain = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC

// namespaceLimits are set to nothing: a cell makes no namespaces of its own, also
// where the filter would not see it.
var namespaceLimits = []string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"}

// procMasks are files of the kernel's that tell about the host or its keys.
var procMasks = []string{"kcore", "keys", "key-users", "timer_list", "sched_debug", "latency_stats", "kpagecount", "kpageflags", "kpagecgroup",
	"vmallocinfo", "acpi", "scsi"}

// procfs mounts a /proc that shows the cell's own processes only and in which
// nothing can be written. As uid 0 most of /proc/sys could be, without any
// capability.
func (b *builder) procfs(at string) error {
	if err := b.mount("proc", at, plain, ""); err != nil {
		return &plan.LayerError{Layer: plan.Namespaces, Err: fmt.Errorf("mount proc: %w", err)}
	}
	return b.hideBelow(at, procMasks)
}

// SealProc is done when nothing is left to be mounted: every mount that is cloned
// is in a namespace of its own for a moment.
func SealProc() error {
	for _, name := range namespaceLimits {
		err := os.WriteFile(fmt.Sprintf("/proc/sys/user/max_%s_namespaces", name), []byte("0"), 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("limit %s namespaces: %w", name, err)
		}
	}
	// The operator has a number of these for everything they run.
	if err := os.WriteFile("/proc/sys/user/max_inotify_instances", []byte("64"), 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("limit inotify: %w", err)
	}
	return unix.MountSetattr(unix.AT_FDCWD, "/proc", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// hideBelow masks names that are there.
func (b *builder) hideBelow(at string, names []string) error {
	for _, name := range names {
		fi, err := os.Lstat(newRoot + at + "/" + name)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && fi.Mode()&0o004 == 0 && os.Geteuid() != 0:
			continue // root's own, and this is not root
		case err != nil:
			return err
		case fi.IsDir():
			err = b.bind(nothing, at+"/"+name, false)
		default:
			err = b.bind(emptyFile, at+"/"+name, false)
		}
		if err != nil {
			return fmt.Errorf("mask %s: %w", name, err)
		}
	}
	return nil
}

// sysfs mounts a /sys of the cell's network namespace. Where that is refused
// there is none: it is not part of the boundary.
func (b *builder) sysfs(at string) error {
	if err := b.mount("sysfs", at, plain|unix.MS_RDONLY, ""); err != nil {
		return b.bind(nothing, at, false)
	}
	return b.hideBelow(at, []string{"firmware"})
}

// devLinks are what programs expect beside them.
var devLinks = [][2]string{
	{"ptmx", "pts/ptmx"}, {"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
}

func (b *builder) devfs(where string) error {
	if err := b.mount("tmpfs", where, unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=64k"); err != nil {
		return err
	}
	at := newRoot + where // it is ours now, and has no links but those made here
	for _, name := range plan.Devices {
		if err := device(hostRoot+"/dev/"+name, at+"/"+name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, l := range devLinks {
		if err := os.Symlink(l[1], at+"/"+l[0]); err != nil {
			return err
		}
	}
	for _, m := range []struct {
		name, kind string
		flags      uintptr
		options    string
		optional   bool // a kernel without it has nothing that could lead out either
	}{
		{"pts", "devpts", unix.MS_NOSUID | unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620", false},
		{"shm", "tmpfs", unix.MS_NOSUID | unix.MS_NODEV, "mode=1777", false},
		{"mqueue", "mqueue", plain, "", true},
	} {
		if err := os.Mkdir(at+"/"+m.name, 0o755); err != nil {
			return err
		}
		err := b.mount(m.kind, where+"/"+m.name, m.flags, m.options)
		if err != nil && !(m.optional && errors.Is(err, unix.ENODEV)) {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// device shows one of the host's devices.
func device(from, at string) error {
	if err := os.WriteFile(at, nil, 0o644); err != nil {
		return err
	}
	if err := unix.Mount(from, at, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	// What is written to a device is not written to its file system: only its mode,
	// owner and times are kept from root.
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC}
	return unix.MountSetattr(unix.AT_FDCWD, at, 0, &attr)
}
