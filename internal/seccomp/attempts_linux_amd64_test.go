package seccomp

import "golang.org/x/sys/unix"

// x32 is the bit that makes a number one of the x32 ABI.
const x32 = 0x40000000

func archAttempts() []attempt {
	const create = unix.O_CREAT | unix.O_WRONLY | unix.O_CLOEXEC
	return []attempt{
		{"chmod u+s", unix.SYS_CHMOD, unix.EPERM, []uintptr{text("file"), 0o4755}},
		{"creat u+s", unix.SYS_CREAT, unix.EPERM, []uintptr{text("o"), 0o4755}},
		{"open g+s", unix.SYS_OPEN, unix.EPERM, []uintptr{text("p"), create, 0o2755}},
		{"open nameless u+s", unix.SYS_OPEN, unix.EPERM, []uintptr{text("."), unix.O_TMPFILE | unix.O_WRONLY, 0o4755}},
		{"mknod u+s", unix.SYS_MKNOD, unix.EPERM, []uintptr{text("q"), 0o4755}},
		{"mknod whiteout", unix.SYS_MKNOD, unix.EPERM, []uintptr{text("r"), unix.S_IFCHR}},
		{"chmod", unix.SYS_CHMOD, 0, []uintptr{text("file"), 0o755}},
		{"creat", unix.SYS_CREAT, 0, []uintptr{text("s"), 0o755}},
		{"open, garbage as mode", unix.SYS_OPEN, 0, []uintptr{text("."), unix.O_DIRECTORY, 0o7777}},
		{"mknod", unix.SYS_MKNOD, 0, []uintptr{text("t"), 0o644}},

		{"iopl", unix.SYS_IOPL, unix.EPERM, []uintptr{0}},
		{"ioperm", unix.SYS_IOPERM, unix.EPERM, []uintptr{0, 1, 0}},
		{"modify_ldt", unix.SYS_MODIFY_LDT, unix.EPERM, []uintptr{0, bad, 0}},
		{"uselib", unix.SYS_USELIB, unix.ENOSYS, []uintptr{bad}},
		{"ustat", unix.SYS_USTAT, unix.ENOSYS, []uintptr{0, bad}},
		{"sysfs", unix.SYS_SYSFS, unix.ENOSYS, []uintptr{3}},
		{"_sysctl", unix.SYS__SYSCTL, unix.ENOSYS, []uintptr{bad}},
		{"create_module", unix.SYS_CREATE_MODULE, unix.ENOSYS, nil},
		{"get_kernel_syms", unix.SYS_GET_KERNEL_SYMS, unix.ENOSYS, nil},
		{"query_module", unix.SYS_QUERY_MODULE, unix.ENOSYS, nil},
		{"getpmsg", unix.SYS_GETPMSG, unix.ENOSYS, nil},
		{"putpmsg", unix.SYS_PUTPMSG, unix.ENOSYS, nil},
		{"afs_syscall", unix.SYS_AFS_SYSCALL, unix.ENOSYS, nil},
		{"tuxcall", unix.SYS_TUXCALL, unix.ENOSYS, nil},
		{"security", unix.SYS_SECURITY, unix.ENOSYS, nil},
		{"vserver", unix.SYS_VSERVER, unix.ENOSYS, nil},
		{"epoll_ctl_old", unix.SYS_EPOLL_CTL_OLD, unix.ENOSYS, nil},
		{"epoll_wait_old", unix.SYS_EPOLL_WAIT_OLD, unix.ENOSYS, nil},

		{"x32 getpid", x32 | unix.SYS_GETPID, unix.ENOSYS, nil},
		{"x32 mount", x32 | unix.SYS_MOUNT, unix.ENOSYS, []uintptr{bad, bad, bad}},
		{"x32 ptrace by its own number", x32 | 521, unix.ENOSYS, []uintptr{unix.PTRACE_ATTACH, none}},
		{"x32 number without the bit", 521, unix.ENOSYS, []uintptr{unix.PTRACE_ATTACH, none}},
	}
}
