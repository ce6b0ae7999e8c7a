package worksite

import (
	"time"

	"cordon/internal/lease"
)

// DefaultGrace is how long an interrupted command may take to end.
const DefaultGrace = 5 * time.Second

// StopGrace is how long an interrupted command of a worker may take to end: as long as the
// operator said who stopped it since this process began.
func (s *Site) StopGrace(id lease.ID) time.Duration {
	w, err := s.Find(string(id))
	if err != nil || w.Stop == nil || w.StopTime.Before(s.opened) {
		return DefaultGrace
	}
	return w.Stop.Grace
}
