package walls

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"

	"cordon/internal/cell/host"
	"cordon/internal/cell/plan"
	"cordon/internal/paths"
	"cordon/internal/seccomp"
)

// NewKeyring leaves the operator's session keyring. A kernel without keyrings has
// none to leave. Where a filter around us refuses keyctl as a whole, as Docker's
// does, the worker cannot use a keyring either.
func NewKeyring() error {
	_, err := unix.KeyctlInt(unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0, 0, 0) // without a name: nobody else's
	if err == nil || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) && keyctlRefused() {
		return nil
	}
	return fmt.Errorf("session keyring: %w", err)
}

// keyctlRefused reports whether keyctl is refused whatever is asked of it. The
// kernel itself never answers this question with EPERM.
func keyctlRefused() bool {
	_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
	return errors.Is(err, unix.EPERM)
}

// securebits keep uid 0 from meaning anything to the kernel.
const securebits = 1<<0 | 1<<1 | // NOROOT
	1<<2 | 1<<3 | // NO_SETUID_FIXUP
	1<<5 | // KEEP_CAPS stays off
	1<<6 | 1<<7 // NO_CAP_AMBIENT_RAISE

// DropCapabilities gives up every capability for good. What a thread of ours
// starts later starts without any.
func DropCapabilities(namespaced bool) error {
	if namespaced {
		if err := unix.Prctl(unix.PR_SET_SECUREBITS, securebits, 0, 0, 0); err != nil {
			return fmt.Errorf("securebits: %w", err)
		}
	}
	for c := uintptr(0); c < 64; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) {
			break // one beyond the kernel's last
		}
		if errors.Is(err, unix.EPERM) && !namespaced && os.Geteuid() != 0 {
			break // an ordinary user has none to drop
		}
		if err != nil {
			return fmt.Errorf("bounding set: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("ambient set: %w", err)
	}
	return noCapabilities()
}

// NoNewPrivileges makes set-user-id programs ordinary ones, on every thread.
func NoNewPrivileges() error {
	_, _, errno := psx.Syscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Restrict puts up the second wall: what the mounts already refuse is refused
// again, by inode, wherever a descriptor came from.
func Restrict(s plan.Spec) error {
	version := host.LandlockVersion()
	if version < 1 {
		return host.NoLandlock().Err
	}
	config := landlock.V11.BestEffort()
	if s.Has(plan.Namespaces) {
		// Servers on the cell's own loopback are everyday work; its network
		// namespace has nothing else to reach.
		config.HandledAccessNet = 0
	}
	write := landlock.RWDirs(writable(s)...).IgnoreIfMissing()
	if version >= 2 {
		write = write.WithRefer()
	}
	dirs, files := readable(s)
	rules := []landlock.Rule{
		landlock.RODirs(dirs...).IgnoreIfMissing(),
		landlock.ROFiles(files...).IgnoreIfMissing(),
		write,
		landlock.PathAccess(ll.AccessFSReadFile|ll.AccessFSWriteFile|ll.AccessFSTruncate|ll.AccessFSIoctlDev, devicePaths(s)...).IgnoreIfMissing(),
	}
	for _, port := range s.Dial {
		rules = append(rules, landlock.ConnectTCP(port))
	}
	return config.Restrict(rules...)
}

// devicePaths are what may be opened for writing in /dev. The host's own has much
// more in it.
func devicePaths(s plan.Spec) []string {
	if s.Has(plan.Namespaces) {
		return []string{"/dev"}
	}
	list := []string{"/dev/pts", "/dev/ptmx"}
	for _, d := range plan.Devices {
		list = append(list, "/dev/"+d)
	}
	return list
}

func writable(s plan.Spec) []string {
	if !s.Has(plan.Namespaces) {
		return s.Write
	}
	return slices.Concat(s.Write, []string{"/dev/shm", "/dev/mqueue"})
}

// readable lists what may be read. Where mounts hide nothing, the rules have to:
// they name everything but what is hidden.
func readable(s plan.Spec) (dirs, files []string) {
	if s.Has(plan.Namespaces) {
		return around(s.Read, nil)
	}
	dirs, files = around(s.Read, s.Hidden)
	for _, root := range s.Shown { // what is hidden around it does not matter
		d, f := around([]string{root}, slices.DeleteFunc(slices.Clone(s.Hidden), func(h string) bool { return !paths.Below(h, root) }))
		dirs, files = append(dirs, d...), append(files, f...)
	}
	return dirs, files
}

// around lists what lies below roots, as few entries as possible, without what is
// hidden. What comes to be beside a hidden entry later is not in it.
func around(roots, hidden []string) (dirs, files []string) {
	for _, root := range roots {
		inside := slices.ContainsFunc(hidden, func(h string) bool { return paths.Within(root, h) })
		if inside {
			continue
		}
		if !slices.ContainsFunc(hidden, func(h string) bool { return paths.Within(h, root) }) {
			fi, err := os.Lstat(root)
			switch {
			case err != nil:
			case fi.IsDir():
				dirs = append(dirs, root)
			case fi.Mode()&os.ModeSymlink == 0:
				files = append(files, root)
			}
			continue
		}
		entries, err := os.ReadDir(root)
		if err != nil {
			continue // what cannot be listed is not shown
		}
		var below []string
		for _, e := range entries {
			below = append(below, filepath.Join(root, e.Name()))
		}
		d, f := around(below, hidden)
		dirs, files = append(dirs, d...), append(files, f...)
	}
	return dirs, files
}

// usual is the filter of nearly every cell. It is the same for all of them.
var usual = sync.OnceValues(func() ([]unix.SockFilter, error) { return seccomp.Program(true) })

// Ahead does what takes a while and does not depend on a plan.
func Ahead() { _, _ = usual() } // LoadFilter hears of an error

func filter(notify bool) ([]unix.SockFilter, error) {
	if notify {
		return usual()
	}
	return seccomp.Program(false)
}

// LoadFilter puts up the third wall and returns the descriptor on which the kernel
// tells of refused calls, or -1.
func LoadFilter(s plan.Spec) (int, error) {
	assemble := filter
	if s.Trace && s.Has(plan.Namespaces) { // without them, other processes of the user are in sight
		assemble = seccomp.ProgramTracing
	}
	program, err := assemble(true)
	if err != nil {
		return -1, err
	}
	listener, err := seccomp.Load(program, true)
	if err == nil {
		return listener, nil
	}
	// Something around us listens already, or the kernel is too old to tell.
	if program, err = assemble(false); err != nil {
		return -1, err
	}
	return seccomp.Load(program, false)
}
