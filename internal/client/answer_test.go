package client_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"cordon/internal/agent/clients"
	. "cordon/internal/client"
)

func TestEncode(t *testing.T) {
	for _, n := range append(clients.Names(), "cursor", "") {
		for _, d := range []Decision{Deny, Ask, "", "nonsense"} {
			for _, text := range []string{"BLOCKED: x", "", " \n", "\x1b[2J", "\xff"} {
				refuses(t, n, of(n).Encode(Verdict{Decision: d, Message: text}, PreTool), string(n)+" "+string(d))
			}
		}
		if a := of(n).Encode(Verdict{Decision: Allow, Message: "not said"}, PreTool); a.Exit != 0 || a.Stdout != nil || a.Stderr != nil {
			t.Errorf("%s: allow says %+v", n, a)
		}
		a := of(n).Encode(Verdict{Decision: Warn, Message: "take \"care\"\n<b>"}, PreTool)
		want := ""
		if n == Claude {
			want = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"take \"care\"\n\u003cb\u003e"}}` + "\n"
		}
		if a.Exit != 0 || string(a.Stdout) != want || a.Stderr != nil {
			t.Errorf("%s: warn says %d %s %s", n, a.Exit, a.Stdout, a.Stderr)
		}
		a = of(n).Encode(Verdict{Decision: Ask, Message: "sure?", Interactive: true}, PreTool)
		if n != Claude {
			refuses(t, n, a, string(n)+" ask")
		} else if want := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}` + "\n"; a.Exit != 0 || string(a.Stdout) != want {
			t.Errorf("asks %d %s", a.Exit, a.Stdout)
		}
	}
	refuses(t, Claude, of(Claude).Encode(Verdict{Decision: Ask, Message: "sure?", Interactive: true}, SessionStart), "another event")
}

// refuses holds an answer to the form that no client takes for an allowance.
func refuses(t *testing.T, n Name, a Answer, what string) {
	t.Helper()
	if !of(n).Refuses(a) || !utf8.Valid(a.Stderr) || bytes.ContainsRune(a.Stderr, '\x1b') {
		t.Errorf("%s: %d, stdout %q, stderr %q", what, a.Exit, a.Stdout, a.Stderr)
	}
}

func TestDenialKeepsTheText(t *testing.T) {
	a := Denial("claude", "BLOCKED: x\nYou tried to: é\x07\n")
	if string(a.Stderr) != "BLOCKED: x\nYou tried to: é\n" {
		t.Errorf("%q", a.Stderr)
	}
	refuses(t, "x", Denial("x\x1by", ""), "no text")
	if a := Denial("", strings.Repeat("é", MaxMessage)); len(a.Stderr) > MaxMessage+16 || !utf8.Valid(a.Stderr) {
		t.Errorf("%d bytes", len(a.Stderr))
	}
}
