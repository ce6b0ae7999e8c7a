//go:build amd64 || arm64

package seccomp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/testground"
)

// roles are what the test binary does when it is started again as a process of
// its own. A filter cannot be taken off again, so every one is loaded in a child.
var roles = map[string]func(args []string) error{
	"attempts": playAttempts,
	"exec":     playExec,
	"threads":  playThreads,
	"bare":     playWithoutNoNewPrivs,
	"flood":    playFlood,
	"signals":  playSignals,
	"loosen":   playLoosen,
	"orphan":   playOrphan,
}

const roleVar = "SECCOMP_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(testground.Run("internal/seccomp", m))
	}
	os.Unsetenv(roleVar)
	play, ok := roles[role]
	if !ok {
		fmt.Fprintln(os.Stderr, "no such role:", role)
		os.Exit(2)
	}
	time.AfterFunc(2*time.Minute, func() { os.Exit(3) }) // nobody is left to end it
	if err := play(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// actor returns a command that plays a role in a directory and session of its
// own: an attempt that gets through reaches no file and no terminal of ours.
func actor(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// output runs a role and decodes what it printed.
func output[T any](t *testing.T, cmd *exec.Cmd) T {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return decode[T](t, out)
}

func decode[T any](t *testing.T, out []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(out, &v); err != nil {
		t.Fatalf("%v: %q", err, out)
	}
	return v
}

// A watched is a child under a filter with a listener, and the listener.
type watched struct {
	cmd      *exec.Cmd
	out      *bytes.Buffer
	listener int
}

// watch starts a role that calls enter with notify.
func watch(t *testing.T, role string, args ...string) watched {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	theirs := os.NewFile(uintptr(fds[1]), "theirs")
	w := watched{cmd: actor(t, role, args...), out: new(bytes.Buffer)}
	w.cmd.Stdout = w.out
	w.cmd.ExtraFiles = []*os.File{theirs}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.cmd.Process.Kill() })
	theirs.Close()
	if w.listener, err = take(fds[0]); err != nil {
		t.Fatal(err)
	}
	return w
}

// take receives one descriptor.
func take(from int) (int, error) {
	buf := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(from, make([]byte, 1), buf, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return -1, err
	}
	messages, err := unix.ParseSocketControlMessage(buf[:n])
	if err != nil || len(messages) != 1 {
		return -1, fmt.Errorf("%d descriptors, %v", len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return -1, err
	}
	return fds[0], nil
}

// enter loads the filter into this process. A listener goes out through
// descriptor 3.
func enter(mode string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	switch mode {
	case "bare":
		return nil
	case "marked":
		markTable()
	}
	notify := mode == "notify"
	prog, err := Program(notify)
	if err != nil {
		return err
	}
	listener, err := Load(prog, notify)
	if err != nil || !notify {
		return err
	}
	if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(listener), nil, 0); err != nil {
		return err
	}
	return unix.Close(listener)
}

// mark is added to every errno of a marked table. No kernel gives such an errno,
// so it is the filter that has answered even where the kernel would refuse the
// call for a reason of its own, with the same errno.
const mark = 1000

// markTable spares clone3: a libc that gets another errno than ENOSYS from it
// makes no thread, and this process needs some.
func markTable() {
	for i := range rules() {
		if rules()[i].call != "clone3" {
			rules()[i].errno += mark
		}
	}
	foreign.errno += mark
	newer.errno += mark
}
