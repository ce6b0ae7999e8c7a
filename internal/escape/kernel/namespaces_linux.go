package kernel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Namespaces are attempts to enter those of the host, and to gain in new ones
// the rights that undo the cell.
func Namespaces() []arena.Attempt {
	list := []arena.Attempt{
		{Name: "setns-mount", What: "enter the mount namespace of process 1, or of one of the host", Safe: true, Root: true, Act: arena.Act{
			Prepare: arena.StartVictim,
			Attack:  enterOf("mnt", unix.CLONE_NEWNS, func(a *arena.Arena) error { return a.Write(a.Out("file")) }),
		}},
		{Name: "setns-net", What: "enter the network of process 1", Safe: true, Root: true, Act: arena.Act{
			Prepare: withVictim(arena.ListenTCP("127.0.0.1:0")), Judge: arena.JudgeReceived,
			Attack: enterOf("net", unix.CLONE_NEWNET, arena.DialTCP),
		}},
		{Name: "setns-ipc", What: "enter the IPC namespace of process 1", Safe: true, Root: true, Act: arena.Act{
			Prepare: withVictim(arena.MakeSharedMemory), Judge: arena.JudgeSharedMemory,
			Attack: enterOf("ipc", unix.CLONE_NEWIPC, arena.WriteSharedMemory),
		}},
		{Name: "setns-uts", What: "enter the UTS namespace of process 1", Root: true, Act: arena.Act{
			Alone: true, Prepare: withVictim(keep(domainName, anyDomain)), Judge: setTo(domainName),
			Attack: enterOf("uts", unix.CLONE_NEWUTS, setDomainName),
		}},
		{Name: "setns-pid", What: "start a process in the pid namespace of process 1", Safe: true, Root: true, Act: arena.Act{
			Prepare: arena.StartVictim, Judge: arena.JudgeVictimDead, Attack: enterPid,
		}},
		{Name: "setns-parent", What: "enter all namespaces of the parent by its pidfd", Safe: true, Root: true, Act: arena.Act{
			Attack: enterParent,
		}},
		{Name: "user-capabilities", What: "gain capabilities in a new user namespace (clone)", Safe: true, Act: arena.Act{
			Attack: newUser(&syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: only(os.Getuid()), GidMappings: only(os.Getgid())}), Judge: gained,
		}},
		{Name: "user-capabilities-unshare", What: "gain capabilities in a new user namespace (unshare)", Safe: true, Act: arena.Act{
			Attack: newUser(&syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWUSER, UidMappings: only(os.Getuid()), GidMappings: only(os.Getgid())}), Judge: gained,
		}},
		{Name: "user-clone3", What: "make a user namespace with clone3", Safe: true, Act: arena.Act{
			Attack: clone3User, Judge: arena.JudgeObtained("another user namespace"),
		}},
		{Name: "user-unmask", What: "take a mask away in a new user namespace", Safe: true, Act: arena.Act{
			Prepare: arena.SecretKey, Judge: arena.JudgeLoot, Attack: inUser(func(a *arena.Arena) error {
				for d := a.InHome(".ssh/id_ed25519"); d != a.Base; d = filepath.Dir(d) {
					_ = unix.Unmount(d, unix.MNT_DETACH) // what counts is whether the file can be read then
				}
				return a.LeakFile(a.InHome(".ssh/id_ed25519"))
			}),
		}},
		{Name: "user-bind", What: "look below a mask through a bind in a new user namespace", Safe: true, Act: arena.Act{
			Prepare: arena.SecretKey, Judge: arena.JudgeLoot, Attack: inUser(func(a *arena.Arena) error {
				if err := unix.Mount(a.Home, a.In("dir"), "", unix.MS_BIND, ""); err != nil {
					return err
				}
				return a.LeakFile(a.In("dir/.ssh/id_ed25519"))
			}),
		}},
		{Name: "user-remount", What: "remount the root writable in a new user namespace", Safe: true, Act: arena.Act{
			Attack: inUser(func(a *arena.Arena) error {
				_ = unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") // what counts is whether the file can be written then
				return a.Write(a.Out("file"))
			}),
		}},
		{Name: "user-overlay", What: "mount an overlay over what is outside, in a new user namespace", Safe: true, Act: arena.Act{
			Prepare: arena.SecretKey, Judge: arena.JudgeLoot, Attack: inUser(func(a *arena.Arena) error {
				if err := errors.Join(os.Mkdir(a.In("up"), 0o700), os.Mkdir(a.In("tmp"), 0o700)); err != nil {
					return err
				}
				options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", a.Home, a.In("up"), a.In("tmp"))
				if err := unix.Mount("overlay", a.In("dir"), "overlay", 0, options); err != nil {
					return err
				}
				return a.LeakFile(a.In("dir/.ssh/id_ed25519"))
			}),
		}},
		{Name: "user-proc", What: "mount another proc in a new user and pid namespace", Safe: true, Act: arena.Act{
			Judge: arena.JudgeObtained("proc is mounted"), Attack: inUser(func(a *arena.Arena) error {
				if err := unix.Mount("proc", a.In("dir"), "proc", 0, ""); err != nil {
					return err
				}
				return a.Leak([]byte("proc is mounted"))
			}),
		}},
		{Name: "pidfd-getfd", What: "take a descriptor out of a host process", Safe: true, Act: arena.Act{
			Prepare: arena.StartVictim, Attack: stealDescriptor,
		}},
	}
	return append(list, rights()...)
}

