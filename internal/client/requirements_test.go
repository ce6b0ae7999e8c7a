package client_test

import (
	"testing"

	"cordon/internal/agent/codex"
)

func TestRequirements(t *testing.T) {
	w := wiring(Codex)
	w.Guard = []string{"/post/bin/cordon", "hook", "--client", "codex", "--lease", "/post/warrant.json"}
	w.Extra = operators(t, Codex)
	got, err := codex.Requirements(w)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "codex_requirements.golden", got)
	w.Guard[0] = "cordon"
	if got, err := codex.Requirements(w); err == nil || got != nil {
		t.Errorf("a relative guard: %s", got)
	}
	if got, err := codex.Requirements(wiring(Claude)); err == nil || got != nil {
		t.Errorf("of another client: %s", got)
	}
}
