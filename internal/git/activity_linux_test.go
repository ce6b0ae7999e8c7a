package git

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A process that waits for a pipe is asleep and gets no further; one that works is not taken
// for it, in a group of several processes either.
func TestActivity(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	group := func(script string) int {
		cmd := exec.Command("/bin/sh", "-c", script, "sh", fifo)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait()
		})
		return cmd.Process.Pid
	}
	still := func(group int) bool {
		before, _ := activity(group)
		time.Sleep(50 * time.Millisecond)
		now, asleep := activity(group)
		return asleep && now != "" && now == before
	}
	waiting := group(`cat "$1"; :`)
	for end := time.Now().Add(time.Minute); !still(waiting); {
		if time.Now().After(end) {
			t.Fatal("a process that waits for a pipe counts as busy")
		}
	}
	for _, script := range []string{`while :; do :; done`, `cat "$1" & while :; do :; done`} {
		if working := group(script); still(working) {
			t.Errorf("%s: counts as stuck", script)
		}
	}
}
