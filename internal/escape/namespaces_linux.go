package escape

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// namespaces are attempts to enter those of the host, and to gain in new ones
// the rights that undo the cell.
func namespaces() []Attempt {
	list := []Attempt{
		{Name: "setns-mount", What: "enter the mount namespace of process 1, or of one of the host", Safe: true, Root: true, attempt: attempt{
			prepare: startVictim,
			attack:  enterOf("mnt", unix.CLONE_NEWNS, func(a *Arena) error { return a.write(a.out("file")) }),
		}},
		{Name: "setns-net", What: "enter the network of process 1", Safe: true, Root: true, attempt: attempt{
			prepare: withVictim(listenTCP("127.0.0.1:0")), judge: told,
			attack: enterOf("net", unix.CLONE_NEWNET, dialTCP),
		}},
		{Name: "setns-ipc", What: "enter the IPC namespace of process 1", Safe: true, Root: true, attempt: attempt{
			prepare: withVictim(makeSharedMemory), judge: sharedMemoryChanged,
			attack: enterOf("ipc", unix.CLONE_NEWIPC, writeSharedMemory),
		}},
		{Name: "setns-uts", What: "enter the UTS namespace of process 1", Root: true, attempt: attempt{
			alone: true, prepare: withVictim(keep("/proc/sys/kernel/domainname")), judge: setTo("/proc/sys/kernel/domainname", "cordon.invalid"),
			attack: enterOf("uts", unix.CLONE_NEWUTS, func(*Arena) error { return unix.Setdomainname([]byte("cordon.invalid")) }),
		}},
		{Name: "setns-pid", What: "start a process in the pid namespace of process 1", Safe: true, Root: true, attempt: attempt{
			prepare: startVictim, judge: dead, attack: enterPid,
		}},
		{Name: "setns-parent", What: "enter all namespaces of the parent by its pidfd", Safe: true, Root: true, attempt: attempt{
			attack: enterParent,
		}},
		{Name: "user-capabilities", What: "gain capabilities in a new user namespace (clone)", Safe: true, attempt: attempt{
			attack: newUser(&syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: only(os.Getuid()), GidMappings: only(os.Getgid())}), judge: gained,
		}},
		{Name: "user-capabilities-unshare", What: "gain capabilities in a new user namespace (unshare)", Safe: true, attempt: attempt{
			attack: newUser(&syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWUSER, UidMappings: only(os.Getuid()), GidMappings: only(os.Getgid())}), judge: gained,
		}},
		{Name: "user-clone3", What: "make a user namespace with clone3", Safe: true, attempt: attempt{
			attack: clone3User, judge: obtains("another user namespace"),
		}},
		{Name: "user-unmask", What: "take a mask away in a new user namespace", Safe: true, attempt: attempt{
			prepare: secretKey, judge: looted, attack: inUser(func(a *Arena) error {
				for d := a.home(".ssh/id_ed25519"); d != a.Base; d = filepath.Dir(d) {
					_ = unix.Unmount(d, unix.MNT_DETACH) // what counts is whether the file can be read then
				}
				return a.leakFile(a.home(".ssh/id_ed25519"))
			}),
		}},
		{Name: "user-bind", What: "look below a mask through a bind in a new user namespace", Safe: true, attempt: attempt{
			prepare: secretKey, judge: looted, attack: inUser(func(a *Arena) error {
				if err := unix.Mount(a.Home, a.in("dir"), "", unix.MS_BIND, ""); err != nil {
					return err
				}
				return a.leakFile(a.in("dir/.ssh/id_ed25519"))
			}),
		}},
		{Name: "user-remount", What: "remount the root writable in a new user namespace", Safe: true, attempt: attempt{
			attack: inUser(func(a *Arena) error {
				_ = unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") // what counts is whether the file can be written then
				return a.write(a.out("file"))
			}),
		}},
		{Name: "user-overlay", What: "mount an overlay over what is outside, in a new user namespace", Safe: true, attempt: attempt{
			prepare: secretKey, judge: looted, attack: inUser(func(a *Arena) error {
				if err := errors.Join(os.Mkdir(a.in("up"), 0o700), os.Mkdir(a.in("tmp"), 0o700)); err != nil {
					return err
				}
				options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,userxattr", a.Home, a.in("up"), a.in("tmp"))
				if err := unix.Mount("overlay", a.in("dir"), "overlay", 0, options); err != nil {
					return err
				}
				return a.leakFile(a.in("dir/.ssh/id_ed25519"))
			}),
		}},
		{Name: "user-proc", What: "mount another proc in a new user and pid namespace", Safe: true, attempt: attempt{
			judge: obtains("proc is mounted"), attack: inUser(func(a *Arena) error {
				if err := unix.Mount("proc", a.in("dir"), "proc", 0, ""); err != nil {
					return err
				}
				return a.leak([]byte("proc is mounted"))
			}),
		}},
		{Name: "pidfd-getfd", What: "take a descriptor out of a host process", Safe: true, attempt: attempt{
			prepare: startVictim, attack: stealDescriptor,
		}},
	}
	return append(list, rights()...)
}

func secretKey(f *Fixture) error { return f.put("home/.ssh/id_ed25519", f.Secret, 0o600) }

