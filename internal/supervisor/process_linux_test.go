package supervisor

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/testground"
)

// TestMain is also the process that holds a lock.
func TestMain(m *testing.M) {
	name := os.Getenv("HOLD")
	if name == "" {
		os.Exit(testground.Run("internal/supervisor", m))
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err == nil && os.Getenv("HOW") != "open" {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	fmt.Println("ready", err)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test ends
}

// hold starts a process that holds the lock of a file, or only has it open.
func hold(t *testing.T, file, how string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HOLD="+file, "HOW="+how)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // it ends with this process
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }) // it may have ended
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready <nil>\n" {
		t.Fatal(line, err)
	}
	return cmd
}

// Whatever number the lock file names, the process that is found is the one that holds the
// lock. Others, also such that have the file open, are left alone.
func TestHolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lock")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if p, err := holder(file); p != nil || err != nil {
		t.Fatal("of a file that is not there", p, err)
	}
	write("")
	bystander := hold(t, file, "open")
	write(fmt.Sprintln(bystander.Process.Pid)) // a number that belongs to another process by now
	if p, err := holder(file); p != nil || err != nil {
		t.Fatal("nobody holds it", p, err)
	}
	owner := hold(t, file, "")
	for _, named := range []string{fmt.Sprintln(bystander.Process.Pid), fmt.Sprintln(os.Getpid()), "1\n", "-1\n", "", "nonsense", "99999999\n", fmt.Sprintln(owner.Process.Pid)} {
		write(named)
		p, err := holder(file)
		if err != nil || p == nil {
			t.Fatalf("with %q: %v %v", named, p, err)
		}
		info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", p.handle))
		if err != nil || !strings.Contains(string(info), fmt.Sprintf("\nPid:\t%d\n", owner.Process.Pid)) {
			t.Errorf("with %q it is not the owner %d: %s %v", named, owner.Process.Pid, info, err)
		}
		p.close()
	}

	p, err := holder(file)
	if err != nil || p == nil {
		t.Fatal(p, err)
	}
	defer p.close()
	if p.awaitEnd(t.Context(), 0) {
		t.Error("it has not ended")
	}
	if err := p.signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !p.awaitEnd(t.Context(), time.Minute) {
		t.Error("it has ended")
	}
	if p, err := holder(file); p != nil || err != nil {
		t.Error("the owner has ended", p, err)
	}
	if bystander.Process.Signal(syscall.Signal(0)) != nil {
		t.Error("the bystander was ended")
	}
	// The number is anybody's after this; the handle is nobody's.
	_ = owner.Wait() // it was killed
	if err := p.signal(syscall.SIGKILL); err != syscall.ESRCH {
		t.Errorf("the handle means somebody: %v", err)
	}
}

// awaitRelease returns when the holder ends, and before that with its context.
func TestAwaitRelease(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "lock")
	if err := awaitRelease(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	owner := hold(t, file, "")
	got := make(chan error, 1)
	go func() { got <- awaitRelease(t.Context(), file) }()
	select {
	case err := <-got:
		t.Fatalf("it is held: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
}
