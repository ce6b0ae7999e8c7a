//go:build amd64 || arm64

package seccomp

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An attempt is one call as an attacker, or an ordinary program, makes it.
type attempt struct {
	name string
	nr   uintptr
	want unix.Errno // 0: the filter must not change what the kernel says
	args []uintptr
}

// bad is a pointer to nothing: without the filter the kernel looks at the call
// and answers EFAULT, and nothing happens to the machine that runs the test.
const bad = 1

const none = ^uintptr(0) // descriptor or process -1

// garbage is in the half of an argument that the kernel does not look at.
const garbage = 0x5a5a5a5a << 32

// cwd is AT_FDCWD as a register has it.
const cwd = ^uintptr(99)

// kept are the strings and buffers that attempts point to.
var kept []any

func pointer[T any](v T) uintptr {
	p := new(T)
	*p = v
	kept = append(kept, p)
	return uintptr(unsafe.Pointer(p))
}

func text(s string) uintptr {
	p, err := unix.BytePtrFromString(s)
	if err != nil {
		panic(err)
	}
	kept = append(kept, p)
	return uintptr(unsafe.Pointer(p))
}

// try makes the call, on a thread that nobody uses afterwards: a personality or a
// namespace that was not refused dies with it.
func (a attempt) try() unix.Errno {
	answer := make(chan unix.Errno)
	go func() {
		runtime.LockOSThread()
		var args [6]uintptr
		copy(args[:], a.args)
		if a.nr == unix.SYS_CLONE {
			answer <- fork(args)
			return
		}
		_, _, errno := unix.Syscall6(a.nr, args[0], args[1], args[2], args[3], args[4], args[5])
		answer <- errno
	}()
	return <-answer
}

