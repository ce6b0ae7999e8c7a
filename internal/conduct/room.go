package conduct

import (
	"fmt"
	"time"

	"cordon/internal/cell"
	"cordon/internal/plan"
	"cordon/internal/terminal"
)

// A machine is short of memory if less than a part of it is spare; it is asked again after a
// while.
const (
	sparePart  = 8
	mostSpare  = 4 << 30 // enough on every machine
	memoryWait = 5 * time.Second
)

// short reports whether another worker would bring a machine into distress. Unknown numbers are 0.
func short(spare, total int64) bool {
	return total > 0 && spare < min(total/sparePart, mostSpare)
}

// hasRoom leaves out every stage while the machine is short of memory and others run: one always may.
func (r *running) hasRoom(next []plan.Standing, waits map[string]string) (start []plan.Standing, wake time.Time) {
	total, err := cell.MachineMemory()
	spare := cell.SpareMemory()
	if err != nil || len(next) == 0 || !short(spare, total) {
		clear(r.short)
		return next, wake
	}
	alone := len(r.active) == 0
	for _, st := range next {
		id := st.Stage.ID
		if r.active[id] || r.stuck[id] != "" {
			start = append(start, st)
			continue
		}
		if alone {
			start, alone = append(start, st), false
			continue
		}
		waits[id] = fmt.Sprintf("waits for memory: %s of %s are spare", terminal.Size(spare), terminal.Size(total))
		if !r.short[id] {
			r.short[id] = true
			r.conductor.say(id, "waits", "%s", waits[id])
		}
	}
	return start, r.session.Now().Add(memoryWait)
}
