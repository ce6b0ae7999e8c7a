package audit

import (
	"path"
	"strings"
	"testing"
)

// The table is matched name by name: a pattern that is not one, or that lies
// below another, would never be reached.
func TestTrustTable(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range trust {
		if row.why == "" {
			t.Error("a row without a reason")
		}
		for _, p := range row.patterns {
			if p != path.Clean(p) || strings.HasPrefix(p, "/") || seen[p] {
				t.Errorf("%q", p)
			}
			if _, err := path.Match(p, ""); err != nil {
				t.Errorf("%q: %v", p, err)
			}
			seen[p] = true
		}
	}
}

func TestTrusted(t *testing.T) {
	for rel, want := range map[string]struct {
		trusted, leads bool
	}{
		".bashrc":                      {true, true},
		".bashrc.swp":                  {},
		".ssh/authorized_keys":         {true, true},
		".sshx":                        {},
		".config":                      {false, true},
		".config/git":                  {true, true},
		".config/gitx":                 {},
		".cargo/config.toml":           {true, true},
		".cargo/registry":              {},
		".claude.json":                 {},
		".claude/projects/x":           {},
		".claude/history.jsonl":        {},
		".claude/settings.json":        {true, true},
		".claude/settings.local.json":  {true, true},
		".codex/sessions/2026/x.jsonl": {},
		".codex/config.toml":           {true, true},
		".cache/bin/x":                 {},
		".local/share":                 {false, true},
		".local/state/x":               {},
	} {
		why, leads := trusted(rel)
		if (why != "") != want.trusted || leads != want.leads {
			t.Errorf("%s: %q, leads %v", rel, why, leads)
		}
		if Matters(rel) != leads {
			t.Errorf("%s matters: %v", rel, !leads)
		}
	}
}
