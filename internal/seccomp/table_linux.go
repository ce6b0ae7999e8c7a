//go:build amd64 || arm64

package seccomp

import (
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// newest is the last call that was judged for this table. Whoever raises it has
// read about every call in between.
const (
	newest     = unix.SYS_RSEQ_SLICE_YIELD
	newestName = "rseq_slice_yield"
)

// rules is the whole table: first what both architectures have. It is put together
// when somebody asks, which most starts of the program never do.
var rules = sync.OnceValue(func() []rule { return slices.Concat(common, legacy) })

// tracing are the calls with which debuggers, strace and leak detectors look into other
// processes. The kernel asks for the same user and for a process that may be dumped, which
// the first process of a cell is not.
var tracing = []uint32{unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV}

// Errors: EPERM, as the kernel answers who lacks the capability; ENOSYS where
// programs have a fallback for that or the call is obsolete; and what the call
// itself says of an unknown address family.
var common = []rule{
	// What the cell has mounted is the worker's whole world.
	{"mount", unix.SYS_MOUNT, unix.EPERM, recorded, always, "changes what is mounted"},
	{"umount2", unix.SYS_UMOUNT2, unix.EPERM, recorded, always, "uncovers what a mount hides"},
	{"pivot_root", unix.SYS_PIVOT_ROOT, unix.EPERM, recorded, always, "changes the root"},
	{"chroot", unix.SYS_CHROOT, unix.EPERM, recorded, always, "changes the root; a way out of it for who holds a directory outside"},
	{"open_tree", unix.SYS_OPEN_TREE, unix.EPERM, recorded, always, "new mount API: clones a mount"},
	{"open_tree_attr", unix.SYS_OPEN_TREE_ATTR, unix.EPERM, recorded, always, "new mount API: clones a mount with other attributes"},
	{"move_mount", unix.SYS_MOVE_MOUNT, unix.EPERM, recorded, always, "new mount API: attaches a mount"},
	{"fsopen", unix.SYS_FSOPEN, unix.EPERM, recorded, always, "new mount API: a file system from nothing"},
	{"fsconfig", unix.SYS_FSCONFIG, unix.EPERM, recorded, always, "new mount API: parsers of mount options (CVE-2022-0185)"},
	{"fsmount", unix.SYS_FSMOUNT, unix.EPERM, recorded, always, "new mount API: makes the mount"},
	{"fspick", unix.SYS_FSPICK, unix.EPERM, recorded, always, "new mount API: changes an existing file system"},
	{"mount_setattr", unix.SYS_MOUNT_SETATTR, unix.EPERM, recorded, always, "takes read-only off a mount"},
	{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, unix.EPERM, recorded, always, "opens by inode, past every path and mount"},

	// A new user namespace has all capabilities in it, and with them the parts of
	// the kernel where most of its escalations were found.
	{"setns", unix.SYS_SETNS, unix.EPERM, recorded, always, "enters another namespace"},
	{"unshare", unix.SYS_UNSHARE, unix.EPERM, recorded, unshareNew, "makes a namespace, and in it capabilities"},
	{"clone", unix.SYS_CLONE, unix.EPERM, recorded, cloneNew, "makes a namespace, and in it capabilities"},
	{"clone3", unix.SYS_CLONE3, unix.ENOSYS, routine, always, "its flags are in memory; every libc falls back to clone"},

	// What no limit would count.
	{"unshare", unix.SYS_UNSHARE, unix.EPERM, routine, unshareFiles, "gives a thread its own descriptors, which no limit counts"},
	{"clone", unix.SYS_CLONE, unix.EPERM, routine, cloneFiles, "gives a thread its own descriptors, which no limit counts"},
	{"close_range", unix.SYS_CLOSE_RANGE, unix.ENOSYS, routine, closeUnshare, "gives a thread its own descriptors; callers fall back to close"},
	{"memfd_secret", unix.SYS_MEMFD_SECRET, unix.ENOSYS, routine, always, "memory that the kernel counts for nobody"},

	// Other processes, and the kernel's own ways to look into them.
	{"ptrace", unix.SYS_PTRACE, unix.EPERM, recorded, always, "takes over another process"},
	{"process_vm_readv", unix.SYS_PROCESS_VM_READV, unix.EPERM, recorded, always, "reads another process's memory"},
	{"process_vm_writev", unix.SYS_PROCESS_VM_WRITEV, unix.EPERM, recorded, always, "writes another process's memory"},
	{"process_madvise", unix.SYS_PROCESS_MADVISE, unix.EPERM, routine, always, "changes another process's memory"},
	{"pidfd_getfd", unix.SYS_PIDFD_GETFD, unix.EPERM, recorded, always, "takes another process's descriptor"},
	{"kcmp", unix.SYS_KCMP, unix.EPERM, routine, always, "compares kernel addresses of two processes"},
	{"migrate_pages", unix.SYS_MIGRATE_PAGES, unix.EPERM, routine, always, "moves another process's memory"},
	{"move_pages", unix.SYS_MOVE_PAGES, unix.EPERM, routine, always, "moves another process's memory"},

	// Large interfaces with a long list of holes, which programs can do without.
	{"io_uring_setup", unix.SYS_IO_URING_SETUP, unix.ENOSYS, recorded, always, "makes calls that no filter sees"},
	{"io_uring_enter", unix.SYS_IO_URING_ENTER, unix.ENOSYS, routine, always, "makes calls that no filter sees"},
	{"io_uring_register", unix.SYS_IO_URING_REGISTER, unix.ENOSYS, routine, always, "makes calls that no filter sees"},
	{"bpf", unix.SYS_BPF, unix.EPERM, recorded, always, "runs programs in the kernel"},
	{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, unix.EPERM, recorded, always, "measures the kernel and its neighbours"},
	{"userfaultfd", unix.SYS_USERFAULTFD, unix.EPERM, recorded, always, "stops the kernel in the middle of a copy, which makes races certain"},
	{"fanotify_init", unix.SYS_FANOTIFY_INIT, unix.EPERM, routine, always, "watches whole file systems"},
	{"add_key", unix.SYS_ADD_KEY, unix.EPERM, recorded, always, "keyrings have no namespace"},
	{"keyctl", unix.SYS_KEYCTL, unix.EPERM, recorded, always, "keyrings have no namespace"},
	{"request_key", unix.SYS_REQUEST_KEY, unix.EPERM, recorded, always, "keyrings have no namespace, and the kernel starts a helper outside"},

	// The machine.
	{"kexec_load", unix.SYS_KEXEC_LOAD, unix.EPERM, recorded, always, "loads another kernel"},
	{"kexec_file_load", unix.SYS_KEXEC_FILE_LOAD, unix.EPERM, recorded, always, "loads another kernel"},
	{"init_module", unix.SYS_INIT_MODULE, unix.EPERM, recorded, always, "loads kernel code"},
	{"finit_module", unix.SYS_FINIT_MODULE, unix.EPERM, recorded, always, "loads kernel code"},
	{"delete_module", unix.SYS_DELETE_MODULE, unix.EPERM, recorded, always, "unloads kernel code"},
	{"reboot", unix.SYS_REBOOT, unix.EPERM, recorded, always, "stops the machine"},
	{"acct", unix.SYS_ACCT, unix.EPERM, recorded, always, "makes the kernel write a file"},
	{"quotactl", unix.SYS_QUOTACTL, unix.EPERM, routine, always, "changes a file system's quotas"},
	{"quotactl_fd", unix.SYS_QUOTACTL_FD, unix.EPERM, routine, always, "changes a file system's quotas"},
	{"syslog", unix.SYS_SYSLOG, unix.EPERM, recorded, always, "reads the kernel's log, and addresses in it"},
	{"settimeofday", unix.SYS_SETTIMEOFDAY, unix.EPERM, recorded, always, "sets the clock"},
	{"clock_settime", unix.SYS_CLOCK_SETTIME, unix.EPERM, recorded, always, "sets the clock"},
	{"clock_adjtime", unix.SYS_CLOCK_ADJTIME, unix.EPERM, routine, always, "sets the clock; whether it only reads is in memory"},
	{"adjtimex", unix.SYS_ADJTIMEX, unix.EPERM, routine, always, "sets the clock; whether it only reads is in memory"},
	{"swapon", unix.SYS_SWAPON, unix.EPERM, recorded, always, "reads and writes memory through a file"},
	{"swapoff", unix.SYS_SWAPOFF, unix.EPERM, recorded, always, "takes memory from the machine"},
	{"vhangup", unix.SYS_VHANGUP, unix.EPERM, routine, always, "hangs up a terminal"},
	{"prlimit64", unix.SYS_PRLIMIT64, unix.EPERM, recorded, otherProcess, "changes the limits of another process, the one that watches the cell among them"},
	{"personality", unix.SYS_PERSONALITY, unix.EPERM, routine, oddPersonality, "old ABIs weaken memory protection and are little tested"},

	// Terminals: input for whoever reads the other end.
	{"ioctl", unix.SYS_IOCTL, unix.EPERM, recorded, terminalTricks, "types into a terminal, or loads a line discipline"},

	// Families and transports that are not bound to a network namespace, or are
	// only there to be exploited.
	{"socket", unix.SYS_SOCKET, unix.EAFNOSUPPORT, recorded, oddFamily, "vsock leaves the network namespace; the others are rare kernel code"},
	{"socket", unix.SYS_SOCKET, unix.EAFNOSUPPORT, routine, oddNetlink, "only routes are asked for by ordinary programs"},
	{"socket", unix.SYS_SOCKET, unix.EPERM, recorded, oddType, "raw packets and rare transports"},
	{"socket", unix.SYS_SOCKET, unix.EPROTONOSUPPORT, routine, oddProtocol, "loads rare transports into the kernel"},
	{"socketpair", unix.SYS_SOCKETPAIR, unix.EAFNOSUPPORT, recorded, oddFamily, "as socket"},
	{"socketpair", unix.SYS_SOCKETPAIR, unix.EAFNOSUPPORT, routine, oddNetlink, "as socket"},

	// A set-id file in the worktree is a trap for whoever runs it outside. mkdir
	// is not here: the kernel takes these bits out of its mode.
	{"fchmod", unix.SYS_FCHMOD, unix.EPERM, recorded, setIDMode(1), "makes a set-id file"},
	{"fchmodat", unix.SYS_FCHMODAT, unix.EPERM, recorded, setIDMode(2), "makes a set-id file"},
	{"fchmodat2", unix.SYS_FCHMODAT2, unix.EPERM, recorded, setIDMode(2), "makes a set-id file"},
	{"openat", unix.SYS_OPENAT, unix.EPERM, recorded, setIDOpen(2, 3), "makes a set-id file"},
	{"openat2", unix.SYS_OPENAT2, unix.ENOSYS, routine, always, "its mode is in memory; callers fall back to openat"},
	{"mknodat", unix.SYS_MKNODAT, unix.EPERM, recorded, setIDMode(2), "makes a set-id file"},
	{"mknodat", unix.SYS_MKNODAT, unix.EPERM, recorded, deviceMode(2), "makes a device, or an overlay's whiteout"},

	// Obsolete: nothing that runs today needs them.
	{"lookup_dcookie", unix.SYS_LOOKUP_DCOOKIE, unix.ENOSYS, routine, always, "obsolete: paths of other processes"},
	{"nfsservctl", unix.SYS_NFSSERVCTL, unix.ENOSYS, routine, always, "obsolete: the kernel's NFS server"},
}
