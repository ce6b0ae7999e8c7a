package cell

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"cordon/internal/cell/limit"
	"cordon/internal/cell/plan"
	"cordon/internal/testwait"
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
		r.command.Limit = testwait.Bound
		var by plan.Counting
		r.command.Started = func(l Launch) error { by = l.Memory; return nil }
		exit, out, err := r.usePageTables(c.mib, c.want == Exited)
		if err != nil || exit.Reason != c.want || by != plan.ByGroup {
			t.Errorf("%s MiB of page tables: %+v, held by %q, %v %s", c.mib, exit, by, err, out)
		}
	}
}

// Without a group the warden counts the same.
func TestCountedKernelMemory(t *testing.T) {
	r := newRoom(t)
	r.order.Limits = plan.Limits{Memory: 96 << 20}
	r.command.Limit = testwait.Bound
	if exit, out, err := r.usePageTables("8", true); err != nil || !exit.OK() {
		t.Errorf("below the limit: %+v, %v %s", exit, err, out)
	}
	if exit, out, err := r.usePageTables("192", false); err != nil || exit.Reason != MemoryLimit {
		t.Errorf("%+v, %v %s", exit, err, out)
	}
}

// usePageTables runs a probe that uses page tables. One that is within the limit runs on until it is told to end.
func (r *room) usePageTables(mib string, within bool) (Exit, string, error) {
	r.t.Helper()
	end, used := filepath.Join(r.tree, "end"), filepath.Join(r.tree, "used")
	if err := unix.Mkfifo(end, 0o644); err != nil {
		r.t.Fatal(err)
	}
	defer func() { _, _ = os.Remove(end), os.Remove(used) }()
	c := r.command
	c.Argv = []string{r.probe(), "page-tables", mib}
	b := r.begin(r.t.Context(), c)
	if within {
		r.appears(b, "used")
		testwait.Still(r.t, "a probe within the limit runs", 500*time.Millisecond, b.runs) // many looks of the warden
		w, err := os.OpenFile(end, os.O_RDWR, 0)
		if err != nil {
			r.t.Fatal(err)
		}
		defer w.Close()
		if _, err := w.WriteString("end\n"); err != nil {
			r.t.Fatal(err)
		}
	}
	return b.end()
}

// probePageTables reads one page in two megabytes of a great deal of memory: each
// costs a page of page tables. Then it waits to be found, or to be told to end.
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
	if err := os.WriteFile("used", []byte("1"), 0o644); err != nil {
		return err
	}
	end, err := os.Open("end")
	if err != nil {
		return err
	}
	_, err = end.Read(make([]byte, 1))
	return err
}
