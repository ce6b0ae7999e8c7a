package launch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/git"
	"cordon/internal/lease"
	"cordon/internal/policy"
)

func TestAgentRules(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	p := policy.Default()
	p.Filesystem.WriteRoots = []string{"src", "/w/tree/docs", "tools/.claude"}
	p.Filesystem.DenyWrite = []string{"src/gen", "/etc", "../other", "/w/tree/docs/old", "**/*.lock"}
	p.Filesystem.DenyRead = []string{"@default", "**/*.pem", "../other", "/w", "~/notes", "/w/*/x"}
	p.Network.AllowedDomains = []string{"example.com", "@npm"}
	terms := func(p policy.Policy) lease.Terms {
		return lease.Terms{
			ID: "brisk-otter", Branch: "b", Base: git.OID(strings.Repeat("ab", 20)), Target: "refs/heads/main",
			Created: began, Expires: began.Add(time.Hour), Policy: p,
		}
	}
	place := lease.Place{Worktree: "/w/tree", Home: "/home/op"}
	sealed, err := lease.Seal(lease.Lease{Terms: terms(p), Place: place})
	if err != nil {
		t.Fatal(err)
	}
	r := AgentRules(sealed)
	if r.Tree != "/w/tree" || !slices.Equal(r.Write, []string{"src", "docs", "tools/.claude"}) {
		t.Errorf("%+v", r)
	}
	holds := func(list []string, want bool, entries ...string) {
		t.Helper()
		for _, e := range entries {
			if slices.Contains(list, e) != want {
				t.Errorf("%q: want %v in %q", e, want, list)
			}
		}
	}
	holds(r.DenyWrite, true, "src/gen", "docs/old", "**/*.lock", "**/.git", "**/.codex", "**/cordon.yaml")
	holds(r.DenyWrite, false, "**/.claude", "/etc", "../other")
	holds(r.DenyRead, true, "/w/tree/**/*.pem", "/w/other", "/home/op/notes", "/home/op/.ssh", "/w/*/x")
	holds(r.DenyRead, false, "/w") // it would take the tree
	holds(r.Domains, true, "example.com", "registry.npmjs.org")

	inCell := cellRules(sealed)
	holds(inCell.DenyRead, true, "/w/tree/**/*.pem", "/w/other", "/home/op/notes", "/w/*/x")
	holds(inCell.DenyRead, false, "/home/op/.ssh", "/w")
	p.Isolation = policy.Degraded
	if sealed, err = lease.Seal(lease.Lease{Terms: terms(p), Place: place}); err != nil {
		t.Fatal(err)
	}
	holds(cellRules(sealed).DenyRead, true, "/home/op/.ssh")
}
