package client

import "testing"

func TestRequirements(t *testing.T) {
	w := wiring(Codex)
	w.Guard = []string{"/post/bin/cordon", "hook", "--client", "codex", "--lease", "/post/warrant.json"}
	w.Extra = operators(t, Codex)
	got, err := Requirements(w)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "codex_requirements.golden", got)
	w.Guard[0] = "cordon"
	if got, err := Requirements(w); err == nil || got != nil {
		t.Errorf("a relative guard: %s", got)
	}
	if got, err := Requirements(wiring(Claude)); err == nil || got != nil {
		t.Errorf("of another client: %s", got)
	}
}
