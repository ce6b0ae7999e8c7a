package kernel

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

// Syscalls are attempts through the 32-bit and x32 entrances of the kernel, which
// a filter forgets at its peril, and through calls that no worker needs.
func Syscalls() []arena.Attempt {
	return append(append(otherEntrances(), surface()...), privileged()...)
}

// Numbers of the 32-bit entrance.
const (
	i386Open, i386Write, i386Unlink, i386Chmod, i386Getpid, i386Mount = 5, 4, 10, 15, 20, 21
	i386Ptrace, i386Kill, i386Rename, i386Truncate, i386Socketcall    = 26, 37, 38, 92, 102
	i386AddKey, i386Openat, i386Unshare, i386Fchmodat, i386Symlinkat  = 286, 295, 310, 306, 304
)

// call80 makes a call through the 32-bit entrance, with texts in low memory.
func call80(nr uintptr, args ...any) (int32, error) {
	var regs [5]uintptr
	for i, arg := range args {
		switch v := arg.(type) {
		case int:
			regs[i] = uintptr(uint32(v))
		case string:
			at, err := low(append([]byte(v), 0))
			if err != nil {
				return 0, err
			}
			regs[i] = at
		case []byte:
			at, err := low(v)
			if err != nil {
				return 0, err
			}
			regs[i] = at
		default:
			panic(fmt.Sprintf("an argument cannot be a %T", arg))
		}
	}
	r := int32(int80(nr, regs[0], regs[1], regs[2], regs[3], regs[4]))
	if r < 0 && r > -4096 {
		return r, unix.Errno(-r)
	}
	return r, nil
}

// low puts bytes where a 32-bit pointer reaches.
func low(b []byte) (uintptr, error) {
	m, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|map32bit)
	if err != nil {
		return 0, err
	}
	copy(m, b)
	return uintptr(arena.Address(m)), nil
}

