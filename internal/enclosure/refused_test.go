package enclosure

import (
	"strings"
	"testing"

	"cordon/internal/cell"
	"cordon/internal/policy"
)

// One line names each cause, however many calls were refused.
func TestExplainRefused(t *testing.T) {
	for _, c := range []struct {
		exit cell.Exit
		want []string // the first words of each line
	}{
		{cell.Exit{Reason: cell.Exited, Code: 1}, nil},
		{cell.Exit{Reason: cell.Exited, Code: 1, Refused: map[string]int{"mount": 3}}, nil},
		{cell.Exit{Reason: cell.Exited, Code: 1, Refused: map[string]int{"ptrace": 3, "process_vm_readv": 1}}, []string{"the cell refused tracing"}},
		{cell.Exit{Reason: cell.Exited, Code: 1, Refused: map[string]int{"unshare": 1, "perf_event_open": 1}},
			[]string{"the cell refused new namespaces", "the cell refused performance counters"}},
		{cell.Exit{Reason: cell.Exited, Code: 1, Refused: map[string]int{"io_uring_setup": 2}}, []string{"the cell refused io_uring"}},
		{cell.Exit{Reason: cell.Exited, Code: 139}, []string{"a cell writes no core files"}},
		{cell.Exit{Reason: cell.TimedOut, Code: 139}, nil},
	} {
		got := ExplainRefused(policy.Default(), c.exit)
		if len(got) != len(c.want) {
			t.Errorf("%+v: %q", c.exit, got)
			continue
		}
		for i := range got {
			if !strings.HasPrefix(got[i], c.want[i]) || strings.Contains(got[i], "\n") {
				t.Errorf("%+v: %q", c.exit, got[i])
			}
		}
	}
}
