package mailbox

import (
	"strings"
	"testing"
)

// A question cannot pass for what cordon says itself: what looks like nothing is a space,
// and what turns a line around is not there.
func TestQuestionOfNothing(t *testing.T) {
	for in, want := range map[string]string{
		"sure?" + strings.Repeat("\u2800", 200) + "calm-yak merged": "sure? calm-yak merged",
		"a\u3164\u115f\u1160\uffa0b":                                "a b",
		"\u202eerus\u202c \u2066x\u2069\u061c\u200b?":               "erus x?",
		"two\nlines":             "two lines",
		strings.Repeat("日", 200): strings.Repeat("日", 59) + "…",
	} {
		if got := oneText(plainText(in)); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	if got := plainText("\u2800a\u2800\u202e\n\u3164b\u2800"); got != "a \n b" {
		t.Errorf("%q", got)
	}
	if got := plainText("\u2800\u3164\u202e"); got != "" {
		t.Errorf("a question of nothing is %q", got)
	}
}
