package present

import (
	"fmt"
	"strings"

	"cordon/internal/ledger"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// Short counts the workers of the repository around a directory that need a person, and
// those that run. It starts no process.
func Short(dir string) (n view.Short, err error) {
	err = worksite.Glance(dir, func(w *ledger.Worker, now worksite.Standing) {
		switch GroupOf(w, now) {
		case view.NeedsYou:
			n.NeedYou++
		case view.AtWork:
			n.Running++
		}
	})
	return n, err
}

// ShortLine is that for a prompt: nothing where there is nothing to say.
func ShortLine(n view.Short) string {
	var words []string
	switch n.NeedYou {
	case 0:
	case 1:
		words = append(words, "1 needs you")
	default:
		words = append(words, fmt.Sprintf("%d need you", n.NeedYou))
	}
	if n.Running > 0 {
		words = append(words, fmt.Sprintf("%d running", n.Running))
	}
	return strings.Join(words, ", ")
}
