package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/testwait"
)

// A world is a throw-away machine in which a command of the corpus really runs,
// under strace: a root of its own in memory, with the system read-only, the
// fixture at /w and /home/agent as layers that forget, no network, its own
// processes, and a user who owns nothing but the fixture. Nothing of it outlives
// the command, and nothing that the command does reaches the real machine.
//
// Root makes it with a mount namespace and gives its rights away before the
// command starts; anybody else makes it in a user namespace.

const (
	worldTime  = 4 * time.Second // of a command of the corpus, some of which would sleep or ask for ever
	worldName  = "guard-world"   // what the test calls itself when it is to become one
	traceFd    = 99
	nobody     = 65534
	worldTrace = "trace=%file,%process,fchdir"
)

// init becomes the world when the test has started itself as one. It is no
// TestMain, since a world has nothing to do with tests.
func init() {
	if os.Args[0] != worldName {
		return
	}
	if err := become(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, worldName+":", err)
	}
	os.Exit(worldFailed)
}

// worldFailed is the code of a world that did not come to be.
const worldFailed = 125

// ran is what became of a command.
type ran struct {
	trace, output string
	late          bool // it was ended for the time that it took
}

// run runs a command in a fresh world made from a fixture, and ends it after a time.
func run(ctx context.Context, from moved, cwd, command string, limit time.Duration) (ran, error) {
	dir, err := os.MkdirTemp("", "world")
	if err != nil {
		return ran{}, err
	}
	defer os.RemoveAll(dir)
	trace, err := os.Create(filepath.Join(dir, "trace"))
	if err != nil {
		return ran{}, err
	}
	defer trace.Close()
	root := filepath.Join(dir, "root")
	if err := errors.Join(os.Mkdir(root, 0o755), os.Chmod(dir, 0o755), trace.Chmod(0o666)); err != nil {
		return ran{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Args = []string{worldName, root, filepath.Dir(from.w), cwd, command}
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.ExtraFiles = []*os.File{trace}
	cmd.SysProcAttr = apart()
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return ran{}, err
	}
	if cmd.ProcessState.ExitCode() == worldFailed && strings.Contains(out.String(), worldName+": ") {
		return ran{}, errors.New(strings.TrimSpace(out.String()))
	}
	text, err := os.ReadFile(trace.Name())
	return ran{string(text), out.String(), ctx.Err() != nil}, err
}

// apart is the set of namespaces of a world.
func apart() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
		Setsid:     true,
	}
	if os.Getuid() != 0 {
		a.Cloneflags |= unix.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return a
}

