package agent_test

import (
	"path"
	"regexp"
	"testing"

	. "cordon/internal/agent"
	"cordon/internal/agent/clients"
)

// TestKeep: no client finds settings, variables, hooks or code of the launch before.
func TestKeep(t *testing.T) {
	obeyed := regexp.MustCompile(`(?i)\.env|config|setting|hook|plugin|extension|skill|agent|command|cache|package|\.m?[jt]s$|\.toml$|\.git`)
	for _, a := range clients.All() {
		if len(a.Keep) == 0 {
			t.Errorf("%s: there is nothing to go on with", a.Name)
		}
		for _, pattern := range a.Keep {
			if obeyed.MatchString(pattern) || path.Clean(pattern) != pattern || path.IsAbs(pattern) {
				t.Errorf("%s keeps %s", a.Name, pattern)
			}
		}
		for _, name := range []string{
			".env", "config.toml", "config.json", "hooks.json", "settings.json", "settings.local.json", ".claude.json", "plugins", "hooks", "extensions", "package",
			".gemini/.env", ".gemini/settings.json", ".gemini/tmp/bin", ".gemini/extensions", "cache", "data/opencode/snapshot", "data/opencode/bin", "data/opencode/auth.json",
			"session-state/1/extensions", "projects/x/memory", "projects/x/settings.json",
		} {
			if all, _ := a.Keeps(name); all {
				t.Errorf("%s keeps %s", a.Name, name)
			}
		}
	}
}

func TestKeeps(t *testing.T) {
	a := Adapter{Keep: []string{"a/*/c", "a/x", "e"}}
	for name, want := range map[string][2]bool{
		"a": {false, true}, "a/b": {false, true}, "a/b/c": {true, false}, "a/b/d": {}, "a/x": {true, false}, "a/b/c/d": {true, false},
		"e": {true, false}, "e/f": {true, false}, "ee": {}, "b": {}, "c": {},
	} {
		if all, some := a.Keeps(name); all != want[0] || some != want[1] {
			t.Errorf("%s: %v, %v", name, all, some)
		}
	}
}