// fork has a child that ends at once, as it shares nothing with this process but
// its memory's content.
func fork(args [6]uintptr) unix.Errno {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, args[0], args[1], args[2], args[3], args[4], args[5])
	if errno == 0 && pid == 0 {
		for {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	if errno == 0 {
		unix.Wait4(int(pid), nil, unix.WALL, nil)
	}
	return errno
}

// attempts needs the current directory for itself. The descriptors it opens are
// for the attempts.
func attempts() ([]attempt, error) {
	file, err := os.Create("file")
	if err != nil {
		return nil, err
	}
	terminal, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	kept = append(kept, file)
	fd := file.Fd()
	var list []attempt
	for _, part := range [][]attempt{
		plainAttempts(), namespaceAttempts(), socketAttempts(), modeAttempts(fd), terminalAttempts(uintptr(terminal), uintptr(pipe[0])),
		ordinaryAttempts(), archAttempts(),
	} {
		list = append(list, part...)
	}
	return list, nil
}

// plainAttempts are of calls that are always refused.
func plainAttempts() []attempt {
	self := uintptr(os.Getpid())
	return []attempt{
		{"mount", unix.SYS_MOUNT, unix.EPERM, []uintptr{bad, bad, bad}},
		{"umount2", unix.SYS_UMOUNT2, unix.EPERM, []uintptr{bad}},
		{"pivot_root", unix.SYS_PIVOT_ROOT, unix.EPERM, []uintptr{bad, bad}},
		{"chroot", unix.SYS_CHROOT, unix.EPERM, []uintptr{bad}},
		{"open_tree", unix.SYS_OPEN_TREE, unix.EPERM, []uintptr{cwd, text(".")}},
		{"open_tree_attr", unix.SYS_OPEN_TREE_ATTR, unix.EPERM, []uintptr{cwd, text(".")}},
		{"move_mount", unix.SYS_MOVE_MOUNT, unix.EPERM, []uintptr{none, bad, none, bad}},
		{"fsopen", unix.SYS_FSOPEN, unix.EPERM, []uintptr{bad}},
		{"fsconfig", unix.SYS_FSCONFIG, unix.EPERM, []uintptr{none}},
		{"fsmount", unix.SYS_FSMOUNT, unix.EPERM, []uintptr{none}},
		{"fspick", unix.SYS_FSPICK, unix.EPERM, []uintptr{none, bad}},
		{"mount_setattr", unix.SYS_MOUNT_SETATTR, unix.EPERM, []uintptr{none, bad, 0, bad, 32}},
		{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, unix.EPERM, []uintptr{none, bad}},
		{"setns", unix.SYS_SETNS, unix.EPERM, []uintptr{none}},
		{"clone3", unix.SYS_CLONE3, unix.ENOSYS, []uintptr{bad, 88}},
		{"ptrace", unix.SYS_PTRACE, unix.EPERM, []uintptr{unix.PTRACE_ATTACH, none}},
		{"process_vm_readv", unix.SYS_PROCESS_VM_READV, unix.EPERM, []uintptr{self}},
		{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, unix.EPERM, []uintptr{self}},
		{"process_madvise", unix.SYS_PROCESS_MADVISE, unix.EPERM, []uintptr{none}},
		{"pidfd_getfd", unix.SYS_PIDFD_GETFD, unix.EPERM, []uintptr{none}},
		{"kcmp", unix.SYS_KCMP, unix.EPERM, []uintptr{self, self, 1}},
		{"migrate_pages", unix.SYS_MIGRATE_PAGES, unix.EPERM, nil},
		{"move_pages", unix.SYS_MOVE_PAGES, unix.EPERM, nil},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, unix.ENOSYS, []uintptr{1, bad}},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER, unix.ENOSYS, []uintptr{none}},
		{"io_uring_register", unix.SYS_IO_URING_REGISTER, unix.ENOSYS, []uintptr{none}},
		{"bpf", unix.SYS_BPF, unix.EPERM, []uintptr{0, bad, 64}},
		{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, unix.EPERM, []uintptr{bad}},
		{"userfaultfd", unix.SYS_USERFAULTFD, unix.EPERM, []uintptr{1}}, // user mode only: nobody needs a privilege
		{"fanotify_init", unix.SYS_FANOTIFY_INIT, unix.EPERM, []uintptr{unix.FAN_REPORT_FID}},
		{"add_key", unix.SYS_ADD_KEY, unix.EPERM, []uintptr{bad}},
		{"keyctl", unix.SYS_KEYCTL, unix.EPERM, []uintptr{unix.KEYCTL_GET_KEYRING_ID, none - 2}},
		{"request_key", unix.SYS_REQUEST_KEY, unix.EPERM, []uintptr{bad}},
		{"kexec_load", unix.SYS_KEXEC_LOAD, unix.EPERM, []uintptr{0, 17, bad}}, // one segment too many
		{"kexec_file_load", unix.SYS_KEXEC_FILE_LOAD, unix.EPERM, []uintptr{none, none}},
		{"init_module", unix.SYS_INIT_MODULE, unix.EPERM, []uintptr{bad, 0, bad}},
		{"finit_module", unix.SYS_FINIT_MODULE, unix.EPERM, []uintptr{none, bad}},
		{"delete_module", unix.SYS_DELETE_MODULE, unix.EPERM, []uintptr{bad}},
		{"reboot", unix.SYS_REBOOT, unix.EPERM, nil}, // without its magic numbers
		{"acct", unix.SYS_ACCT, unix.EPERM, []uintptr{bad}},
		{"quotactl", unix.SYS_QUOTACTL, unix.EPERM, []uintptr{0x80000400, bad}},
		{"quotactl_fd", unix.SYS_QUOTACTL_FD, unix.EPERM, []uintptr{none}},
		{"syslog", unix.SYS_SYSLOG, unix.EPERM, []uintptr{99}},
		{"settimeofday", unix.SYS_SETTIMEOFDAY, unix.EPERM, []uintptr{bad}},
		{"clock_settime", unix.SYS_CLOCK_SETTIME, unix.EPERM, []uintptr{0, bad}},
		{"clock_adjtime", unix.SYS_CLOCK_ADJTIME, unix.EPERM, []uintptr{0, bad}},
		{"adjtimex", unix.SYS_ADJTIMEX, unix.EPERM, []uintptr{bad}},
		{"swapon", unix.SYS_SWAPON, unix.EPERM, []uintptr{bad}},
		{"swapoff", unix.SYS_SWAPOFF, unix.EPERM, []uintptr{bad}},
		{"memfd_secret", unix.SYS_MEMFD_SECRET, unix.ENOSYS, []uintptr{0}},
		{"close_range unshare", unix.SYS_CLOSE_RANGE, unix.ENOSYS, []uintptr{1 << 20, 1 << 20, unix.CLOSE_RANGE_UNSHARE}},
		{"close_range unshare, garbage above", unix.SYS_CLOSE_RANGE, unix.ENOSYS, []uintptr{1 << 20, 1 << 20, unix.CLOSE_RANGE_UNSHARE | garbage}},
		{"vhangup", unix.SYS_VHANGUP, unix.EPERM, nil}, // the session has no terminal
		{"lookup_dcookie", unix.SYS_LOOKUP_DCOOKIE, unix.ENOSYS, []uintptr{0, bad}},
		{"nfsservctl", unix.SYS_NFSSERVCTL, unix.ENOSYS, nil},
		{"openat2", unix.SYS_OPENAT2, unix.ENOSYS, []uintptr{cwd, text("."), pointer([3]uint64{}), 24}},
		{"prlimit64 by number", unix.SYS_PRLIMIT64, unix.EPERM, []uintptr{1, unix.RLIMIT_CORE, 0, 0}},
		{"personality READ_IMPLIES_EXEC", unix.SYS_PERSONALITY, unix.EPERM, []uintptr{0x400000}},
		{"personality, garbage above", unix.SYS_PERSONALITY, unix.EPERM, []uintptr{0x400000 | garbage}},
		{"a call after the newest", newest + 1, unix.ENOSYS, nil},
		{"call -1", 0xffffffff, unix.ENOSYS, nil},
	}
}

