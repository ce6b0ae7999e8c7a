package launch

import (
	"testing"

	"cordon/internal/agent/clients"
	"cordon/internal/cell"
	"cordon/internal/guard"
	"cordon/internal/policy"
)

// A client runs only if its guard denied the canary, both to the client and to cordon.
func TestJudgeCanary(t *testing.T) {
	claude, err := clients.Of("claude")
	if err != nil {
		t.Fatal(err)
	}
	answer := claude.Dialect.Denial("no")
	denies := &cell.Tried{Code: answer.Exit, Stdout: answer.Stdout, Stderr: answer.Stderr}
	for _, c := range []struct {
		name  string
		mode  policy.GuardMode
		tried *cell.Tried
		heard *guard.Record
		ok    bool
	}{
		{"denied", policy.GuardEnforce, denies, &guard.Record{Verdict: guard.Deny}, true},
		{"not tried", policy.GuardEnforce, nil, &guard.Record{Verdict: guard.Deny}, false},
		{"not started", policy.GuardEnforce, &cell.Tried{Error: "no such file"}, &guard.Record{Verdict: guard.Deny}, false},
		{"not heard of", policy.GuardEnforce, denies, nil, false},
		{"heard to allow", policy.GuardEnforce, denies, &guard.Record{Verdict: guard.Allow}, false},
		{"denied to cordon only", policy.GuardEnforce, &cell.Tried{}, &guard.Record{Verdict: guard.Deny}, false},
		{"killed", policy.GuardEnforce, &cell.Tried{Code: 137}, &guard.Record{Verdict: guard.Deny}, false},
		{"only warned", policy.GuardEnforce, &cell.Tried{}, &guard.Record{Verdict: guard.Allow, Warned: true}, false},
		{"warned as asked", policy.GuardWarn, &cell.Tried{}, &guard.Record{Verdict: guard.Allow, Warned: true}, true},
		{"silent", policy.GuardWarn, &cell.Tried{}, &guard.Record{Verdict: guard.Allow}, false},
	} {
		o := &clientSetup{adapter: claude, life: newHookWatch()}
		o.life.beginTrial()
		if c.heard != nil {
			o.life.observe(*c.heard)
		}
		if err := judgeCanary(c.mode, o, c.tried); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
