package launch

import (
	"strings"
	"testing"

	"cordon/internal/ledger"
)

func TestPrompt(t *testing.T) {
	answered := []ledger.Inquiry{{Number: 1, Question: ledger.Question{Text: "left?"}, Answer: &ledger.Answer{Text: "right"}},
		{Number: 2, Question: ledger.Question{Text: "open"}}}
	for _, row := range []struct {
		name  string
		w     ledger.Worker
		how   Request
		again bool
		has   []string
		not   string
	}{
		{"first", ledger.Worker{}, Request{}, false, []string{"the task"}, "interrupted"},
		{"never came to life", ledger.Worker{}, Request{Prompt: "other"}, false, []string{"other"}, "the task"},
		{"interrupted", ledger.Worker{Proof: &ledger.Proof{}}, Request{}, true, []string{"interrupted", "the task"}, ""},
		{"answered", ledger.Worker{Proof: &ledger.Proof{}, Questions: answered}, Request{}, true, []string{"q1", "left?", "right", "Continue"}, "open"},
		{"answered and told", ledger.Worker{Proof: &ledger.Proof{}, Questions: answered}, Request{Prompt: "faster"}, true, []string{"right", "faster"}, "Continue"},
	} {
		row.w.Agent = &ledger.Agent{Client: "claude", Prompt: "the task"}
		text, again := promptFor(&row.w, row.how)
		if again != row.again || row.not != "" && strings.Contains(text, row.not) {
			t.Errorf("%s: %v %q", row.name, again, text)
		}
		for _, want := range row.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %q", row.name, want, text)
			}
		}
	}
}
