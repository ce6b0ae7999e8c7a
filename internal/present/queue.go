package present

import (
	"cordon/internal/queue/line"
	"cordon/internal/view"
)

// QueueView is what waits for its landing.
func QueueView(lines []line.Line) *view.Queue {
	v := &view.Queue{Branches: []view.QueueBranch{}}
	for _, l := range lines {
		b := view.QueueBranch{Target: Branch(l.Target), Window: l.Queue.Width(), Results: []view.QueueResult{}}
		for _, s := range l.Standings() {
			b.Results = append(b.Results, view.QueueResult{Worker: s.ID, State: string(s.Status), Ahead: s.Ahead, Again: s.Again, Since: s.Since})
		}
		v.Branches = append(v.Branches, b)
	}
	return v
}
