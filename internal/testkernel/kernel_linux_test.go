package testkernel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"cordon/internal/testground"
)

// TestMain lets this program also be what enters the kernel, and what looks at it.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "kernel":
		os.Exit(Main(os.Args[2:]))
	case len(os.Args) > 1 && os.Args[1] == "look":
		fmt.Print(look())
		os.Exit(0)
	}
	os.Exit(testground.Run("internal/testkernel", m))
}

// look says what this process finds of its kernel.
func look() string {
	word := func(err error) string {
		if err == nil {
			return "ok"
		}
		var errno unix.Errno
		if errors.As(err, &errno) {
			return unix.ErrnoName(errno)
		}
		return err.Error()
	}
	call := func(nr uintptr, args ...uintptr) error {
		args = append(args, 0, 0, 0)
		if _, _, errno := unix.Syscall(nr, args[0], args[1], args[2]); errno != 0 {
			return errno
		}
		return nil
	}
	_, memfd := unix.MemfdCreate("x", unix.MFD_EXEC)
	none := ^uintptr(0)
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		version = 0
	}
	_, keyring := unix.KeyctlGetKeyringID(unix.KEY_SPEC_PROCESS_KEYRING, true)
	return fmt.Sprintf("mount_setattr %s, quotactl_fd %s, futex_waitv %s, fchmodat2 %s, memfd %s, landlock %d, keyctl %s",
		word(call(unix.SYS_MOUNT_SETATTR, none)), word(call(unix.SYS_QUOTACTL_FD, none)), word(call(unix.SYS_FUTEX_WAITV)),
		word(unix.Fchmodat(unix.AT_FDCWD, "/nowhere", 0, unix.AT_SYMLINK_NOFOLLOW)), word(memfd), version, word(keyring))
}

// Each kernel lacks what it lacked, also in a program that was started by one that
// runs on it, and nothing else.
func TestKernels(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if here := look(); !strings.HasPrefix(here, "mount_setattr EINVAL, quotactl_fd EBADF, futex_waitv EINVAL, fchmodat2 ENOENT, memfd ok") {
		t.Skipf("this kernel is too old to show the difference: %s", here)
	}
	socket := filepath.Join(t.TempDir(), "socket")
	stop, err := Serve(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop() })
	for name, want := range map[string]string{
		"5.10":   "mount_setattr ENOSYS, quotactl_fd ENOSYS, futex_waitv ENOSYS, fchmodat2 ENOTSUP, memfd EINVAL, landlock 0, keyctl ok",
		"5.12":   "mount_setattr EINVAL, quotactl_fd ENOSYS, futex_waitv ENOSYS, fchmodat2 ENOTSUP, memfd EINVAL, landlock 0, keyctl ok",
		"5.13":   "mount_setattr EINVAL, quotactl_fd ENOSYS, futex_waitv ENOSYS, fchmodat2 ENOTSUP, memfd EINVAL, landlock 1, keyctl ok",
		"5.15":   "mount_setattr EINVAL, quotactl_fd EBADF, futex_waitv ENOSYS, fchmodat2 ENOTSUP, memfd EINVAL, landlock 1, keyctl ok",
		"6.1":    "mount_setattr EINVAL, quotactl_fd EBADF, futex_waitv EINVAL, fchmodat2 ENOTSUP, memfd EINVAL, landlock 2, keyctl ok",
		"docker": look()[:len(look())-len("ok")] + "EPERM",
	} {
		got, err := exec.Command(self, "kernel", name, socket, "/bin/sh", "-c", `"$0" look; exit $?`, self).CombinedOutput()
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, want)
		}
	}
}
