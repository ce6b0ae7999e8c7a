package cell

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/testground"
	"cordon/internal/testwait"
)

// These tests start processes that must be ended, and look for them by number.
// They are not parallel: a command's leftovers are told from another's by being
// alone.

func TestMain(m *testing.M) {
	probing()
	grace = 100 * time.Millisecond
	os.Exit(testground.Run("internal/cell", m))
}

// shellIn runs a shell line in a directory of its own.
func shellIn(t *testing.T, dir, line string, env ...string) (Exit, string) {
	t.Helper()
	var out bytes.Buffer
	exit, err := Run(context.Background(), Command{
		Argv: []string{"sh", "-c", line}, Dir: dir, Stdout: &out, Stderr: &out,
		Env: append([]string{"PATH=" + os.Getenv("PATH"), Mark + "=swift-otter", Place + "=here"}, env...),
	})
	if err != nil {
		t.Fatal(err)
	}
	return exit, out.String()
}

// pidIn reads the number of a process that a command wrote down.
func pidIn(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func alive(pid int) bool {
	p, ok := readStat(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return ok && !p.dead
}

// Every daemon holds the command's output open. Run would wait for it forever if
// it did not end it.
func TestLeftBehindIsEnded(t *testing.T) {
	for name, start := range map[string]string{
		"in the group":          `sh -c 'echo $$ >pid; exec sleep 600' &`,
		"in another session":    `setsid sh -c 'echo $$ >pid; exec sleep 600' &`,
		"without a mark":        `env -i setsid sh -c 'echo $$ >pid; exec sleep 600' &`,
		"with a foreign mark":   `CORDON_WORKER=calm-yak setsid sh -c 'echo $$ >pid; exec sleep 600' &`,
		"deaf to a termination": `setsid sh -c 'trap "" TERM HUP; echo $$ >pid; while :; do sleep 600; done' &`,
		"forked twice":          `setsid sh -c '(setsid sh -c "echo \$\$ >pid; exec sleep 600" &) ' &`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			exit, _ := shellIn(t, dir, start+` while ! test -s pid; do sleep 0.01; done; exit 3`)
			if exit.Code != 3 || exit.Reason != Exited || exit.Left == 0 {
				t.Errorf("exit %+v, want 3 and something left", exit)
			}
			if pid := pidIn(t, filepath.Join(dir, "pid")); alive(pid) {
				t.Errorf("process %d is still there", pid)
				_ = syscall.Kill(pid, syscall.SIGKILL) // for the next test
			}
		})
	}
}

func TestWhatEndedByItselfIsNotCounted(t *testing.T) {
	exit, out := shellIn(t, t.TempDir(), `sh -c 'setsid sh -c "echo \$\$ >pid" &'
		while ! test -s pid; do sleep 0.01; done
		while ! grep -q ') Z ' /proc/$(cat pid)/stat; do sleep 0.01; done
		echo said`)
	if exit.Left != 0 || !exit.OK() {
		t.Errorf("exit %+v", exit)
	}
	if out != "said\n" {
		t.Errorf("output %q", out)
	}
}

func TestOwnProcessesAreLeftAlone(t *testing.T) {
	mine := exec.Command("sleep", "600")
	mine.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as package git starts its own
	if err := mine.Start(); err != nil {
		t.Fatal(err)
	}
	shellIn(t, t.TempDir(), `setsid sleep 600 &`)
	if !alive(mine.Process.Pid) {
		t.Error("a process of this program's own was ended")
	}
	_ = mine.Process.Kill()
	_ = mine.Wait()
}

func TestTimeLimit(t *testing.T) {
	for name, line := range map[string]string{
		"willing": `exec sleep 600`,
		"deaf":    `trap "" TERM; while :; do sleep 600; done`,
	} {
		t.Run(name, func(t *testing.T) {
			place := Place + "=" + t.TempDir()
			var pid int
			exit, err := Run(context.Background(), Command{
				Argv: []string{"sh", "-c", line}, Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), Mark + "=swift-otter", place},
				Limit: 200 * time.Millisecond, Started: func(l Launch) error { pid = l.Pid; return nil },
			})
			if err != nil || exit.Reason != TimedOut || exit.OK() || exit.Code <= 128 {
				t.Errorf("exit %+v, %v", exit, err)
			}
			// On a busy machine the limit is reached before a shell has written down its number: cordon has it.
			if pid == 0 || alive(pid) {
				t.Errorf("process %d is still there", pid)
			}
			if n := EndMarked(place); n != 0 {
				t.Errorf("%d processes were left", n)
			}
		})
	}
}

// A command that ends well because it was told to end did not end by itself.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var exit Exit
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		exit, err = Run(ctx, Command{
			Argv: []string{"sh", "-c", `trap "exit 0" TERM; echo $$ >pid; while :; do sleep 0.01; done`},
			Dir:  dir, Env: []string{"PATH=" + os.Getenv("PATH")},
			Grace: func() time.Duration { return time.Minute }, // a shell that was killed did not end well
		})
	}()
	testwait.Until(t, "the command listens", func() bool {
		b, err := os.ReadFile(filepath.Join(dir, "pid"))
		return err == nil && len(b) > 0
	})
	cancel()
	<-ended
	if err != nil || exit.Reason != Interrupted || exit.Code != 0 || exit.OK() {
		t.Errorf("exit %+v, %v", exit, err)
	}
}

// The program is found on the command's own PATH, not on cordon's, and never
// relative to a directory that a worker writes.
func TestProgramIsLookedUpForTheCommand(t *testing.T) {
	ours, theirs, dir := t.TempDir(), t.TempDir(), t.TempDir()
	for place, word := range map[string]string{ours: "ours", theirs: "theirs", dir: "dir"} {
		if err := os.WriteFile(filepath.Join(place, "agent"), []byte("#!/bin/sh\necho "+word+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", ours+":"+os.Getenv("PATH"))
	if found, err := exec.LookPath("agent"); err != nil || filepath.Dir(found) != ours {
		t.Fatalf("cordon's own PATH does not have it: %s, %v", found, err)
	}
	var out bytes.Buffer
	c := Command{Argv: []string{"agent"}, Dir: dir, Env: []string{"PATH=.::" + theirs}, Stdout: &out}
	if exit, err := Run(context.Background(), c); err != nil || !exit.OK() || out.String() != "theirs\n" {
		t.Errorf("it ran %q: %+v, %v", out.String(), exit, err)
	}
	c.Env = []string{"PATH=."}
	exit, err := Run(context.Background(), c)
	if !errors.Is(err, exec.ErrNotFound) || exit.Reason != NotStarted || exit.Code != 127 {
		t.Errorf("it was found where a worker writes: %+v, %v", exit, err)
	}
}

// A worker of the same name may work for another repository.
func TestEndMarkedEndsOnlyTheRightOnes(t *testing.T) {
	start := func(place string) *exec.Cmd {
		cmd := exec.Command("sleep", "600")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), Mark + "=calm-yak", Place + "=" + place}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	at := t.TempDir() // .ci/run runs this test as another user, too, whose processes are not these
	here, elsewhere := start(at+"/here"), start(at+"/elsewhere")
	if n := EndMarked(Mark+"=calm-yak", Place+"="+at+"/here"); n != 1 {
		t.Errorf("%d were ended, want 1", n)
	}
	testwait.Until(t, "the one that was meant has lost its memory, and ends", func() bool { return !alive(here.Process.Pid) })
	if !alive(elsewhere.Process.Pid) {
		t.Error("the worker of another repository was ended")
	}
	if n := EndMarked(); n != 0 {
		t.Errorf("without a mark %d were ended", n)
	}
}