// become turns the process into a world and then into the command.
func become(root, fixture, cwd, command string) error {
	owner := 0 // the only user of a user namespace
	if !inUserNamespace() {
		owner = nobody
	}
	if err := unix.Dup3(3, traceFd, 0); err != nil {
		return err
	}
	unix.CloseOnExec(3)
	for _, step := range []func() error{
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return unix.Mount("tmpfs", root, "tmpfs", unix.MS_NOSUID, "mode=755,size=256m") },
		func() error { return system(root) },
		func() error { return users(root, owner) },
		func() error { return devices(root) },
		func() error { return layers(root, fixture, owner) },
		func() error { return pivot(root) },
		func() error { return bound(owner) },
		func() error { return os.MkdirAll(cwd, 0o755) }, // git keeps no empty directories
		func() error { return os.Chdir(cwd) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	args := []string{
		"strace", "-f", "--seccomp-bpf", "-y", "-qq", "-s", "0", "-e", worldTrace, "-e", "signal=none",
		"-o", fmt.Sprintf("/proc/self/fd/%d", traceFd), "--", "bash", "-c", command,
	}
	return unix.Exec("/usr/bin/strace", args, []string{
		"PATH=/usr/local/bin:/usr/local/go/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME=/home/agent", "USER=agent", "LC_ALL=C", "TERM=dumb",
		"GOTOOLCHAIN=local", "PYTHONDONTWRITEBYTECODE=1", "GIT_TERMINAL_PROMPT=0",
	})
}

func inUserNamespace() bool {
	b, err := os.ReadFile("/proc/self/uid_map")
	return err == nil && len(strings.Fields(string(b))) == 3 && strings.Fields(string(b))[2] == "1"
}

// system shows what is installed, read-only.
func system(root string) error {
	for _, name := range []string{"usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc"} {
		from, at := "/"+name, filepath.Join(root, name)
		if to, err := os.Readlink(from); err == nil {
			if err := os.Symlink(to, at); err != nil {
				return err
			}
			continue
		}
		if _, err := os.Stat(from); err != nil {
			continue
		}
		if err := readOnly(from, at); err != nil {
			return err
		}
	}
	return nil
}

func readOnly(from, at string) error {
	if err := os.Mkdir(at, 0o755); err != nil {
		return err
	}
	if err := unix.Mount(from, at, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(unix.AT_FDCWD, at, unix.AT_RECURSIVE, attr); err != nil {
		return fmt.Errorf("%s, read-only: %w", from, err)
	}
	return nil
}

// users covers the list of users: the home of whoever runs the command is the one
// of the corpus.
func users(root string, owner int) error {
	list := filepath.Join(root, ".passwd")
	text := fmt.Sprintf("agent:x:%d:%d::/home/agent:/bin/bash\nroot:x:0:0::/root:/bin/bash\n", owner, owner)
	if err := os.WriteFile(list, []byte(text), 0o644); err != nil {
		return err
	}
	return unix.Mount(list, filepath.Join(root, "etc/passwd"), "", unix.MS_BIND, "")
}

// devices makes /dev, /proc and the directories for temporary files.
func devices(root string) error {
	for _, d := range []string{"tmp", "var", "var/tmp", "run", "dev", "dev/shm", "dev/pts", "proc", "root", "home"} {
		mode := os.FileMode(0o755)
		if strings.HasSuffix(d, "tmp") || d == "dev/shm" {
			mode = 0o777 | os.ModeSticky
		}
		if err := errors.Join(os.Mkdir(filepath.Join(root, d), 0o755), os.Chmod(filepath.Join(root, d), mode)); err != nil {
			return err
		}
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		at := filepath.Join(root, "dev", name)
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			return err
		}
		if err := unix.Mount("/dev/"+name, at, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("/dev/%s: %w", name, err)
		}
	}
	for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"} {
		if err := os.Symlink(to, filepath.Join(root, "dev", name)); err != nil {
			return err
		}
	}
	// Only programs such as script need a terminal of their own.
	_ = unix.Mount("devpts", filepath.Join(root, "dev/pts"), "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
	if err := unix.Mount("proc", filepath.Join(root, "proc"), "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	return nil
}

// layers puts the fixture where the corpus wants it, below a layer in memory.
func layers(root, fixture string, owner int) error {
	for from, to := range map[string]string{"w": "w", "home": "home/agent"} {
		at, store := filepath.Join(root, to), filepath.Join(root, ".layer", from)
		upper, work := filepath.Join(store, "upper"), filepath.Join(store, "work")
		if err := errors.Join(os.MkdirAll(at, 0o755), os.MkdirAll(upper, 0o755), os.MkdirAll(work, 0o755), os.Chown(upper, owner, owner)); err != nil {
			return err
		}
		options := "userxattr,lowerdir=" + filepath.Join(fixture, from) + ",upperdir=" + upper + ",workdir=" + work
		if err := unix.Mount("overlay", at, "overlay", unix.MS_NOSUID, options); err != nil {
			return fmt.Errorf("the layer over %s: %w", from, err)
		}
	}
	return os.Chmod(filepath.Join(root, ".layer"), 0o700)
}

func pivot(root string) error {
	if err := os.Chdir(root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return os.Chdir("/")
}

// bound gives up every right and bounds what a command may use.
func bound(owner int) error {
	for what, most := range map[int]uint64{unix.RLIMIT_FSIZE: 64 << 20, unix.RLIMIT_CORE: 0, unix.RLIMIT_CPU: 10} {
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	if owner == nobody {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setresgid(nobody, nobody, nobody), syscall.Setresuid(nobody, nobody, nobody)); err != nil {
			return err
		}
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil { // or its own /proc is root's
			return err
		}
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// copied is a copy of the fixture that the user of a world owns.
func copied(t testing.TB) moved {
	t.Helper()
	from, err := fixture()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	to := moved{filepath.Join(dir, "w"), filepath.Join(dir, "home")}
	for from, to := range map[string]string{from.w: to.w, from.home: to.home} {
		if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
			t.Fatalf("cp: %v: %s", err, out)
		}
	}
	if os.Getuid() == 0 {
		who := strconv.Itoa(nobody)
		if out, err := exec.Command("chown", "-hR", who+":"+who, to.w, to.home).CombinedOutput(); err != nil {
			t.Fatalf("chown: %v: %s", err, out)
		}
	}
	return to
}

// needWorld skips where no world can be made, and says why.
func needWorld(t *testing.T, from moved) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/strace"); err != nil {
		t.Skip("strace is not installed: nothing was run")
	}
	r, err := run(t.Context(), from, "/w/repo/.worktrees/s1", "echo here; cat README.md", testwait.Bound)
	if err != nil {
		t.Skip("this machine lets nobody make a world of their own: ", err)
	}
	if !strings.Contains(r.output, "here\n# readme\n") || !strings.Contains(r.trace, `"README.md"`) {
		t.Fatalf("a command does not run in the world: %q\n%s", r.output, r.trace)
	}
}
