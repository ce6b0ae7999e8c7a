package worksite

import (
	"os"
	"time"

	"cordon/internal/config"
	"cordon/internal/ledger"
)

// LastSign is the time of a worker's last sign of life: its last event, or the last time
// that its output, a decision of its guard or one about its network was recorded.
func (s *Site) LastSign(w *ledger.Worker) time.Time {
	last := w.Changed
	for _, name := range []string{"transcript", StreamFile, DecisionsFile, netFile} {
		if fi, err := os.Lstat(s.WorkerFile(w.ID, name)); err == nil && fi.ModTime().After(last) {
			last = fi.ModTime()
		}
	}
	return last.UTC()
}

// Silent reports whether a running worker has shown no sign of life for as long as the operator's
// configuration says, and since when.
func (s *Site) Silent(w *ledger.Worker, now Standing) (since time.Time, silent bool) {
	if !now.Held || now.Status != ledger.Running {
		return time.Time{}, false
	}
	after := config.Default().Notify.Silent
	if operator, err := s.Operator(); err == nil { // those that act on it say what is wrong with it
		after = operator.Notify.Silent
	}
	since = s.LastSign(w)
	return since, s.Now().Sub(since) > time.Duration(after)
}

// Process is the cordon process that works on a worker now, or 0.
func (s *Site) Process(w *ledger.Worker) int {
	return s.State.Holder(string(w.ID))
}