func namespaceAttempts() []attempt {
	var list []attempt
	for name, bit := range map[string]uintptr{
		"mount": unix.CLONE_NEWNS, "cgroup": unix.CLONE_NEWCGROUP, "uts": unix.CLONE_NEWUTS, "ipc": unix.CLONE_NEWIPC,
		"user": unix.CLONE_NEWUSER, "pid": unix.CLONE_NEWPID, "net": unix.CLONE_NEWNET,
	} {
		list = append(list,
			attempt{"unshare " + name, unix.SYS_UNSHARE, unix.EPERM, []uintptr{bit}},
			attempt{"unshare and more, " + name, unix.SYS_UNSHARE, unix.EPERM, []uintptr{bit | unix.CLONE_FS}},
			attempt{"clone " + name, unix.SYS_CLONE, unix.EPERM, []uintptr{bit | uintptr(unix.SIGCHLD)}},
			attempt{"clone " + name + ", garbage above", unix.SYS_CLONE, unix.EPERM, []uintptr{bit | uintptr(unix.SIGCHLD) | garbage}},
			attempt{"clone user and " + name, unix.SYS_CLONE, unix.EPERM, []uintptr{bit | unix.CLONE_NEWUSER | uintptr(unix.SIGCHLD)}},
		)
	}
	return append(list,
		attempt{"unshare time", unix.SYS_UNSHARE, unix.EPERM, []uintptr{unix.CLONE_NEWTIME}},
		attempt{"unshare, a bit without meaning", unix.SYS_UNSHARE, unix.EPERM, []uintptr{1 << 20}},
		attempt{"unshare descriptors", unix.SYS_UNSHARE, unix.EPERM, []uintptr{unix.CLONE_FILES}},
		attempt{"unshare files", unix.SYS_UNSHARE, 0, []uintptr{unix.CLONE_FS | unix.CLONE_SYSVSEM}},
		// The kernel makes no thread that does not share its memory: it is asked for one in vain.
		attempt{"clone a thread with descriptors of its own", unix.SYS_CLONE, unix.EPERM, []uintptr{unix.CLONE_THREAD}},
		attempt{"clone a thread", unix.SYS_CLONE, 0, []uintptr{unix.CLONE_THREAD | unix.CLONE_FILES}},
		attempt{"clone", unix.SYS_CLONE, 0, []uintptr{uintptr(unix.SIGCHLD)}},
		attempt{"clone, garbage above", unix.SYS_CLONE, 0, []uintptr{uintptr(unix.SIGCHLD) | garbage}},
		// The bit of CLONE_NEWTIME is a part of the signal's number here.
		attempt{"clone with signal 145", unix.SYS_CLONE, 0, []uintptr{unix.CLONE_NEWTIME | uintptr(unix.SIGCHLD)}},
	)
}

