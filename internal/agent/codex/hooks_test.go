package codex

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// TestHash compares with the sums of what Codex was measured to hash.
func TestHash(t *testing.T) {
	for _, row := range []struct {
		word, matcher, command string
		timeout                int
		hashed                 string
	}{
		{"PreToolUse", "*", "CMD", 10, `{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"CMD","timeout":10,"type":"command"}],"matcher":"*"}`},
		{"SessionStart", "", `'a' <b> && "c"`, 600, `{"event_name":"session_start","hooks":[{"async":false,"command":"'a' <b> && \"c\"","timeout":600,"type":"command"}]}`},
		{"UserPromptSubmit", "", "a\nb", 1, `{"event_name":"user_prompt_submit","hooks":[{"async":false,"command":"a\nb","timeout":1,"type":"command"}]}`},
	} {
		want := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(row.hashed)))
		if got, err := hashOf(row.word, row.matcher, row.command, row.timeout); err != nil || got != want {
			t.Errorf("%s %s: %s, %v", row.word, row.command, got, err)
		}
	}
}
