package worksite

import (
	"os"
	"time"

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

// Process is the cordon process that works on a worker now, or 0.
func (s *Site) Process(w *ledger.Worker) int {
	return s.State.Holder(string(w.ID))
}
