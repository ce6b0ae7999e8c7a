package claude

import "testing"

func TestReason(t *testing.T) {
	for got, want := range map[string]string{
		claudeReason("<tool_use_error>no</tool_use_error>"):         "no",
		claudeReason("PreToolUse:X hook error: [/g a]: BLOCKED: y"): "BLOCKED: y",
		claudeReason("PreToolUse: is what I print"):                 "PreToolUse: is what I print",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
