package cell

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/limit"
	"cordon/internal/cell/plan"
)

func init() {
	probes["page-tables"] = probePageTables
}

// The kernel counts its own memory for a cell in a group, and the limit is named.
func TestControlGroupHoldsKernelMemory(t *testing.T) {
	if limit.FindPlace([]string{"memory"}) == "" {
		t.Skip("no control group of version 2 with memory can be made here; .ci/vm runs this test where one can")
	}
	for _, c := range []struct {
		mib  string
		want Reason
	}{{"8", Exited}, {"192", MemoryLimit}} {
		r := newRoom(t)
		r.order.Limits = plan.Limits{Memory: 96 << 20}
		r.command.Limit = 60 * time.Second
		var by plan.Counting
		r.command.Started = func(l Launch) error { by = l.Memory; return nil }
		exit, out, err := r.run(r.probe(), "page-tables", c.mib)
		if err != nil || exit.Reason != c.want || by != plan.ByGroup {
			t.Errorf("%s MiB of page tables: %+v, held by %q, %v %s", c.mib, exit, by, err, out)
		}
	}
}

// Without a group the warden counts the same.
func TestCountedKernelMemory(t *testing.T) {
	r := newRoom(t)
	r.order.Limits = plan.Limits{Memory: 96 << 20}
	r.command.Limit = 60 * time.Second
	if exit, out, err := r.run(r.probe(), "page-tables", "8"); err != nil || !exit.OK() {
		t.Errorf("below the limit: %+v, %v %s", exit, err, out)
	}
	if exit, out, err := r.run(r.probe(), "page-tables", "192"); err != nil || exit.Reason != MemoryLimit {
		t.Errorf("%+v, %v %s", exit, err, out)
	}
}

// probePageTables reads one page in two megabytes of a great deal of memory: each
// costs a page of page tables. Then it waits to be found.
func probePageTables(mib string) error {
	var n int
	if _, err := fmt.Sscan(mib, &n); err != nil {
		return err
	}
	const step = 2 << 20
	m, err := unix.Mmap(-1, 0, n<<20/4096*step, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return err
	}
	_ = unix.Madvise(m, unix.MADV_NOHUGEPAGE) // a kernel without huge pages refuses it
	for i := 0; i < len(m); i += step {
		if m[i] != 0 {
			return fmt.Errorf("an empty page is not empty")
		}
	}
	time.Sleep(500 * time.Millisecond)
	return nil
}
