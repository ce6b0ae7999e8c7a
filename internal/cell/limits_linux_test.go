package cell

import (
	"testing"
	"time"

	"cordon/internal/cell/plan"
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
			r.command.Limit = 20 * time.Second
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
