package present

import (
	"strings"

	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// thenView is the operator's command after a landing as it is shown.
func thenView(t *ledger.Then, held bool) *view.Then {
	switch {
	case t == nil:
		return nil
	case t.End == nil && held:
		return &view.Then{Command: t.Command, Commit: string(t.Commit), How: "is running"}
	case t.End == nil:
		return &view.Then{Command: t.Command, Commit: string(t.Commit), How: "was started, and its end is not known: cordon does not repeat it"}
	}
	return &view.Then{Command: t.Command, Commit: string(t.Commit), Code: &t.End.Code, How: t.End.How, Output: t.End.Output}
}

// thenRows are the rows of show about it.
func thenRows(t *view.Then) (rows [][]string) {
	if t == nil {
		return nil
	}
	rows = append(rows, []string{"then", worksite.Shorten(t.Command) + ": " + t.How})
	if t.Code != nil && *t.Code != 0 {
		for line := range strings.Lines(strings.TrimSpace(t.Output)) {
			rows = append(rows, []string{"", terminal.Clip(legible.Line(line), 100)})
		}
	}
	return rows
}
