package desk

import (
	"time"

	"cordon/internal/view"
)

// Machine is what workers take of the machine. A number that is not known is 0.
type Machine struct {
	Running     int // workers
	Processors  int
	Load        float64 // processes that run or wait for a processor, on average of the last minute
	Memory      int64   // bytes that are taken by anything
	MemoryTotal int64
	Disk        int64 // bytes of workers
	DiskFree    int64
	Cost        float64 // US dollars that clients say they used within a day
	Tokens      int64
}

// Count adds what is known of workers.
func (m *Machine) Count(workers []view.Worker, now time.Time) {
	for _, w := range workers {
		if w.PID > 0 {
			m.Running++
		}
		m.Disk += w.Disk
		if w.Client == nil || w.Client.Stream == nil || now.Sub(w.Changed) >= 24*time.Hour {
			continue
		}
		m.Cost += w.Client.Stream.Cost
		m.Tokens += int64(w.Client.Stream.Input) + int64(w.Client.Stream.Output)
	}
}
