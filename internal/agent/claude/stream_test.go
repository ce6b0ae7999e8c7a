package claude

import "testing"

func TestReason(t *testing.T) {
	for got, want := range map[string]string{
		reasonOf("<tool_use_error>no</tool_use_error>"):         "no",
		reasonOf("PreToolUse:X hook error: [/g a]: BLOCKED: y"): "BLOCKED: y",
		reasonOf("PreToolUse: is what I print"):                 "PreToolUse: is what I print",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
