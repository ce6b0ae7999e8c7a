package files

import (
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Metadata are attempts on what is known about a file outside. Landlock lets all
// of them through.
func Metadata() []arena.Attempt {
	row := func(name, what string, attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Act: arena.Act{Attack: attack}}
	}
	list := []arena.Attempt{
		row("chmod", "change a mode", func(a *arena.Arena) error { return unix.Chmod(a.Out("file"), 0o777) }),
		row("chmod-directory", "change a directory's mode", func(a *arena.Arena) error { return unix.Chmod(a.Out("dir"), 0o777) }),
		row("fchmod", "change a mode by a descriptor for reading", readOnly(func(_ *arena.Arena, fd int) error { return unix.Fchmod(fd, 0o777) })),
		row("fchmodat2", "change a mode with fchmodat2", func(a *arena.Arena) error {
			_, err := arena.Call(unix.SYS_FCHMODAT2, unix.AT_FDCWD, a.Out("file"), 0o777, 0)
			return err
		}),
		row("chmod-path-descriptor", "change a mode through /proc of a descriptor for the path", chmodPath),
		row("utimes", "change times", func(a *arena.Arena) error { return os.Chtimes(a.Out("file"), time.Unix(1, 0), time.Unix(1, 0)) }),
		row("futimens", "change times by a descriptor", readOnly(func(_ *arena.Arena, fd int) error {
			return unix.Futimes(fd, []unix.Timeval{{Sec: 1}, {Sec: 1}})
		})),
		row("setxattr", "set an attribute", func(a *arena.Arena) error { return unix.Setxattr(a.Out("file"), "user.cordon", []byte(a.Mark), 0) }),
		row("fsetxattr", "set an attribute by a descriptor", readOnly(func(a *arena.Arena, fd int) error {
			return unix.Fsetxattr(fd, "user.cordon", []byte(a.Mark), 0)
		})),
		row("setxattrat", "set an attribute with setxattrat", setxattrat),
		row("acl", "set an access control list", func(a *arena.Arena) error {
			return unix.Setxattr(a.Out("file"), "system.posix_acl_access", acl(), 0)
		}),
		row("acl-default", "set a directory's default access control list", func(a *arena.Arena) error {
			return unix.Setxattr(a.Out("dir"), "system.posix_acl_default", acl(), 0)
		}),
		row("inode-flags", "set an inode flag", readOnly(func(_ *arena.Arena, fd int) error { return setFlag(fd, nodump) })),
		row("fssetxattr", "set an inode's extended flags", readOnly(func(_ *arena.Arena, fd int) error {
			b := make([]byte, 28)
			copy(b, arena.Words(uint32(0x80))) // no dump
			_, err := arena.Call(unix.SYS_IOCTL, fd, arena.FsIocFsSetXattr, b)
			return err
		})),
		row("file-setattr", "set an inode's flags with file_setattr", func(a *arena.Arena) error {
			b := make([]byte, 24)
			copy(b, arena.Words(uint64(0x80)))
			_, err := arena.Call(sysFileSetattr, unix.AT_FDCWD, a.Out("file"), b, len(b), 0)
			return err
		}),
		{Name: "removexattr", What: "remove an attribute", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error { return unix.Setxattr(f.Out("file"), "user.there", []byte("x"), 0) },
			Attack:  func(a *arena.Arena) error { return unix.Removexattr(a.Out("file"), "user.there") },
		}},
	}
	return append(append(list, rootMetadata()...), privilegedBits()...)
}

const (
	sysFileSetattr = 469 // since Linux 6.17
	nodump         = 0x40
	immutable      = 0x10
)

func readOnly(act func(a *arena.Arena, fd int) error) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		fd, err := unix.Open(a.Out("file"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return act(a, fd)
	}
}

func chmodPath(a *arena.Arena) error {
	fd, err := unix.Open(a.Out("file"), unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o777)
}

func setxattrat(a *arena.Arena) error {
	value := []byte(a.Mark)
	args := append(arena.Words(arena.Address(value)), arena.Words(uint32(len(value)), 0)...)
	_, err := arena.Call(unix.SYS_SETXATTRAT, unix.AT_FDCWD, a.Out("file"), 0, "user.cordon", args, len(args))
	return err
}

func setFlag(fd int, flag int) error {
	flags, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags|flag)
}

