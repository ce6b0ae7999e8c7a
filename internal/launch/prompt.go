package launch

import (
	"fmt"
	"strings"

	"cordon/internal/ledger"
)

// promptFor is what an agent is told: its task, or, when it goes on with a conversation
// of an earlier launch, what has come since. again says which.
func promptFor(w *ledger.Worker, how Request) (text string, again bool) {
	if w.Proof == nil { // no client has run that could remember anything
		if how.Prompt != "" {
			return newAnswers(w) + how.Prompt, false
		}
		return newAnswers(w) + w.Agent.Prompt, false
	}
	if how.Prompt != "" {
		return newAnswers(w) + how.Prompt, true
	}
	if text := newAnswers(w); text != "" {
		return text + "Go on with your task.", true
	}
	if how.Terminal != nil {
		return "", true
	}
	return "You were interrupted. Look at what is there, and go on with your task: " + w.Agent.Prompt, true
}

// newAnswers tells what the operator has said to the questions of a worker since it ran.
func newAnswers(w *ledger.Worker) string {
	var b strings.Builder
	for _, q := range w.Questions {
		if q.Answer != nil && !q.Heard {
			fmt.Fprintf(&b, "You asked (%s): %s\nThe operator answers: %s\n\n", q.ID(), q.Text, q.Answer.Text)
		}
	}
	return b.String()
}
