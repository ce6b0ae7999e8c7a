package view

import (
	"strings"
	"testing"
	"time"
)

// The critical path says how long a stage took, or has taken so far, and nothing of one that has not begun.
func TestPath(t *testing.T) {
	now := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	p := Plan{Critical: []string{"a", "b", "c", "d", "e"}, Stages: []StageNow{
		{ID: "c", State: "needs", Began: ago(30 * time.Minute), Since: ago(time.Minute)},
		{ID: "a", State: "done", Began: ago(3 * time.Hour), Since: ago(90 * time.Minute)},
		{ID: "b", State: "done", Began: ago(90 * time.Minute), Since: ago(90*time.Minute - 7*time.Second)},
		{ID: "d", State: "waiting"},
		{ID: "e", State: "done", Began: now}, // accepted by a person: nobody knows when it ended
	}}
	if got := strings.Join(p.Path(now), " → "); got != "a (1h 30m) → b (7s) → c (30m so far) → d → e" {
		t.Error(got)
	}
}
