package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/client"
)

// A refusal is shown as one: its words come without the paths of the hook that says them, and
// the client does not call the hook broken. The call is refused all the same.
func TestAgentsRefusalWords(t *testing.T) {
	t.Parallel()
	for _, name := range []client.Name{"claude", "gemini"} {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			target := filepath.Join(filepath.Dir(awayFromTemp(t)), "refused-"+string(name)+".txt")
			t.Cleanup(func() { os.Remove(target) })
			deeds := []deed{{kind: shellTool, command: "echo x >" + target}}
			call, _ := spoken(name, deeds[0])
			control := agentSite(t, name, playing(t, name, deeds, ""))
			control.bare()
			if _, err := os.Stat(target); err != nil {
				t.Fatalf("the client by itself did not do it: %v", err)
			}
			if err := os.Remove(target); err != nil {
				t.Fatal(err)
			}
			s := agentSite(t, name, playing(t, name, deeds, ""))
			o := s.run([]int{0})
			text := s.result(call.Tool, 0).Text
			if !strings.Contains(text, "BLOCKED: ") || !strings.Contains(text, "Instead, you should: ") {
				t.Errorf("the model was told %q", text)
			}
			before, _, _ := strings.Cut(text, "BLOCKED: ")
			if strings.Contains(text, "warrant.json") || strings.Contains(before, "/") || len(before) > 60 {
				t.Errorf("the model was told %q", text)
			}
			if strings.Contains(o.out+o.err, "failed for event") {
				t.Errorf("the refusal reads like a fault:\n%s%s", o.out, o.err)
			}
			if _, err := os.Stat(target); err == nil {
				t.Error("the call ran")
			}
		})
	}
}
