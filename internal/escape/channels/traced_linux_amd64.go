package channels

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"cordon/internal/escape/arena"
)

const changesCalls = true

// changeCall starts chmod with a harmless mode as its tracer, and gives the call a set-id
// bit when the kernel has stopped it at its beginning.
func changeCall(a *arena.Arena) error {
	cmd := exec.Command("chmod", "0755", a.In("own"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil { // it has begun
		return err
	}
	changed := false
	for {
		if err := unix.PtraceSyscall(pid, 0); err != nil {
			return err
		}
		if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
			return err
		}
		if status.Exited() || status.Signaled() {
			break
		}
		var regs unix.PtraceRegs
		if err := unix.PtraceGetRegs(pid, &regs); err != nil {
			return err
		}
		if regs.Orig_rax == unix.SYS_FCHMODAT && regs.Rdx == 0o755 && !changed {
			changed, regs.Rdx = true, 0o4755
			if err := unix.PtraceSetRegs(pid, &regs); err != nil {
				return err
			}
		}
	}
	if !changed {
		return errors.New("chmod made no such call")
	}
	if status.ExitStatus() != 0 {
		return fmt.Errorf("chmod ended with %d", status.ExitStatus())
	}
	return nil
}
