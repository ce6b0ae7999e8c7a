package cell

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What an attacker found who read the code. Each of these succeeded once.

// apartWord tells this program that it has mounts of its own; its value is the mount namespace of whoever started it.
const apartWord = "CORDON_TEST_APART"

// apart runs a test once more in a mount namespace of its own: other tests, which run beside, look whether the mounts of
// the host have changed. It reports whether this is that run.
func apart(t *testing.T) bool {
	t.Helper()
	own, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	if outer := os.Getenv(apartWord); outer != "" {
		if outer == own { // the mounts would be the host's
			t.Fatal("not in a namespace of its own")
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), apartWord+"="+own)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		t.Errorf("%v\n%s", err, out)
	case err != nil:
		t.Skipf("nothing can be mounted here: %v", err)
	}
	return false
}

// A directory that is written in place brings along what is mounted below it.
func TestAttackMountsBelowTheTree(t *testing.T) {
	if !apart(t) {
		return
	}
	r := newRoom(t)
	for name, kind := range map[string]string{"proc": "proc", "disk": "tmpfs"} {
		at := filepath.Join(r.tree, name)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount(kind, at, kind, 0, ""); err != nil {
			t.Fatal(err)
		}
		defer unix.Unmount(at, unix.MNT_DETACH)
	}
	r.put(filepath.Join(r.tree, "disk/file"), "theirs")
	r.refused(`echo x >disk/new`, "Read-only")
	r.refused(`cat proc/sys/kernel/core_pattern >/dev/null`, "denied")
	if out := r.sh(`cat disk/file`); out != "theirs" {
		t.Errorf("%q", out)
	}
}

// Containers start and end while a cell is built: what they mount comes and goes between the look at the machine and the cell.
func TestMountsThatComeAndGo(t *testing.T) {
	if !apart(t) {
		return
	}
	r := newRoom(t)
	const at, hidden = "/srv/disk", "/srv/hidden"
	if err := unix.Mount("tmpfs", "/srv", "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(at, 0o755), os.WriteFile(hidden, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	r.order.Hide = append(r.order.Hide, hidden) // so that an overlay shows what lies beside it
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			err := unix.Mount("tmpfs", at, "tmpfs", 0, "")
			if err == nil {
				err = unix.Unmount(at, unix.MNT_DETACH)
			}
			select {
			case <-stop:
				ended <- err
				return
			default:
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	for range 40 {
		if exit, _, said := r.run("true"); !exit.OK() {
			t.Errorf("%+v: %s", exit, said)
		}
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The mode of a device is the host's, for root too.
func TestAttackDeviceModes(t *testing.T) {
	r := newRoom(t)
	var before, after unix.Stat_t
	if err := unix.Stat("/dev/zero", &before); err != nil {
		t.Fatal(err)
	}
	exit, out, _ := r.run("sh", "-c", `chmod 0600 /dev/zero || touch -d 2001-01-01 /dev/zero`)
	if err := unix.Stat("/dev/zero", &after); err != nil || exit.OK() || before.Mode != after.Mode || before.Mtim != after.Mtim {
		t.Errorf("%+v %s: %o became %o", exit, out, before.Mode, after.Mode)
	}
}

// A name that is hidden before it is there stays hidden when the worker has made
// and removed something in its place.
func TestAttackHiddenNameMadeAndRemoved(t *testing.T) {
	r := newRoom(t)
	r.order.Hide = []string{r.home + "/.aws"}
	b := r.beginShell(`mkdir ~/.aws && rmdir ~/.aws; echo 1 >ready; until test -e put; do sleep 0.01; done; cat ~/.aws/credentials 2>&1; ls -A ~; true`)
	r.appears(b, "ready")
	r.put(filepath.Join(r.home, ".aws/credentials"), "secret")
	r.put(filepath.Join(r.tree, "put"), "")
	if exit, out, err := b.end(); err != nil || !exit.OK() || strings.Contains(out, "secret") {
		t.Errorf("%+v, %v %q", exit, err, out)
	}
}

// What a worker leaves in a kept layer is not followed by the next launch.
func TestAttackLinksInKeptLayers(t *testing.T) {
	r := newRoom(t)
	r.order.Layers = t.TempDir()
	victim := t.TempDir()
	r.put(filepath.Join(r.home, ".config/gh/hosts.yml"), "secret")
	r.order.Hide = []string{r.home + "/.config/gh", r.home + "/.config/hub"}
	r.sh(`rm -rf ~/.config && ln -s /host` + victim + ` ~/.config`)
	exit, out, err := r.run("sh", "-c", `ls ~/.config/; true`)
	if err != nil {
		t.Logf("the second launch is refused, which will do: %v", err)
	}
	if names, err := os.ReadDir(victim); err != nil || len(names) > 0 {
		t.Errorf("%v, %v: %+v %q", names, err, exit, out)
	}
}

// No signal from inside ends the process that watches the cell.
func TestAttackSignalsToTheFirstProcess(t *testing.T) {
	r := newRoom(t)
	if out := r.sh(`for s in SEGV ABRT BUS FPE ILL TRAP SYS KILL STOP; do kill -$s 1; done; echo alive`); !strings.HasSuffix(out, "alive\n") ||
		strings.Contains(out, "goroutine") {
		t.Errorf("%q", out)
	}
}

// The limits are those of the cell: no process of it can change another's.
func TestAttackLimitsOfTheFirstProcess(t *testing.T) {
	r := newRoom(t)
	need(t, "prlimit")
	r.order.Limits.Processes = 64
	exit, out, err := r.run("sh", "-c", `prlimit --pid 1 --nofile=0:0; for i in $(seq 100); do sleep 60 & done 2>/dev/null; wait`)
	if err != nil || exit.Reason != ProcessLimit && exit.OK() || !strings.Contains(out, "not permitted") {
		t.Errorf("%+v, %v %q", exit, err, out)
	}
}
