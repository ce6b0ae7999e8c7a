package cell

import (
	"os"
	"path/filepath"
	"testing"

	"cordon/internal/cell/plan"
	"cordon/internal/testwait"
)

// Each limit ends the command with its name; a little less than it does not.
func TestConfinedLimits(t *testing.T) {
	for name, c := range map[string]struct {
		limits      plan.Limits
		over, below string
		want        Reason
		program     string
	}{
		"memory": {
			plan.Limits{Memory: 64 << 20}, `python3 -c 'x = b"x" * 200000000; import time; time.sleep(60)'`,
			`python3 -c 'x = b"x" * 10000000'`, MemoryLimit, "python3",
		},
		"memory of many": {
			plan.Limits{Memory: 64 << 20}, `for i in 1 2 3 4 5 6; do python3 -c 'x = b"x" * 20000000; import time; time.sleep(60)' & done; wait`,
			`python3 -c 'x = b"x" * 20000000'`, MemoryLimit, "python3",
		},
		"memory in files": {plan.Limits{Memory: 64 << 20}, `head -c 100000000 /dev/zero >/dev/shm/x; sleep 60`, `head -c 10000000 /dev/zero >/dev/shm/x`, MemoryLimit, "sh"},
		"processes":       {plan.Limits{Processes: 12}, `i=0; while test $i -lt 14; do sleep 60 & i=$((i+1)); done; wait`, `sleep 0.2 & sleep 0.2 & wait`, ProcessLimit, "sh"},
		"daemons":         {plan.Limits{Processes: 12}, `i=0; while test $i -lt 14; do setsid sleep 60 & i=$((i+1)); done; sleep 60`, `setsid sleep 0.2 & sleep 0.2`, ProcessLimit, "sh"},
		"open files": {plan.Limits{Files: 40}, `python3 -c 'import time, os
f = []
try:
  while True: f.append(os.open("/dev/null", 0))
except OSError: time.sleep(60)'`, `true`, FileLimit, "python3"},
		"one large file":   {plan.Limits{Disk: 8 << 20}, `head -c 20000000 /dev/zero >big; exit $?`, `head -c 4000000 /dev/zero >big`, DiskLimit, "sh"},
		"many small files": {plan.Limits{Disk: 8 << 20}, `i=0; while :; do head -c 1000000 /dev/zero >f$i; i=$((i+1)); sleep 0.02; done`, `head -c 1000000 /dev/zero >f`, DiskLimit, "sh"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			need(t, c.program)
			r := newRoom(t)
			r.order.Limits = c.limits
			r.command.Limit = testwait.Bound
			exit, out, err := r.run("sh", "-c", c.below)
			if err != nil || !exit.OK() {
				t.Errorf("below the limit: %+v, %v %s", exit, err, out)
			}
			if exit, out, err = r.run("sh", "-c", c.over); err != nil || exit.Reason != c.want || exit.OK() {
				t.Errorf("%+v, %v %s", exit, err, out)
			}
		})
	}
}

// A cell whose layers are kept in memory is charged with its own files there, not with those of others.
func TestLimitsAreOfTheCellAlone(t *testing.T) {
	t.Parallel()
	need(t, "head")
	layers, err := os.MkdirTemp("/dev/shm", "cordon-test-")
	if err != nil {
		t.Skipf("nothing can be kept in memory: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(layers) })
	r := newRoom(t)
	r.put(filepath.Join(layers, "others"), string(make([]byte, 40<<20)))
	r.order.Layers = filepath.Join(layers, "own")
	if err := os.Mkdir(r.order.Layers, 0o700); err != nil {
		t.Fatal(err)
	}
	r.order.Limits = plan.Limits{Memory: 32 << 20, Disk: 32 << 20}
	r.sh("echo x >/tmp/x; sleep 0.5")
	r.order.Limits.Disk = 0
	for _, at := range []string{"/dev/shm", "/tmp", r.home} {
		if exit, out, err := r.run("sh", "-c", "head -c 40000000 /dev/zero >"+at+"/x; sleep 60"); err != nil || exit.Reason != MemoryLimit {
			t.Errorf("in %s: %+v, %v %s", at, exit, err, out)
		}
	}
}