func enterOf(name string, kind int, act func(*arena.Arena) error) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		return a.OfHost(func(dir string) error {
			fd, err := unix.Open(dir+"/ns/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return arena.Enter(fd, kind, func() error { return act(a) })
		})
	}
}

// withVictim starts a victim, and then prepares more.
func withVictim(more func(*arena.Fixture) error) func(*arena.Fixture) error {
	return func(f *arena.Fixture) error { return errors.Join(arena.StartVictim(f), more(f)) }
}

// enterPid starts a child in the other pid namespace, which then kills the victim
// by the number that it has there.
func enterPid(a *arena.Arena) error {
	if a.Stage != "" {
		return unix.Kill(a.Number("victim"), unix.SIGKILL)
	}
	return enterOf("pid", unix.CLONE_NEWPID, func(a *arena.Arena) error {
		return a.StartAgain("child", nil).Run()
	})(a)
}

func enterParent(a *arena.Arena) error {
	fd, err := unix.PidfdOpen(os.Getppid(), 0)
	if err != nil {
		return err
	}
	return arena.Enter(fd, unix.CLONE_NEWNS|unix.CLONE_NEWNET|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS, func() error { return a.Write(a.Out("file")) })
}

// newUser starts the attack again in a user namespace, where it says what it may.
func newUser(attr *syscall.SysProcAttr) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		if a.Stage != "" {
			return a.Leak([]byte("in a new namespace: " + effective()))
		}
		return a.StartAgain("child", attr).Run()
	}
}

func effective() string {
	status, _ := os.ReadFile("/proc/self/status") // none: no capabilities
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "CapEff:") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// gained judges by capabilities that the attack has in a namespace of its own.
func gained(f *arena.Fixture) (string, error) {
	if s := f.Written(arena.LootFile); strings.Contains(s, "CapEff") && !strings.Contains(s, "CapEff:\t0000000000000000") {
		return strings.TrimSpace(s), nil
	}
	return "", nil
}

// clone3User calls clone3 as the C library of a browser would. The copy only
// exits: its status says that it was made.
func clone3User(a *arena.Arena) error {
	args := arena.Words(uint64(unix.CLONE_NEWUSER|unix.CLONE_VFORK), 0, 0, 0, uint64(unix.SIGCHLD), 0, 0, 0)
	pid, err := arena.CopyAndExit(args)
	if err != nil {
		return err
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil || status.ExitStatus() != 77 {
		return fmt.Errorf("status %d: %w", status, err)
	}
	return a.Leak([]byte("another user namespace"))
}

// only makes root of one user, in a namespace.
func only(id int) []syscall.SysProcIDMap {
	return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
}

// inUser does something as root of a user namespace with its own mounts.
func inUser(act func(*arena.Arena) error) func(*arena.Arena) error {
	return func(a *arena.Arena) error {
		if a.Stage != "" {
			return act(a)
		}
		err := a.StartAgain("child", &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID,
			UidMappings: only(os.Getuid()), GidMappings: only(os.Getgid()),
		}).Run()
		if err == nil {
			return nil
		}
		// Without a namespace of its own, with the rights it has.
		return errors.Join(err, act(a))
	}
}

func stealDescriptor(a *arena.Arena) error {
	p, err := unix.PidfdOpen(a.Number("victim"), 0)
	if err != nil {
		return err
	}
	fd, err := unix.PidfdGetfd(p, arena.VictimFile, 0)
	if err != nil {
		return err
	}
	return a.Overwrite(fd)
}

// rights are about what the attack is, rather than about what it does.
func rights() []arena.Attempt {
	status := func(name, what, line, weak string, root bool) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Root: root, Act: arena.Act{
			Attack: func(a *arena.Arena) error { return a.LeakFile("/proc/self/status") },
			Judge: func(f *arena.Fixture) (string, error) {
				loot := f.Written(arena.LootFile)
				if loot == "" {
					return "", errors.New("the attack handed out nothing")
				}
				for l := range strings.Lines(loot) {
					value, ok := strings.CutPrefix(l, line+":\t")
					value = strings.TrimSpace(value)
					if ok && (value == weak || weak == "" && strings.Trim(value, "0") != "") {
						return line + " is " + value, nil
					}
				}
				return "", nil
			},
		}}
	}
	list := []arena.Attempt{
		status("no-new-privileges", "be allowed to gain privileges by exec", "NoNewPrivs", "0", false),
		status("seccomp-off", "run without a filter of system calls", "Seccomp", "0", false),
		status("capabilities-effective", "hold capabilities", "CapEff", "", true),
		status("capabilities-permitted", "be able to take capabilities", "CapPrm", "", true),
		status("capabilities-bounding", "be able to gain capabilities by exec", "CapBnd", "", false),
	}
	for _, ns := range []string{"user", "mnt", "pid", "ipc", "uts", "net", "cgroup"} {
		list = append(list, arena.Attempt{Name: "same-" + ns, What: "share the " + ns + " namespace of the host", Safe: true, Act: arena.Act{
			Attack: func(a *arena.Arena) error {
				to, err := os.Readlink("/proc/self/ns/" + ns)
				if err != nil {
					return err
				}
				return a.Leak([]byte(to))
			},
			Judge: func(f *arena.Fixture) (string, error) {
				mine, err := os.Readlink("/proc/" + strconv.Itoa(os.Getpid()) + "/ns/" + ns)
				if err != nil {
					return "", err
				}
				return f.Obtained(mine)
			},
		}})
	}
	return list
}