// enter does something in another namespace, on a thread that is given up.
func enter(fd int, kind int, act func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this function
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			result <- err
			return
		}
		if err := unix.Setns(fd, kind); err != nil {
			result <- fmt.Errorf("setns: %w", err)
			return
		}
		result <- act()
	}()
	return <-result
}

func enterOf(name string, kind int, act func(*Arena) error) func(*Arena) error {
	return func(a *Arena) error {
		return a.ofHost(func(dir string) error {
			fd, err := unix.Open(dir+"/ns/"+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return enter(fd, kind, func() error { return act(a) })
		})
	}
}

// withVictim starts a victim, and then prepares more.
func withVictim(more func(*Fixture) error) func(*Fixture) error {
	return func(f *Fixture) error { return errors.Join(startVictim(f), more(f)) }
}

// enterPid starts a child in the other pid namespace, which then kills the victim
// by the number that it has there.
func enterPid(a *Arena) error {
	if a.Stage != "" {
		return unix.Kill(a.number("victim"), unix.SIGKILL)
	}
	return enterOf("pid", unix.CLONE_NEWPID, func(a *Arena) error {
		return a.again("child", nil).Run()
	})(a)
}

func enterParent(a *Arena) error {
	fd, err := unix.PidfdOpen(os.Getppid(), 0)
	if err != nil {
		return err
	}
	return enter(fd, unix.CLONE_NEWNS|unix.CLONE_NEWNET|unix.CLONE_NEWIPC|unix.CLONE_NEWUTS, func() error { return a.write(a.out("file")) })
}

// newUser starts the attack again in a user namespace, where it says what it may.
func newUser(attr *syscall.SysProcAttr) func(*Arena) error {
	return func(a *Arena) error {
		if a.Stage != "" {
			return a.leak([]byte("in a new namespace: " + effective()))
		}
		return a.again("child", attr).Run()
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
func gained(f *Fixture) (string, error) {
	loot, err := os.ReadFile(f.in(lootFile))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if s := string(loot); strings.Contains(s, "CapEff") && !strings.Contains(s, "CapEff:\t0000000000000000") {
		return strings.TrimSpace(s), nil
	}
	return "", err
}

// clone3User calls clone3 as the C library of a browser would. The copy only
// exits: its status says that it was made.
func clone3User(a *Arena) error {
	args := words(uint64(unix.CLONE_NEWUSER|unix.CLONE_VFORK), 0, 0, 0, uint64(unix.SIGCHLD), 0, 0, 0)
	pid, err := copyAndExit(args)
	if err != nil {
		return err
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil || status.ExitStatus() != 77 {
		return fmt.Errorf("status %d: %w", status, err)
	}
	return a.leak([]byte("another user namespace"))
}

// only makes root of one user, in a namespace.
func only(id int) []syscall.SysProcIDMap {
	return []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
}

// inUser does something as root of a user namespace with its own mounts.
func inUser(act func(*Arena) error) func(*Arena) error {
	return func(a *Arena) error {
		if a.Stage != "" {
			return act(a)
		}
		err := a.again("child", &syscall.SysProcAttr{
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

func stealDescriptor(a *Arena) error {
	p, err := unix.PidfdOpen(a.number("victim"), 0)
	if err != nil {
		return err
	}
	fd, err := unix.PidfdGetfd(p, victimFile, 0)
	if err != nil {
		return err
	}
	return a.overwrite(fd)
}

// rights are about what the attack is, rather than about what it does.
func rights() []Attempt {
	status := func(name, what, line, weak string, root bool) Attempt {
		return Attempt{Name: name, What: what, Safe: true, Root: root, attempt: attempt{
			attack: func(a *Arena) error { return a.leakFile("/proc/self/status") },
			judge: func(f *Fixture) (string, error) {
				loot, err := os.ReadFile(f.in(lootFile))
				if err != nil {
					return "", fmt.Errorf("the attack handed out nothing: %w", err)
				}
				for l := range strings.Lines(string(loot)) {
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
	list := []Attempt{
		status("no-new-privileges", "be allowed to gain privileges by exec", "NoNewPrivs", "0", false),
		status("seccomp-off", "run without a filter of system calls", "Seccomp", "0", false),
		status("capabilities-effective", "hold capabilities", "CapEff", "", true),
		status("capabilities-permitted", "be able to take capabilities", "CapPrm", "", true),
		status("capabilities-bounding", "be able to gain capabilities by exec", "CapBnd", "", false),
	}
	for _, ns := range []string{"user", "mnt", "pid", "ipc", "uts", "net", "cgroup"} {
		list = append(list, Attempt{Name: "same-" + ns, What: "share the " + ns + " namespace of the host", Safe: true, attempt: attempt{
			attack: func(a *Arena) error {
				to, err := os.Readlink("/proc/self/ns/" + ns)
				if err != nil {
					return err
				}
				return a.leak([]byte(to))
			},
			judge: func(f *Fixture) (string, error) {
				mine, err := os.Readlink("/proc/" + strconv.Itoa(os.Getpid()) + "/ns/" + ns)
				if err != nil {
					return "", err
				}
				return f.obtained(mine)
			},
		}})
	}
	return list
}
