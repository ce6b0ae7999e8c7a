package limit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/cell/plan"
)

// needPlace skips a test where no control group can be made: .ci/vm runs it where one can.
func needPlace(t *testing.T, controllers ...string) string {
	t.Helper()
	place := FindPlace(controllers)
	if place == "" {
		t.Skipf("no control group of version 2 with %s can be made here; .ci/vm runs this test where one can", strings.Join(controllers, " and "))
	}
	return place
}

// A group has the limits that it was made with, and is gone when it is removed.
func TestControlGroup(t *testing.T) {
	above := needPlace(t, "memory", "pids")
	g := NewGroup(plan.Limits{Processes: 64, Memory: 32 << 20})
	if g == nil {
		t.Fatalf("no group was made in %s", above)
	}
	for file, want := range map[string]string{"pids.max": "80", "memory.max": "33554432", "memory.oom.group": "1"} {
		if got := strings.TrimSpace(readText(filepath.Join(g.dir, file))); got != want {
			t.Errorf("%s is %q, want %s", file, got, want)
		}
	}
	if reason := g.Reached(); reason != "" {
		t.Errorf("an empty group has reached the %s", reason)
	}
	if !g.limits(32<<20) || g.limits(1<<20) {
		t.Error("the group does not know its own limit")
	}
	g.Remove()
	if _, err := os.Lstat(g.dir); err == nil {
		t.Errorf("%s is still there", g.dir)
	}
}

// A group that holds processes cannot be divided before they are moved out of it.
func TestControlGroupIsVacated(t *testing.T) {
	above := needPlace(t, "memory", "pids")
	g := newGroupIn(above, plan.Limits{Processes: 64})
	if g == nil {
		t.Fatalf("no group was made in %s", above)
	}
	defer g.Remove()
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
		_ = os.Remove(filepath.Join(g.dir, outsideGroup))
	}()
	if err := g.Join(sleeper.Process.Pid); err != nil {
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
