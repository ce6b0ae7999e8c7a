package worksite

import "cordon/internal/lease"

// Voice is told what happens while it happens.
type Voice interface {
	Step(id lease.ID, word, text string)
	Files(id lease.ID, done, total int)
}

// Silent says nothing.
type Silent struct{}

// Step implements Voice.
func (Silent) Step(lease.ID, string, string) {}

// Files implements Voice.
func (Silent) Files(lease.ID, int, int) {}
