package desk

import (
	"testing"

	"cordon/internal/view"
)

// Every state that a worker can have has a sign of its own, and every worker that needs a person has a reason on the desk.
func TestStates(t *testing.T) {
	for _, s := range view.States() {
		if _, ok := glyphs[s.Word]; !ok {
			t.Errorf("%s has no sign", s.Word)
		}
	}
}
