package present

import (
	"strings"
	"testing"

	"cordon/internal/egress/record"
	"cordon/internal/ledger"
)

// What a client asks for by itself is said, of that client and where it was refused.
func TestOwnNames(t *testing.T) {
	asked := func(v record.Verdict) record.Tally {
		return record.Tally{Tried: []record.Tried{{Name: "raw.githubusercontent.com", Verdict: v}, {Name: "example.com", Verdict: record.Refused}}}
	}
	codex := &ledger.Worker{Agent: &ledger.Agent{Client: "codex"}}
	if got := OwnNames(codex, asked(record.Refused)); len(got) != 1 || !strings.Contains(got[0], "codex asks for raw.githubusercontent.com itself") {
		t.Errorf("%q", got)
	}
	for _, w := range []*ledger.Worker{nil, {}, {Agent: &ledger.Agent{Client: "claude"}}} {
		if got := OwnNames(w, asked(record.Refused)); got != nil {
			t.Errorf("%q", got)
		}
	}
	if got := OwnNames(codex, asked(record.Allowed)); got != nil {
		t.Errorf("allowed: %q", got)
	}
}