func socketAttempts() []attempt {
	const stream, datagram = unix.SOCK_STREAM | unix.SOCK_CLOEXEC, unix.SOCK_DGRAM
	pair := pointer([2]int32{})
	return []attempt{
		{"socket vsock", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_VSOCK, stream}},
		{"socket vsock, garbage above", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_VSOCK | garbage, stream}},
		{"socket alg", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_ALG, unix.SOCK_SEQPACKET}},
		{"socket packet", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_PACKET, datagram}},
		{"socket of no family", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_UNSPEC, datagram}},
		{"socket netfilter", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_NETLINK, datagram, unix.NETLINK_NETFILTER}},
		{"socket uevent, garbage above", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_NETLINK, datagram, unix.NETLINK_KOBJECT_UEVENT | garbage}},
		{"socket raw", unix.SYS_SOCKET, unix.EPERM, []uintptr{unix.AF_INET, unix.SOCK_RAW | unix.SOCK_CLOEXEC, unix.IPPROTO_TCP}},
		{"socket seqpacket", unix.SYS_SOCKET, unix.EPERM, []uintptr{unix.AF_INET6, unix.SOCK_SEQPACKET}},
		{"socket udplite", unix.SYS_SOCKET, unix.EPROTONOSUPPORT, []uintptr{unix.AF_INET, datagram, unix.IPPROTO_UDPLITE}},
		{"socketpair tipc", unix.SYS_SOCKETPAIR, unix.EAFNOSUPPORT, []uintptr{unix.AF_TIPC, unix.SOCK_SEQPACKET, 0, pair}},
		{"socketpair netlink", unix.SYS_SOCKETPAIR, unix.EAFNOSUPPORT, []uintptr{unix.AF_NETLINK, datagram, unix.NETLINK_GENERIC, pair}},
		{"socket unix", unix.SYS_SOCKET, 0, []uintptr{unix.AF_UNIX, stream}},
		{"socket inet", unix.SYS_SOCKET, 0, []uintptr{unix.AF_INET, stream | unix.SOCK_NONBLOCK, unix.IPPROTO_TCP}},
		{"socket mptcp", unix.SYS_SOCKET, unix.EPROTONOSUPPORT, []uintptr{unix.AF_INET, stream, unix.IPPROTO_MPTCP}},
		{"socket inet6", unix.SYS_SOCKET, 0, []uintptr{unix.AF_INET6, datagram}},
		{"socket ping", unix.SYS_SOCKET, 0, []uintptr{unix.AF_INET6, datagram, unix.IPPROTO_ICMPV6}},
		{"socket route", unix.SYS_SOCKET, 0, []uintptr{unix.AF_NETLINK, unix.SOCK_RAW | unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE}},
		{"socketpair unix", unix.SYS_SOCKETPAIR, 0, []uintptr{unix.AF_UNIX, unix.SOCK_SEQPACKET, 0, pair}},
	}
}

func modeAttempts(fd uintptr) []attempt {
	const create, hidden = unix.O_CREAT | unix.O_WRONLY | unix.O_CLOEXEC, unix.O_TMPFILE | unix.O_WRONLY
	return []attempt{
		{"fchmod u+s", unix.SYS_FCHMOD, unix.EPERM, []uintptr{fd, 0o4755}},
		{"fchmod g+s, garbage above", unix.SYS_FCHMOD, unix.EPERM, []uintptr{fd, 0o2755 | garbage}},
		{"fchmodat ug+s", unix.SYS_FCHMODAT, unix.EPERM, []uintptr{cwd, text("file"), 0o6755}},
		{"fchmodat2 u+s", unix.SYS_FCHMODAT2, unix.EPERM, []uintptr{cwd, text("file"), 0o4755}},
		{"openat u+s", unix.SYS_OPENAT, unix.EPERM, []uintptr{cwd, text("a"), create, 0o4755}},
		{"openat u+s, garbage above", unix.SYS_OPENAT, unix.EPERM, []uintptr{cwd, text("b"), create | garbage, 0o4755 | garbage}},
		{"openat nameless u+s", unix.SYS_OPENAT, unix.EPERM, []uintptr{cwd, text("."), hidden, 0o4755}},
		{"mknodat u+s", unix.SYS_MKNODAT, unix.EPERM, []uintptr{cwd, text("c"), unix.S_IFREG | 0o4755}},
		{"mknodat whiteout", unix.SYS_MKNODAT, unix.EPERM, []uintptr{cwd, text("d"), unix.S_IFCHR}},
		{"mknodat block", unix.SYS_MKNODAT, unix.EPERM, []uintptr{none, text("e"), unix.S_IFBLK, 0x701}},
		{"fchmod", unix.SYS_FCHMOD, 0, []uintptr{fd, 0o755}},
		{"fchmodat sticky", unix.SYS_FCHMODAT, 0, []uintptr{cwd, text("."), 0o1777}},
		{"fchmodat2", unix.SYS_FCHMODAT2, 0, []uintptr{cwd, text("file"), 0o600}},
		{"openat, garbage as mode", unix.SYS_OPENAT, 0, []uintptr{cwd, text("."), unix.O_DIRECTORY, 0o7777}},
		{"openat", unix.SYS_OPENAT, 0, []uintptr{cwd, text("f"), create, 0o755}},
		{"openat nameless", unix.SYS_OPENAT, 0, []uintptr{cwd, text("."), hidden, 0o700}},
		{"mknodat fifo", unix.SYS_MKNODAT, 0, []uintptr{cwd, text("g"), unix.S_IFIFO | 0o600}},
		{"mknodat socket", unix.SYS_MKNODAT, 0, []uintptr{cwd, text("h"), unix.S_IFSOCK | 0o600}},
		{"mkdirat, as with garbage", unix.SYS_MKDIRAT, 0, []uintptr{cwd, text("i"), 0o6755}},
	}
}

