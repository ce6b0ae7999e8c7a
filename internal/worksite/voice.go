package worksite

import (
	"io"

	"cordon/internal/lease"
)

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

// lender is a voice that speaks on a terminal, and holds its words while another draws
// there.
type lender interface {
	Lend() (hold, back func())
	Behind(w io.Writer) io.Writer
}

// LendTerminal gives the terminal of a voice to a program. From hold on nothing is said
// there; back says it.
func LendTerminal(v Voice) (hold, back func()) {
	if l, ok := v.(lender); ok {
		return l.Lend()
	}
	return func() {}, func() {}
}

// Behind is a writer to the terminal of a voice that waits like the voice.
func Behind(v Voice, w io.Writer) io.Writer {
	if l, ok := v.(lender); ok && w != nil {
		return l.Behind(w)
	}
	return w
}
