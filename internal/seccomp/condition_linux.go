//go:build amd64 || arm64

package seccomp

import "golang.org/x/sys/unix"

// harmlessUnshare is all of unshare that makes no namespace. It lists what is
// allowed, because the other bits mean nothing to unshare only until a kernel
// gives them a meaning.
const harmlessUnshare = unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SYSVSEM |
	unix.CLONE_THREAD | unix.CLONE_SIGHAND | unix.CLONE_VM

// cloneNamespaces lacks CLONE_NEWTIME: in clone that bit is a part of the number
// of the signal sent to the parent, and only unshare and clone3 know it.
const cloneNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

var (
	unshareNew = condition{"with any flag but those that make no namespace", []test{has(0, ^uint32(harmlessUnshare))}}
	cloneNew   = condition{"with a flag that makes a namespace", []test{has(0, cloneNamespaces)}}
)

// Where no control group counts, package limit looks at the descriptors of one thread of
// each process: all threads have to share them.
var (
	unshareFiles = condition{"with CLONE_FILES", []test{has(0, unix.CLONE_FILES)}}
	cloneFiles   = condition{"with CLONE_THREAD and without CLONE_FILES",
		[]test{is(0, unix.CLONE_THREAD).under(unix.CLONE_THREAD | unix.CLONE_FILES)}}
	closeUnshare = condition{"with CLOSE_RANGE_UNSHARE", []test{has(2, unix.CLOSE_RANGE_UNSHARE)}}
)

// oddPersonality allows what container runtimes do: Linux, 32-bit names, the
// version number 2.6, both, and the question; and no address randomisation,
// which debuggers and sanitizers turn off for a program of their own.
var oddPersonality = condition{"with anything but the common values",
	[]test{isNot(0, 0x0, 0x8, 0x20000, 0x20008, 0x40000, 0xffffffff)}}

// otherProcess: the number is not 0, which is the caller itself.
var otherProcess = condition{"of another process, or of its own by number", []test{isNot(0, 0)}}

var terminalTricks = condition{"TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS",
	[]test{is(1, unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCSETD, unix.TIOCCONS)}}

var internet = is(0, unix.AF_INET, unix.AF_INET6)

// sockType is where the type of a socket is: flags are above it.
const sockType = 0xf

var (
	oddFamily = condition{"of any family but unix, inet, inet6 and netlink",
		[]test{isNot(0, unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)}}
	oddNetlink = condition{"netlink other than route",
		[]test{is(0, unix.AF_NETLINK), isNot(2, unix.NETLINK_ROUTE)}}
	oddType = condition{"inet and inet6 other than stream and datagram",
		[]test{internet, isNot(1, unix.SOCK_STREAM, unix.SOCK_DGRAM).under(sockType)}}
	// Ping without privileges is an ICMP datagram socket. Landlock's rules for TCP
	// know nothing of Multipath TCP; programs that try it, as Go does, go on without.
	oddProtocol = condition{"inet and inet6 other than TCP, UDP and ICMP",
		[]test{internet, isNot(2, unix.IPPROTO_IP, unix.IPPROTO_TCP, unix.IPPROTO_UDP,
			unix.IPPROTO_ICMP, unix.IPPROTO_ICMPV6)}}
)

const setID = unix.S_ISUID | unix.S_ISGID

// setIDMode: the argument is a mode with a set-id bit.
func setIDMode(arg int) condition {
	return condition{"with a set-user-id or set-group-id bit in the mode", []test{has(arg, setID)}}
}

// setIDOpen also looks at the flags: without these the kernel ignores the mode,
// and a libc may leave anything in its register.
func setIDOpen(flags, mode int) condition {
	const makes = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY
	return condition{"creating, with a set-user-id or set-group-id bit in the mode",
		[]test{has(flags, makes), has(mode, setID)}}
}

// deviceMode: of the kinds that mknod makes, only character and block devices
// have this bit.
func deviceMode(arg int) condition {
	return condition{"a character or block device", []test{has(arg, unix.S_IFCHR)}}
}
