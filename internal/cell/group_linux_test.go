package cell

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	probes["page-tables"] = probePageTables
}

// needPlace skips a test where no control group can be made: .ci/vm runs it where one can.
func needPlace(t *testing.T, controllers ...string) string {
	t.Helper()
	place := findPlace(controllers)
	if place == "" {
		t.Skipf("no control group of version 2 with %s can be made here; .ci/vm runs this test where one can", strings.Join(controllers, " and "))
	}
	return place
}

// A group has the limits that it was made with, and is gone when it is removed.
func TestControlGroup(t *testing.T) {
	above := needPlace(t, "memory", "pids")
	g := newGroup(Limits{Processes: 64, Memory: 32 << 20})
	if g == nil {
		t.Fatalf("no group was made in %s", above)
	}
	for file, want := range map[string]string{"pids.max": "80", "memory.max": "33554432", "memory.oom.group": "1"} {
		if got := strings.TrimSpace(readText(filepath.Join(g.dir, file))); got != want {
			t.Errorf("%s is %q, want %s", file, got, want)
		}
	}
	if reason := g.reached(); reason != "" {
		t.Errorf("an empty group has reached the %s", reason)
	}
	if !g.limits(32<<20) || g.limits(1<<20) {
		t.Error("the group does not know its own limit")
	}
	g.remove()
	if _, err := os.Lstat(g.dir); err == nil {
		t.Errorf("%s is still there", g.dir)
	}
}

// A group that holds processes cannot be divided before they are moved out of it.
func TestControlGroupIsVacated(t *testing.T) {
	above := needPlace(t, "memory", "pids")
	g := newGroupIn(above, Limits{Processes: 64})
	if g == nil {
		t.Fatalf("no group was made in %s", above)
	}
	defer g.remove()
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
		_ = os.Remove(filepath.Join(g.dir, outsideGroup))
	}()
	if err := g.join(sleeper.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if enable(g.dir, []string{"memory"}) {
		t.Error("a group was divided while it held a process")
	}
	if !vacate(g.dir) || !enable(g.dir, []string{"memory"}) || !gives(g.dir, []string{"memory"}) {
		t.Error("the group could not be divided after its process was moved")
	}
	if got := readText(fmt.Sprintf("/proc/%d/cgroup", sleeper.Process.Pid)); !strings.Contains(got, outsideGroup) {
		t.Errorf("the process is in %s", got)
	}
}

// The kernel counts its own memory for a cell in a group, and the limit is named.
func TestControlGroupHoldsKernelMemory(t *testing.T) {
	needPlace(t, "memory")
	for _, c := range []struct {
		mib  string
		want Reason
	}{{"8", Exited}, {"192", MemoryLimit}} {
		r := newRoom(t)
		r.order.Limits = Limits{Memory: 96 << 20}
		r.command.Limit = 60 * time.Second
		var by Counting
		r.command.Started = func(l Launch) error { by = l.Memory; return nil }
		exit, out, err := r.run(r.probe(), "page-tables", c.mib)
		if err != nil || exit.Reason != c.want || by != ByGroup {
			t.Errorf("%s MiB of page tables: %+v, held by %q, %v %s", c.mib, exit, by, err, out)
		}
	}
}

// Without a group the warden counts the same.
func TestCountedKernelMemory(t *testing.T) {
	r := newRoom(t)
	r.order.Limits = Limits{Memory: 96 << 20}
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
