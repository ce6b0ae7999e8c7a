package cell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const plain = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC

// namespaceLimits are set to nothing: a cell makes no namespaces of its own, also
// where the filter would not see it.
var namespaceLimits = []string{"user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"}

// procMasks are files of the kernel's that tell about the host or its keys.
var procMasks = []string{"kcore", "keys", "key-users", "timer_list", "sched_debug", "latency_stats", "kpagecount", "kpageflags", "kpagecgroup", "vmallocinfo", "acpi", "scsi"}

// procfs mounts a /proc that shows the cell's own processes only and in which
// nothing can be written. As uid 0 most of /proc/sys could be, without any
// capability.
func procfs(at string) error {
	if err := unix.Mount("proc", at, "proc", plain, ""); err != nil {
		return &layerError{Namespaces, fmt.Errorf("mount proc: %w", err)}
	}
	return hideBelow(at, procMasks)
}

// sealProc is done when nothing is left to be mounted: every mount that is cloned
// is in a namespace of its own for a moment.
func sealProc() error {
	for _, name := range namespaceLimits {
		err := os.WriteFile(fmt.Sprintf("/proc/sys/user/max_%s_namespaces", name), []byte("0"), 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("limit %s namespaces: %w", name, err)
		}
	}
	return seal("/proc", unix.MOUNT_ATTR_RDONLY, 0)
}

// hideBelow masks names that are there.
func hideBelow(at string, names []string) error {
	for _, name := range names {
		fi, err := os.Lstat(at + "/" + name)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && fi.Mode()&0o004 == 0 && os.Geteuid() != 0:
			continue // root's own, and this is not root
		case err != nil:
			return err
		case fi.IsDir():
			err = bind(nothing, at+"/"+name, false)
		default:
			err = bind("/file", at+"/"+name, false)
		}
		if err != nil {
			return fmt.Errorf("mask %s: %w", name, err)
		}
	}
	return nil
}

// sysfs mounts a /sys of the cell's network namespace. Where that is refused
// there is none: it is not part of the boundary.
func sysfs(at string) error {
	err := unix.Mount("sysfs", at, "sysfs", plain|unix.MS_RDONLY, "")
	if err != nil {
		return bind(nothing, at, false)
	}
	return hideBelow(at, []string{"firmware"})
}

// devices are those that programs cannot do without.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// devLinks are what programs expect beside them.
var devLinks = [][2]string{
	{"ptmx", "pts/ptmx"}, {"fd", "/proc/self/fd"}, {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
}

func devfs(at string) error {
	if err := unix.Mount("dev", at, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755,size=64k"); err != nil {
		return err
	}
	for _, name := range devices {
		if err := device(hostRoot+"/dev/"+name, at+"/"+name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, l := range devLinks {
		if err := os.Symlink(l[1], at+"/"+l[0]); err != nil {
			return err
		}
	}
	for _, name := range []string{"pts", "shm", "mqueue"} {
		if err := os.Mkdir(at+"/"+name, 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("devpts", at+"/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620"); err != nil {
		return fmt.Errorf("devpts: %w", err)
	}
	if err := unix.Mount("shm", at+"/shm", "tmpfs", plain&^unix.MS_NOEXEC, "mode=1777"); err != nil {
		return fmt.Errorf("shm: %w", err)
	}
	// A kernel without message queues has none to lead out either.
	if err := unix.Mount("mqueue", at+"/mqueue", "mqueue", plain, ""); err != nil && !errors.Is(err, unix.ENODEV) {
		return fmt.Errorf("mqueue: %w", err)
	}
	return nil
}

// device shows one of the host's devices.
func device(from, at string) error {
	if err := os.WriteFile(at, nil, 0o644); err != nil {
		return err
	}
	return unix.Mount(from, at, "", unix.MS_BIND, "")
}