// terminalAttempts only set the line discipline of a terminal of their own; what
// the other requests would do without the filter depends on who runs the test.
func terminalAttempts(tty, pipe uintptr) []attempt {
	plain := pointer(int32(0))
	return []attempt{
		{"ioctl TIOCSETD", unix.SYS_IOCTL, unix.EPERM, []uintptr{tty, unix.TIOCSETD, plain}},
		{"ioctl TIOCSETD, garbage above", unix.SYS_IOCTL, unix.EPERM, []uintptr{tty, unix.TIOCSETD | garbage, plain}},
		{"ioctl TIOCSTI", unix.SYS_IOCTL, unix.EPERM, []uintptr{none, unix.TIOCSTI, plain}},
		{"ioctl TIOCSTI, a bit above", unix.SYS_IOCTL, unix.EPERM, []uintptr{none, unix.TIOCSTI | 1<<32, plain}},
		{"ioctl TIOCLINUX", unix.SYS_IOCTL, unix.EPERM, []uintptr{none, unix.TIOCLINUX, plain}},
		{"ioctl TIOCLINUX, garbage above", unix.SYS_IOCTL, unix.EPERM, []uintptr{none, unix.TIOCLINUX | garbage, plain}},
		{"ioctl TIOCCONS", unix.SYS_IOCTL, unix.EPERM, []uintptr{none, unix.TIOCCONS}},
		{"ioctl FIONREAD", unix.SYS_IOCTL, 0, []uintptr{pipe, unix.TIOCINQ, plain}},
		{"ioctl TIOCGWINSZ, TIOCSTI above", unix.SYS_IOCTL, 0, []uintptr{tty, unix.TIOCGWINSZ | unix.TIOCSTI<<32, pointer([4]uint16{})}},
	}
}

// ordinaryAttempts are what compilers, runtimes and sandboxes of their own need.
func ordinaryAttempts() []attempt {
	self := uintptr(os.Getpid())
	list := []attempt{
		{"prctl", unix.SYS_PRCTL, 0, []uintptr{unix.PR_GET_DUMPABLE}},
		{"seccomp", unix.SYS_SECCOMP, 0, []uintptr{unix.SECCOMP_GET_ACTION_AVAIL, 0, pointer(uint32(unix.SECCOMP_RET_ERRNO))}},
		{"landlock", unix.SYS_LANDLOCK_CREATE_RULESET, 0, []uintptr{0, 0, 1}},
		{"memfd_create", unix.SYS_MEMFD_CREATE, 0, []uintptr{text("m"), 1}},
		{"pidfd_open", unix.SYS_PIDFD_OPEN, 0, []uintptr{self}},
		{"pidfd_send_signal", unix.SYS_PIDFD_SEND_SIGNAL, 0, []uintptr{none}},
		{"membarrier", unix.SYS_MEMBARRIER, 0, nil},
		{"rseq", unix.SYS_RSEQ, 0, []uintptr{bad}},
		{"statx", unix.SYS_STATX, 0, []uintptr{cwd, text("."), 0, unix.STATX_MODE, pointer([256]byte{})}},
		{"faccessat2", unix.SYS_FACCESSAT2, 0, []uintptr{cwd, text("."), unix.R_OK}},
		{"close_range", unix.SYS_CLOSE_RANGE, 0, []uintptr{1 << 20, 1 << 20, unix.CLOSE_RANGE_CLOEXEC}},
		{"copy_file_range", unix.SYS_COPY_FILE_RANGE, 0, []uintptr{none, 0, none}},
		{"execveat", unix.SYS_EXECVEAT, 0, []uintptr{none, bad}},
		{"name_to_handle_at", unix.SYS_NAME_TO_HANDLE_AT, 0, []uintptr{none, bad}},
		{"epoll_pwait2", unix.SYS_EPOLL_PWAIT2, 0, []uintptr{none}},
		{"futex_waitv", unix.SYS_FUTEX_WAITV, 0, nil},
		{"inotify_init1", unix.SYS_INOTIFY_INIT1, 0, nil},
	}
	for _, p := range []uintptr{0, 0x8, 0x20000, 0x20008, 0x40000, 0xffffffff, 0xffffffff | garbage} {
		list = append(list, attempt{fmt.Sprintf("personality %#x", p), unix.SYS_PERSONALITY, 0, []uintptr{p}})
	}
	return list
}
