package git

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"cordon/internal/testwait"
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
	stuck := func(group int) func() bool { // for a while
		seen, since := "", time.Now()
		return func() bool {
			now, asleep := activity(group)
			if !asleep || now == "" || now != seen {
				seen, since = now, time.Now()
				return false
			}
			return time.Since(since) > 50*time.Millisecond
		}
	}
	testwait.Until(t, "a process that waits for a pipe counts as stuck", stuck(group(`cat "$1"; :`)))
	for _, script := range []string{`while :; do :; done`, `cat "$1" & while :; do :; done`} {
		working := stuck(group(script))
		testwait.Still(t, script+" counts as busy", 300*time.Millisecond, func() bool { return !working() })
	}
}
