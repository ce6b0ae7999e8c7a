package seccomp

import "golang.org/x/sys/unix"

const nativeArch = unix.AUDIT_ARCH_X86_64

// legacy is what only the older architecture has.
var legacy = []rule{
	{"chmod", unix.SYS_CHMOD, unix.EPERM, recorded, setIDMode(1), "makes a set-id file"},
	{"creat", unix.SYS_CREAT, unix.EPERM, recorded, setIDMode(1), "makes a set-id file"},
	{"open", unix.SYS_OPEN, unix.EPERM, recorded, setIDOpen(1, 2), "makes a set-id file"},
	{"mknod", unix.SYS_MKNOD, unix.EPERM, recorded, setIDMode(1), "makes a set-id file"},
	{"mknod", unix.SYS_MKNOD, unix.EPERM, recorded, deviceMode(1), "makes a device, or an overlay's whiteout"},

	{"iopl", unix.SYS_IOPL, unix.EPERM, recorded, always, "talks to hardware"},
	{"ioperm", unix.SYS_IOPERM, unix.EPERM, recorded, always, "talks to hardware"},
	{"modify_ldt", unix.SYS_MODIFY_LDT, unix.EPERM, routine, always, "16-bit segments; a source of escalations"},

	{"uselib", unix.SYS_USELIB, unix.ENOSYS, routine, always, "obsolete: libraries before ELF"},
	{"ustat", unix.SYS_USTAT, unix.ENOSYS, routine, always, "obsolete: file systems by device number"},
	{"sysfs", unix.SYS_SYSFS, unix.ENOSYS, routine, always, "obsolete: names of file systems"},
	{"_sysctl", unix.SYS__SYSCTL, unix.ENOSYS, routine, always, "obsolete: the kernel's settings"},
	{"create_module", unix.SYS_CREATE_MODULE, unix.ENOSYS, routine, always, "obsolete: kernel modules"},
	{"get_kernel_syms", unix.SYS_GET_KERNEL_SYMS, unix.ENOSYS, routine, always, "obsolete: kernel modules"},
	{"query_module", unix.SYS_QUERY_MODULE, unix.ENOSYS, routine, always, "obsolete: kernel modules"},
	{"getpmsg", unix.SYS_GETPMSG, unix.ENOSYS, routine, always, "reserved: only patched kernels answer"},
	{"putpmsg", unix.SYS_PUTPMSG, unix.ENOSYS, routine, always, "reserved: only patched kernels answer"},
	{"afs_syscall", unix.SYS_AFS_SYSCALL, unix.ENOSYS, routine, always, "reserved: only patched kernels answer"},
	{"tuxcall", unix.SYS_TUXCALL, unix.ENOSYS, routine, always, "reserved: only patched kernels answer"},
	{"security", unix.SYS_SECURITY, unix.ENOSYS, routine, always, "reserved: only patched kernels answer"},
	{"vserver", unix.SYS_VSERVER, unix.ENOSYS, routine, always, "reserved: only patched kernels answer"},
	{"epoll_ctl_old", unix.SYS_EPOLL_CTL_OLD, unix.ENOSYS, routine, always, "reserved: only patched kernels answer"},
	{"epoll_wait_old", unix.SYS_EPOLL_WAIT_OLD, unix.ENOSYS, routine, always, "reserved: only patched kernels answer"},
}
