package escape

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// syscalls are attempts through the 32-bit and x32 entrances of the kernel, which
// a filter forgets at its peril, and through calls that no worker needs.
func syscalls() []Attempt {
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
	return uintptr(address(m)), nil
}

func otherEntrances() []Attempt {
	row := func(name, what string, prepare func(*Fixture) error, judge func(*Fixture) (string, error), attack func(*Arena) error) Attempt {
		return Attempt{Name: "int80-" + name, What: what + ", through the 32-bit entrance", Safe: true, attempt: attempt{
			prepare: func(f *Fixture) error {
				if !hasInt80 {
					return errors.New("this processor has no 32-bit entrance")
				}
				if prepare != nil {
					return prepare(f)
				}
				return nil
			}, judge: judge, attack: attack,
		}}
	}
	mount := row("mount", "mount something", nil, nil, func(a *Arena) error {
		_, err := call80(i386Mount, "x", a.in("dir"), "tmpfs", 0, 0)
		return err
	})
	mount.Root, mount.alone = true, true
	return []Attempt{
		mount,
		row("getpid", "be answered", nil, obtains("answered"), func(a *Arena) error {
			pid, err := call80(i386Getpid)
			if err != nil || int(pid) != os.Getpid() {
				return fmt.Errorf("no answer: %d, %w", pid, err)
			}
			return a.leak([]byte("answered"))
		}),
		row("write", "write a file outside", nil, nil, func(a *Arena) error {
			fd, err := call80(i386Open, a.out("file"), unix.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = call80(i386Write, int(fd), a.Mark, len(a.Mark))
			return err
		}),
		row("truncate", "truncate a file outside", nil, nil, func(a *Arena) error { _, err := call80(i386Truncate, a.out("file"), 0); return err }),
		row("chmod", "change a mode outside", nil, nil, func(a *Arena) error { _, err := call80(i386Chmod, a.out("file"), 0o777); return err }),
		row("unlink", "remove a file outside", nil, nil, func(a *Arena) error { _, err := call80(i386Unlink, a.out("file")); return err }),
		row("rename", "move a file out", nil, nil, func(a *Arena) error { _, err := call80(i386Rename, a.in("own"), a.out("file")); return err }),
		row("kill", "kill a host process", startVictim, dead, func(a *Arena) error {
			_, err := call80(i386Kill, a.number("victim"), int(unix.SIGKILL))
			return err
		}),
		row("ptrace", "seize a host process", startVictim, obtains("seized"), onThread(func(a *Arena) error {
			const seize = 0x4206
			if _, err := call80(i386Ptrace, seize, a.number("victim"), 0, 0); err != nil {
				return err
			}
			return a.leak([]byte("seized"))
		})),
		row("unix", "speak to a unix socket of the host", listenAt("stream", "outside/sock"), told, func(a *Arena) error {
			name := append(words(uint16(unix.AF_UNIX)), a.Args["socket"]...)
			return a.socketcall(unix.AF_UNIX, append(name, 0))
		}),
		row("tcp", "connect to a server of the host", listenTCP("127.0.0.1:0"), told, func(a *Arena) error {
			to, err := netip.ParseAddrPort(a.Args["address"])
			if err != nil {
				return err
			}
			ip := to.Addr().As4()
			name := append(words(uint16(unix.AF_INET)), byte(to.Port()>>8), byte(to.Port()))
			return a.socketcall(unix.AF_INET, append(append(name, ip[:]...), make([]byte, 8)...))
		}),
		row("setuid", "leave a setuid program in the tree", nil, func(f *Fixture) (string, error) {
			st, err := os.Lstat(f.in("own"))
			if err == nil && st.Mode()&os.ModeSetuid != 0 {
				return "a file of the tree is setuid", nil
			}
			return "", err
		}, func(a *Arena) error { _, err := call80(i386Chmod, a.in("own"), 0o4755); return err }),
		{Name: "x32-getpid", What: "be answered through the x32 entrance", Safe: true, attempt: attempt{
			judge: obtains("answered"),
			attack: func(a *Arena) error {
				pid, err := call(x32|unix.SYS_GETPID, 0)
				if err != nil || int(pid) != os.Getpid() {
					return fmt.Errorf("no answer: %d, %w", int(pid), err)
				}
				return a.leak([]byte("answered"))
			},
		}},
		{Name: "x32-chmod", What: "change a mode outside through the x32 entrance", Safe: true, attempt: attempt{
			attack: func(a *Arena) error {
				_, err := call(x32|unix.SYS_FCHMODAT, unix.AT_FDCWD, a.out("file"), 0o777)
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
func (a *Arena) socketcall(family int, name []byte) error {
	const socket, connect, send = 1, 3, 9
	fd, err := call80(i386Socketcall, socket, words(uint32(family), unix.SOCK_STREAM, 0))
	if err != nil {
		return err
	}
	at, err := low(name)
	if err != nil {
		return err
	}
	if _, err := call80(i386Socketcall, connect, words(uint32(fd), uint32(at), uint32(len(name)))); err != nil {
		return err
	}
	text, err := low([]byte(a.Mark))
	if err != nil {
		return err
	}
	_, err = call80(i386Socketcall, send, words(uint32(fd), uint32(text), uint32(len(a.Mark)), 0))
	return err
}

// onThread runs an attack on one thread: a debugger is a thread, not a process.
func onThread(attack func(*Arena) error) func(*Arena) error {
	return func(a *Arena) error {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return attack(a)
	}
}

// surface are calls with a long history of holes. The prize is the kernel's
// consent: a descriptor whose name only the kernel can have given.
func surface() []Attempt {
	descriptor := func(name, what, kind string, root bool, open func() (uintptr, error)) Attempt {
		return Attempt{Name: name, What: what, Safe: true, Root: root, attempt: attempt{
			judge: obtains(kind),
			attack: func(a *Arena) error {
				fd, err := open()
				if err != nil {
					return err
				}
				to, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(fd)))
				if err != nil {
					return err
				}
				return a.leak([]byte(to))
			},
		}}
	}
	return []Attempt{
		descriptor("io-uring", "set up a ring", "io_uring", false, func() (uintptr, error) {
			return call(unix.SYS_IO_URING_SETUP, 4, make([]byte, 120))
		}),
		descriptor("bpf", "load something into the kernel", "bpf-map", true, func() (uintptr, error) {
			return call(unix.SYS_BPF, 0, append(words(uint32(2), 4, 4, 1), make([]byte, 100)...), 72)
		}),
		descriptor("perf", "measure with performance counters", "perf_event", false, func() (uintptr, error) {
			attr := &unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Size: unix.PERF_ATTR_SIZE_VER7, Config: unix.PERF_COUNT_SW_TASK_CLOCK, Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
			fd, err := unix.PerfEventOpen(attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
			return uintptr(fd), err
		}),
		descriptor("userfaultfd", "answer page faults", "userfaultfd", false, func() (uintptr, error) {
			const userModeOnly = 1
			return call(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|userModeOnly)
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
			return call(unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW, 0)
		}),
		descriptor("vsock", "open a socket to the hypervisor", "socket:", false, func() (uintptr, error) {
			return call(unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0)
		}),
		descriptor("alg", "open a socket to the kernel's ciphers", "socket:", false, func() (uintptr, error) {
			return call(unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_SEQPACKET, 0)
		}),
		descriptor("netlink-audit", "open a socket to the audit system", "socket:", false, func() (uintptr, error) {
			return call(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT)
		}),
		descriptor("netlink-uevent", "open a socket to device events", "socket:", false, func() (uintptr, error) {
			return call(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT)
		}),
	}
}

// privileged are calls with arguments that do nothing, refused for being made at
// all. A kernel that looks at the arguments has let the caller through.
func privileged() []Attempt {
	row := func(name, what string, root bool, reached unix.Errno, act func() error) Attempt {
		return Attempt{Name: name, What: what, Safe: true, Root: root, attempt: attempt{
			judge: obtains("the kernel looked at the arguments"),
			attack: func(a *Arena) error {
				if err := act(); reached == 0 && err != nil || reached != 0 && !errors.Is(err, reached) {
					return err
				}
				return a.leak([]byte("the kernel looked at the arguments"))
			},
		}}
	}
	raw := func(nr uintptr, args ...any) func() error {
		return func() error { _, err := call(nr, args...); return err }
	}
	return []Attempt{
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
