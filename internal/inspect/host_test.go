package inspect

import (
	"encoding/json"
	"testing"

	"cordon/internal/audit"
	"cordon/internal/git"
)

// A state is the same after it was stored, and not when anything in it changed.
func TestSameHost(t *testing.T) {
	t.Parallel()
	state := func() *audit.HostState {
		return &audit.HostState{
			Brief: true, Refs: []git.Ref{{Name: "refs/heads/main", OID: "1"}}, Control: map[string]string{"config": "x"},
			Checkouts: []audit.CheckoutState{{Checkout: git.Checkout{Top: "/a"}, Present: true}}, Settings: map[string]map[string]string{},
		}
	}
	text, err := json.Marshal(state())
	if err != nil {
		t.Fatal(err)
	}
	var stored audit.HostState
	if err := json.Unmarshal(text, &stored); err != nil || !sameHost(&stored, state()) {
		t.Errorf("a state differs from itself: %v", err)
	}
	for what, change := range map[string]func(*audit.HostState){
		"a ref":      func(s *audit.HostState) { s.Refs[0].OID = "2" },
		"a new ref":  func(s *audit.HostState) { s.Refs = append(s.Refs, git.Ref{Name: "refs/heads/x", OID: "1"}) },
		"a file":     func(s *audit.HostState) { s.Control["config"] = "y" },
		"a hook":     func(s *audit.HostState) { s.Control["hooks/pre-push"] = "x" },
		"a checkout": func(s *audit.HostState) { s.Checkouts[0].Present = false },
	} {
		now := state()
		change(now)
		if sameHost(&stored, now) {
			t.Errorf("%s changed unseen", what)
		}
	}
}