func otherEntrances() []arena.Attempt {
	row := func(name, what string, prepare func(*arena.Fixture) error, judge func(*arena.Fixture) (string, error), attack func(*arena.Arena) error) arena.Attempt {
		return arena.Attempt{Name: "int80-" + name, What: what + ", through the 32-bit entrance", Safe: true, Act: arena.Act{
			Prepare: func(f *arena.Fixture) error {
				if !hasInt80 {
					return errors.New("this processor has no 32-bit entrance")
				}
				if prepare != nil {
					return prepare(f)
				}
				return nil
			}, Judge: judge, Attack: attack,
		}}
	}
	mount := row("mount", "mount something", nil, nil, func(a *arena.Arena) error {
		_, err := call80(i386Mount, "x", a.In("dir"), "tmpfs", 0, 0)
		return err
	})
	mount.Root, mount.Alone = true, true
	return []arena.Attempt{
		mount,
		row("getpid", "be answered", nil, arena.JudgeObtained("answered"), func(a *arena.Arena) error {
			pid, err := call80(i386Getpid)
			if err != nil || int(pid) != os.Getpid() {
				return fmt.Errorf("no answer: %d, %w", pid, err)
			}
			return a.Leak([]byte("answered"))
		}),
		row("write", "write a file outside", nil, nil, func(a *arena.Arena) error {
			fd, err := call80(i386Open, a.Out("file"), unix.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = call80(i386Write, int(fd), a.Mark, len(a.Mark))
			return err
		}),
		row("truncate", "truncate a file outside", nil, nil, func(a *arena.Arena) error { _, err := call80(i386Truncate, a.Out("file"), 0); return err }),
		row("chmod", "change a mode outside", nil, nil, func(a *arena.Arena) error { _, err := call80(i386Chmod, a.Out("file"), 0o777); return err }),
		row("unlink", "remove a file outside", nil, nil, func(a *arena.Arena) error { _, err := call80(i386Unlink, a.Out("file")); return err }),
		row("rename", "move a file out", nil, nil, func(a *arena.Arena) error { _, err := call80(i386Rename, a.In("own"), a.Out("file")); return err }),
		row("kill", "kill a host process", arena.StartVictim, arena.JudgeVictimDead, func(a *arena.Arena) error {
			_, err := call80(i386Kill, a.Number("victim"), int(unix.SIGKILL))
			return err
		}),
		row("ptrace", "seize a host process", arena.StartVictim, arena.JudgeObtained("seized"), arena.OnThread(func(a *arena.Arena) error {
			const seize = 0x4206
			if _, err := call80(i386Ptrace, seize, a.Number("victim"), 0, 0); err != nil {
				return err
			}
			return a.Leak([]byte("seized"))
		})),
		row("unix", "speak to a unix socket of the host", arena.ListenAt("stream", "outside/sock"), arena.JudgeReceived, func(a *arena.Arena) error {
			name := append(arena.Words(uint16(unix.AF_UNIX)), a.Args["socket"]...)
			return socketcall(a, unix.AF_UNIX, append(name, 0))
		}),
		row("tcp", "connect to a server of the host", arena.ListenTCP("127.0.0.1:0"), arena.JudgeReceived, func(a *arena.Arena) error {
			to, err := netip.ParseAddrPort(a.Args["address"])
			if err != nil {
				return err
			}
			ip := to.Addr().As4()
			name := append(arena.Words(uint16(unix.AF_INET)), byte(to.Port()>>8), byte(to.Port()))
			return socketcall(a, unix.AF_INET, append(append(name, ip[:]...), make([]byte, 8)...))
		}),
		row("setuid", "leave a setuid program in the tree", nil, func(f *arena.Fixture) (string, error) {
			st, err := os.Lstat(f.In("own"))
			if err == nil && st.Mode()&os.ModeSetuid != 0 {
				return "a file of the tree is setuid", nil
			}
			return "", err
		}, func(a *arena.Arena) error { _, err := call80(i386Chmod, a.In("own"), 0o4755); return err }),
		{Name: "x32-getpid", What: "be answered through the x32 entrance", Safe: true, Act: arena.Act{
			Judge: arena.JudgeObtained("answered"),
			Attack: func(a *arena.Arena) error {
				pid, err := arena.Call(x32|unix.SYS_GETPID, 0)
				if err != nil || int(pid) != os.Getpid() {
					return fmt.Errorf("no answer: %d, %w", int(pid), err)
				}
				return a.Leak([]byte("answered"))
			},
		}},
		{Name: "x32-chmod", What: "change a mode outside through the x32 entrance", Safe: true, Act: arena.Act{
			Attack: func(a *arena.Arena) error {
				_, err := arena.Call(x32|unix.SYS_FCHMODAT, unix.AT_FDCWD, a.Out("file"), 0o777)
				return err
			},
		}},
	}
}

const (
	x32      = 0x40000000
	map32bit = 0x40
)

// socketcall makes a socket, connects it and sends the mark.
func socketcall(a *arena.Arena, family int, name []byte) error {
	const socket, connect, send = 1, 3, 9
	fd, err := call80(i386Socketcall, socket, arena.Words(uint32(family), unix.SOCK_STREAM, 0))
	if err != nil {
		return err
	}
	at, err := low(name)
	if err != nil {
		return err
	}
	if _, err := call80(i386Socketcall, connect, arena.Words(uint32(fd), uint32(at), uint32(len(name)))); err != nil {
		return err
	}
	text, err := low([]byte(a.Mark))
	if err != nil {
		return err
	}
	_, err = call80(i386Socketcall, send, arena.Words(uint32(fd), uint32(text), uint32(len(a.Mark)), 0))
	return err
}

// surface are calls with a long history of holes. The prize is the kernel's
// consent: a descriptor whose name only the kernel can have given.
func surface() []arena.Attempt {
	descriptor := func(name, what, kind string, root bool, open func() (uintptr, error)) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Root: root, Act: arena.Act{
			Judge: arena.JudgeObtained(kind),
			Attack: func(a *arena.Arena) error {
				fd, err := open()
				if err != nil {
					return err
				}
				to, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd)))
				if err != nil {
					return err
				}
				return a.Leak([]byte(to))
			},
		}}
	}
	return []arena.Attempt{
		descriptor("io-uring", "set up a ring", "io_uring", false, func() (uintptr, error) {
			return arena.Call(unix.SYS_IO_URING_SETUP, 4, make([]byte, 120))
		}),
		descriptor("bpf", "load something into the kernel", "bpf-map", true, func() (uintptr, error) {
			return arena.Call(unix.SYS_BPF, 0, append(arena.Words(uint32(2), 4, 4, 1), make([]byte, 100)...), 72)
		}),
		descriptor("perf", "measure with performance counters", "perf_event", false, func() (uintptr, error) {
			attr := &unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: unix.PERF_ATTR_SIZE_VER7, Config: unix.PERF_COUNT_SW_TASK_CLOCK, Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
			fd, err := unix.PerfEventOpen(attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
			return uintptr(fd), err
		}),
		descriptor("userfaultfd", "answer page faults", "userfaultfd", false, func() (uintptr, error) {
			const userModeOnly = 1
			return arena.Call(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|userModeOnly)
		}),
		descriptor("fanotify", "watch a whole file system", "fanotify", true, func() (uintptr, error) {
			fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF, unix.O_RDONLY)
			return uintptr(fd), err
		}),
		descriptor("fsopen", "configure a file system", "fscontext", true, func() (uintptr, error) {
			fd, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
			return uintptr(fd), err
		}),
		descriptor("packet", "open a packet socket", "socket:", true, func() (uintptr, error) {
			return arena.Call(unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW, 0)
		}),
		descriptor("vsock", "open a socket to the hypervisor", "socket:", false, func() (uintptr, error) {
			return arena.Call(unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		}),
		descriptor("alg", "open a socket to the kernel's ciphers", "socket:", false, func() (uintptr, error) {
			return arena.Call(unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_SEQPACKET, 0)
		}),
		descriptor("netlink-audit", "open a socket to the audit system", "socket:", false, func() (uintptr, error) {
			return arena.Call(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT)
		}),
		descriptor("netlink-uevent", "open a socket to device events", "socket:", false, func() (uintptr, error) {
			return arena.Call(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT)
		}),
	}
}

