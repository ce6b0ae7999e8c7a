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
		return next, wake
	}
	for i, st := range next {
		if i == 0 && len(r.active) == 0 {
			start = append(start, st)
			continue
		}
		waits[st.Stage.ID] = fmt.Sprintf("waits for memory: %s of %s are spare", terminal.Size(spare), terminal.Size(total))
	}
	return start, r.session.Now().Add(memoryWait)
}
