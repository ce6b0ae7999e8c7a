package testkernel

import "golang.org/x/sys/unix"

// Kernel is what a version of Linux does not have.
type Kernel struct {
	Name     string
	last     uint32   // the last system call that it has
	without  []uint32 // others that it has not
	landlock int      // the version of its Landlock
	flags    []refusal
}

// refusal is a call that is refused, with any of some flags or always.
type refusal struct {
	call  uint32
	arg   int
	flags uint32 // 0: whatever the arguments are
	errno unix.Errno
}

// since says with which version a flag came, as major*100+minor.
type since struct {
	version int
	refusal
}

// flagsOf are flags that cordon, git or Go could ask for, with the version that
// brought them and what older kernels answer.
var flagsOf = []since{
	{519, refusal{unix.SYS_SECCOMP, 1, unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, unix.EINVAL}},
	{603, refusal{unix.SYS_MEMFD_CREATE, 1, unix.MFD_EXEC | unix.MFD_NOEXEC_SEAL, unix.EINVAL}},
	{605, refusal{unix.SYS_MOVE_MOUNT, 4, 0x200, unix.EINVAL}},                // MOVE_MOUNT_BENEATH
	{606, refusal{unix.SYS_FSETXATTR, 4, unix.XATTR_CREATE, unix.EOPNOTSUPP}}, // on a tmpfs, which is where cordon asks so
	{607, refusal{unix.SYS_LANDLOCK_ADD_RULE, 1, 2, unix.EINVAL}},             // LANDLOCK_RULE_NET_PORT
	{609, refusal{unix.SYS_PIDFD_OPEN, 1, unix.PIDFD_THREAD, unix.EINVAL}},
	{615, refusal{unix.SYS_LANDLOCK_RESTRICT_SELF, 1, ^uint32(0), unix.EINVAL}},
}

// Kernels are the versions that are emulated. Numbers of system calls are the same
// on every architecture from 424 on.
var Kernels = []Kernel{
	{Name: "5.10", last: 440},                                      // before mount_setattr
	{Name: "5.12", last: 442},                                      // before Landlock
	{Name: "5.13", last: 446, without: []uint32{443}, landlock: 1}, // the oldest that cordon runs on
	{Name: "5.15", last: 448, landlock: 1},
	{Name: "6.1", last: 450, landlock: 2},
}

// versions are the numbers of the names.
var versions = map[string]int{"5.10": 510, "5.12": 512, "5.13": 513, "5.15": 515, "6.1": 601}

// Docker is no kernel but refuses keyctl, as the default profile of Docker does.
var Docker = Kernel{Name: "docker", last: ^uint32(0), flags: []refusal{{call: unix.SYS_KEYCTL, errno: unix.EPERM}}}

// find is the kernel of a name.
func find(name string) (Kernel, bool) {
	if name == Docker.Name {
		return Docker, true
	}
	for _, k := range Kernels {
		if k.Name != name {
			continue
		}
		for _, f := range flagsOf {
			if versions[name] < f.version {
				k.flags = append(k.flags, f.refusal)
			}
		}
		return k, true
	}
	return Kernel{}, false
}
