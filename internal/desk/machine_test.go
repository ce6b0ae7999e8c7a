package desk

import (
	"testing"
	"time"

	"cordon/internal/view"
)

// What clients used on earlier days does not count; what workers take on disk does.
func TestMachineCount(t *testing.T) {
	now := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	used := &view.Client{Stream: &view.Summary{Cost: 0.5, Input: 1000, Output: 20}}
	var m Machine
	m.Count([]view.Worker{
		{PID: 7, Disk: 10, Changed: now}, {Disk: 5, Changed: now.Add(-time.Hour), Client: used}, {Disk: 1, Changed: now.Add(-25 * time.Hour), Client: used},
		{Changed: now, Client: &view.Client{}},
	}, now)
	if want := (Machine{Running: 1, Disk: 16, Cost: 0.5, Tokens: 1020}); m != want {
		t.Errorf("%+v", m)
	}
}
