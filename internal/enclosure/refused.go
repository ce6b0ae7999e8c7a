package enclosure

import (
	"slices"
	"syscall"

	"cordon/internal/cell"
	"cordon/internal/policy"
)

// misreported are calls that a cell refuses and that programs report in words which lead
// elsewhere: to an option of the kernel, to a missing package, to a name server.
var misreported = []struct {
	calls []string
	line  string
}{
	{[]string{"ptrace", "process_vm_readv", "process_vm_writev"},
		"the cell refused tracing (debuggers, strace, LeakSanitizer): cell.trace: true in the policy allows it; ASAN_OPTIONS=detect_leaks=0 does without"},
	{[]string{"clone", "unshare", "setns"},
		"the cell refused new namespaces (podman, bwrap, the sandbox of browsers): no setting allows them; start chromium with --no-sandbox, the cell confines it"},
	{[]string{"io_uring_setup"}, "the cell refused io_uring: no setting allows it; switch it off in a program that does not fall back to other calls by itself"},
	{[]string{"perf_event_open"}, "the cell refused performance counters (perf): no setting allows them"},
}

// coreSignals are those with which the kernel would write a core file.
var coreSignals = []syscall.Signal{syscall.SIGQUIT, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGSEGV}

// ExplainRefused says what the cell of a command refused that programs misreport, a line
// for each. That a call was refused is certain; that the command failed for that reason is not.
func ExplainRefused(p policy.Policy, exit cell.Exit) []string {
	var lines []string
	for _, m := range misreported {
		if slices.ContainsFunc(m.calls, func(call string) bool { return exit.Refused[call] > 0 }) {
			lines = append(lines, m.line)
		}
	}
	if p.Isolation != policy.None && exit.Reason == cell.Exited && slices.Contains(coreSignals, syscall.Signal(exit.Code-128)) {
		lines = append(lines, "a cell writes no core files, whatever ulimit -c says: run the program in a debugger instead (cell.trace: true)")
	}
	return lines
}