// acl is a list that lets user 12345 write: version, then tag, permission, id.
func acl() []byte {
	b := arena.Words(uint32(2))
	for _, e := range []struct {
		tag, perm uint16
		id        uint32
	}{{1, 6, 0xffffffff}, {2, 6, 12345}, {4, 4, 0xffffffff}, {0x10, 6, 0xffffffff}, {0x20, 4, 0xffffffff}} {
		b = append(append(b, arena.Words(e.tag, e.perm)...), arena.Words(e.id)...)
	}
	return b
}

func rootMetadata() []arena.Attempt {
	row := func(name, what string, attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Root: true, Act: arena.Act{Attack: attack}}
	}
	fixed := row("immutable", "make a file immutable", readOnly(func(_ *arena.Arena, fd int) error { return setFlag(fd, immutable) }))
	fixed.Prepare = func(f *arena.Fixture) error {
		f.OnClose(func() {
			if fd, err := unix.Open(f.Out("file"), unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
				_ = unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, 0) // else Close says so
				unix.Close(fd)
			}
		})
		return nil
	}
	return []arena.Attempt{
		fixed,
		row("chown", "give a file away", func(a *arena.Arena) error { return os.Chown(a.Out("file"), 12345, -1) }),
		row("chgrp", "give a file to another group", func(a *arena.Arena) error { return os.Chown(a.Out("file"), -1, 12345) }),
		row("lchown", "give a link away", func(a *arena.Arena) error { return os.Lchown(a.Out("link"), 12345, 12345) }),
		row("file-capability", "give a program a capability", func(a *arena.Arena) error {
			return unix.Setxattr(a.Out("tool"), "security.capability", arena.Words(uint32(0x02000001), 1<<21, 0, 0, 0), 0)
		}),
		row("trusted-xattr", "set a trusted attribute", func(a *arena.Arena) error {
			return unix.Setxattr(a.Out("file"), "trusted.cordon", []byte(a.Mark), 0)
		}),
	}
}

// privilegedBits are attempts to leave in the tree a program that runs with more
// rights than whoever starts it.
func privilegedBits() []arena.Attempt {
	row := func(name, what string, bit uint32, attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Act: arena.Act{Attack: attack, Judge: func(f *arena.Fixture) (string, error) {
			var st unix.Stat_t
			err := unix.Lstat(f.In("own"), &st)
			if errors.Is(err, unix.ENOENT) {
				return "", nil // it was not created again
			}
			if err == nil && st.Mode&bit != 0 {
				return "a file of the tree has mode " + strconv.FormatUint(uint64(st.Mode&0o7777), 8), nil
			}
			return "", err
		}}}
	}
	const setuid, setgid = unix.S_ISUID, unix.S_ISGID
	caps := row("tree-capability", "give a program in the tree a capability", 0, func(a *arena.Arena) error {
		return unix.Setxattr(a.In("own"), "security.capability", arena.Words(uint32(0x02000001), 1<<21, 0, 0, 0), 0)
	})
	caps.Root = true
	caps.Judge = func(f *arena.Fixture) (string, error) {
		if n, err := unix.Getxattr(f.In("own"), "security.capability", make([]byte, 64)); err == nil && n > 0 {
			return "a file of the tree has a capability", nil
		}
		return "", nil
	}
	return []arena.Attempt{
		caps,
		row("tree-setuid", "leave a setuid program in the tree", setuid, func(a *arena.Arena) error { return unix.Chmod(a.In("own"), 0o755|setuid) }),
		row("tree-setgid", "leave a setgid program in the tree", setgid, func(a *arena.Arena) error { return unix.Chmod(a.In("own"), 0o755|setgid) }),
		row("tree-setuid-fchmod", "the same by a descriptor", setuid, func(a *arena.Arena) error {
			return fromOwn(a, func(fd int) error { return unix.Fchmod(fd, 0o755|setuid) })
		}),
		row("tree-setuid-fchmodat2", "the same with fchmodat2", setuid, func(a *arena.Arena) error {
			_, err := arena.Call(unix.SYS_FCHMODAT2, unix.AT_FDCWD, a.In("own"), 0o755|setuid, 0)
			return err
		}),
		row("tree-setuid-create", "create a setuid program in the tree", setuid, func(a *arena.Arena) error {
			unix.Umask(0)
			if err := os.Remove(a.In("own")); err != nil {
				return err
			}
			fd, err := unix.Open(a.In("own"), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o755|setuid)
			return errors.Join(err, unix.Close(fd))
		}),
	}
}
