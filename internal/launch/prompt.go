package launch

import "cordon/internal/ledger"

// promptFor is what an agent is told: its task, or, when it goes on with a conversation
// of an earlier launch, what has come since. again says which.
func promptFor(w *ledger.Worker, how Request) (text string, again bool) {
	again = w.Proof != nil // otherwise no client has run that could remember anything
	said := w.NewAnswers() + feedback(w, again) + how.Prompt
	switch {
	case !again && how.Prompt == "" && w.Feedback == "":
		return said + w.Agent.Prompt, false
	case !again, how.Prompt != "", w.Feedback != "":
		return said, again
	case said != "":
		return said + "Continue with your task.", true
	case how.Terminal != nil:
		return "", true
	}
	return "You were interrupted. Look at the present state, and continue with your task: " + w.Agent.Prompt, true
}

// operatorsWords are what a command finds in its feedback about this launch. An agent gets them as
// its prompt.
func operatorsWords(w *ledger.Worker, how Request) string {
	if w.Agent != nil || how.Prompt == "" {
		return ""
	}
	return "The operator says: " + how.Prompt + "\n"
}

// feedback is what an agent is told about its earlier attempt, if there was one. A client
// that remembers nothing is told its task too.
func feedback(w *ledger.Worker, again bool) string {
	if w.Feedback == "" || again {
		return w.Feedback
	}
	return "Your task: " + w.Agent.Prompt + "\n\n" + w.Feedback
}
