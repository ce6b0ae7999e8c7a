package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"cordon/internal/shell/partial"
)

// boundBraces gives up on a word whose braces make too many. The library counts
// them one by one while it makes them.
func (m *Machine) boundBraces(w *syntax.Word) {
	for _, p := range w.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || !strings.Contains(lit.Value, "{") {
			continue
		}
		split := *w
		if syntax.SplitBraces(&split) && partial.Words(&split, 0) > partial.MaxWords {
			m.run.stop("it expands to too many words")
		}
		return
	}
}
