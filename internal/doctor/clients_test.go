package doctor

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"cordon/internal/agent"
	"cordon/internal/guard"
	"cordon/internal/journal"
	"cordon/internal/ledger"
)

func TestClientLines(t *testing.T) {
	known := &agent.Adapter{Name: "claude", Program: "claude", Package: "pkg", Oldest: agent.Version{2, 1, 295}, Tested: agent.Version{2, 1, 325}}
	at := func(text string, proof *clientProof) clientFound {
		v, err := agent.ParseVersion(text)
		if err != nil {
			t.Fatal(err)
		}
		return clientFound{Client: "claude", Path: "/bin/claude", said: text, version: v, Version: v.String(), adapter: known, Proof: proof}
	}
	lacks := at("2.1.325", nil)
	t.Setenv("PATH", t.TempDir())
	lacks.lacking = lacking([]agent.Helper{{Program: "rg", Without: "it cannot search", Package: "ripgrep"}})
	proof := &clientProof{Worker: "brave-otter", Version: "2.1.325", At: time.Now().Add(-2 * time.Hour), Event: "SessionStart", Calls: 41, Denied: 3}
	for name, c := range map[string]struct {
		found  clientFound
		status status
		words  []string
	}{
		"absent":  {clientFound{Client: "claude"}, statusInfo, []string{"not on PATH"}},
		"broken":  {clientFound{Client: "claude", Path: "/bin/claude", failed: errors.New("it fell over")}, statusWarn, []string{"it fell over"}},
		"old":     {at("2.1.197 (Claude Code)", proof), statusWarn, []string{"2.1.197 (Claude Code) at /bin/claude", "too old", "cordon run refuses it"}},
		"newer":   {at("2.2.0", nil), statusWarn, []string{"newer than the 2.1.325", "hook not proven yet: it is proven at each launch"}},
		"lacking": {lacks, statusWarn, []string{"2.1.325 at /bin/claude", "rg was not found, and without it it cannot search (install ripgrep)"}},
		"right":   {at("2.1.325", nil), statusOK, []string{"hook not proven yet"}},
		"proven":  {at("2.1.325", proof), statusOK, []string{"hook proven by brave-otter, 2h ago (SessionStart; 41 calls judged, 3 denied)"}},
		"another": {at("2.1.300", proof), statusOK, []string{"hook proven with 2.1.325 by brave-otter, not yet with this version"}},
	} {
		got := c.found.check()
		if got.Status != c.status || got.Name != "claude" {
			t.Errorf("%s: %+v", name, got)
		}
		for _, w := range c.words {
			if !strings.Contains(Line(got.view()), w) {
				t.Errorf("%s: %q does not say %q", name, Line(got.view()), w)
			}
		}
	}
}

// The last launch counts, and only one that was wired: a proof of another client's,
// or an older one, is not taken for it.
func TestLastProofs(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	n := 0
	event := func(worker, kind string, data any) journal.Event {
		b, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		n++
		return journal.Event{Seq: uint64(n), Time: began.Add(time.Duration(n) * time.Minute), Type: kind, Worker: worker, Data: b}
	}
	l := &ledger.Ledger{
		Events: []journal.Event{
			event("a", ledger.Wired, ledger.Wiring{Client: "claude", Version: "1.0.0"}),
			event("a", ledger.Proven, ledger.Proof{Event: "SessionStart"}),
			event("b", ledger.Wired, ledger.Wiring{Client: "claude", Version: "2.0.0"}),
			event("c", ledger.Wired, ledger.Wiring{Client: "codex", Version: "3.0.0"}),
			event("b", ledger.Proven, ledger.Proof{Event: "PreToolUse"}),
			event("d", ledger.Proven, ledger.Proof{Event: "of nobody"}),
		},
		Workers: []*ledger.Worker{{ID: "a", Guard: &guard.Tally{Calls: 1}}, {ID: "b", Guard: &guard.Tally{Calls: 41, Denied: 3}}},
	}
	got := lastProofs(l)
	want := clientProof{Worker: "b", Version: "2.0.0", At: began.Add(5 * time.Minute), Event: "PreToolUse", Calls: 41, Denied: 3}
	if len(got) != 1 || got["claude"] == nil || *got["claude"] != want {
		t.Errorf("%+v", got)
	}
}