// privileged are calls with arguments that do nothing, refused for being made at
// all. A kernel that looks at the arguments has let the caller through.
func privileged() []arena.Attempt {
	row := func(name, what string, root bool, reached unix.Errno, act func() error) arena.Attempt {
		return arena.Attempt{Name: name, What: what, Safe: true, Root: root, Act: arena.Act{
			Judge: arena.JudgeObtained("the kernel looked at the arguments"),
			Attack: func(a *arena.Arena) error {
				if err := act(); reached == 0 && err != nil || reached != 0 && !errors.Is(err, reached) {
					return err
				}
				return a.Leak([]byte("the kernel looked at the arguments"))
			},
		}}
	}
	raw := func(nr uintptr, args ...any) func() error {
		return func() error { _, err := arena.Call(nr, args...); return err }
	}
	return []arena.Attempt{
		row("finit-module", "load a module", true, unix.EBADF, raw(unix.SYS_FINIT_MODULE, -1, "", 0)),
		row("init-module", "load a module from memory", true, unix.ENOEXEC, raw(unix.SYS_INIT_MODULE, make([]byte, 64), 64, "")),
		row("delete-module", "remove a module", true, unix.ENOENT, raw(unix.SYS_DELETE_MODULE, "cordon_no_such", unix.O_NONBLOCK)),
		row("kexec", "replace the kernel", true, unix.EBADF, raw(unix.SYS_KEXEC_FILE_LOAD, -1, -1, 1, "", 0)),
		row("reboot", "restart the machine (wrong magic)", true, unix.EINVAL, raw(unix.SYS_REBOOT, 1, 2, 3, nil)),
		row("swapon", "add a swap file that is not there", true, unix.ENOENT, raw(unix.SYS_SWAPON, "/cordon-no-such", 0)),
		row("acct", "record processes to a file that is not there", true, unix.ENOENT, raw(unix.SYS_ACCT, "/cordon-no-such")),
		row("quotactl", "ask for quotas of a device that is not there", true, unix.ENOENT, raw(unix.SYS_QUOTACTL, 0x80000700, "/cordon-no-such", 0, make([]byte, 64))),
		row("keyctl", "ask for a keyring", false, 0, raw(unix.SYS_KEYCTL, 0, -4, 1)),
		row("request-key", "ask for a key", false, unix.ENOKEY, raw(unix.SYS_REQUEST_KEY, "user", "cordon-no-such", nil, 0)),
		row("ptrace-self", "be traced", false, 0, raw(unix.SYS_PTRACE, unix.PTRACE_TRACEME, 0, 0, 0)),
		row("vm-readv-self", "read memory as a debugger", false, 0, raw(unix.SYS_PROCESS_VM_READV, os.Getpid(), nil, 0, nil, 0, 0)),
		row("kcmp", "compare processes", false, 0, raw(unix.SYS_KCMP, os.Getpid(), os.Getpid(), 1, 0, 0)),
		row("name-to-handle", "ask for a file's handle", false, 0, func() error {
			_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, "/usr", 0)
			return err
		}),
	}
}
