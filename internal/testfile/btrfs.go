package testfile

import (
	"os"
	"os/exec"
	"path/filepath"

	"cordon/internal/testwait"
)

// Mounting is a test that has something mounted for as long as it runs.
type Mounting interface {
	T
	Errorf(format string, args ...any)
	Skip(args ...any)
	Skipf(format string, args ...any)
	TempDir() string
	Cleanup(f func())
}

// Btrfs mounts a new btrfs for a test, or skips the test and says why it cannot.
func Btrfs(t Mounting) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root mounts an image of btrfs")
	}
	if _, err := exec.LookPath("mkfs.btrfs"); err != nil {
		t.Skip("there is no mkfs.btrfs")
	}
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "mounted")
	line := `truncate -s 1G "$0" && mkfs.btrfs -q "$0" && mkdir "$1" && mount -o loop -t btrfs "$0" "$1"`
	if out, err := exec.Command("sh", "-c", line, image, at).CombinedOutput(); err != nil {
		t.Skipf("this machine mounts no image of btrfs: %v: %s", err, out)
	}
	t.Cleanup(func() { unmount(t, at) })
	return at
}

// unmount waits for processes that a test killed: the kernel closes their files a little
// later. The loop device goes with the mount.
func unmount(t Mounting, at string) {
	t.Helper()
	var out []byte
	testwait.Until(t, at+" is unmounted", func() bool {
		var err error
		out, err = exec.Command("umount", at).CombinedOutput()
		return err == nil
	}, func() string { return string(out) })
}
