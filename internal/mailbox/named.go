package mailbox

import (
	"fmt"

	"cordon/internal/ledger"
)

// Named finds the question that is meant, and what is left of the words.
func Named(w *ledger.Worker, words []string) (ledger.Inquiry, []string, error) {
	if len(words) > 0 {
		if n, ok := ParseQuestion(words[0]); ok {
			if n > len(w.Questions) {
				return ledger.Inquiry{}, nil, fmt.Errorf("%s has asked no question q%d (cordon inbox shows them)", w.ID, n)
			}
			return w.Questions[n-1], words[1:], nil
		}
	}
	open := w.Open()
	switch len(open) {
	case 1:
		return open[0], words, nil
	case 0:
		return ledger.Inquiry{}, nil, fmt.Errorf("%s has no open question (cordon inbox shows them)", w.ID)
	}
	return ledger.Inquiry{}, nil, fmt.Errorf("%s has %d open questions: name one, as in cordon answer %s %s \"…\" (cordon inbox shows them)", w.ID,
		len(open), w.ID, open[0].ID())
}
