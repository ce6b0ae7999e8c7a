package ledger

import (
	"fmt"
	"strings"

	"cordon/internal/cell"
)

// Cell is the confinement of a launch. Nothing in it means that there was none.
type Cell struct {
	Layers   []cell.Layer   `json:"layers"` // proven for this launch
	Landlock int            `json:"landlock,omitempty"`
	Missing  []cell.Missing `json:"missing,omitempty"`
	Proven   []string       `json:"proven,omitempty"` // acts that were tried first, with the right answer

	// Private are the layers that took what the worker wrote outside its tree.
	// Older journals do not name them.
	Private []cell.PrivateLayer `json:"private,omitempty"`

	// Memory is how the limit on memory was held; "" where there was none, and in
	// older journals.
	Memory cell.Counting `json:"memory,omitempty"`
}

// String is the confinement in a line.
func (c Cell) String() string {
	if len(c.Layers) == 0 {
		return "unconfined: isolation is none, so reads, writes elsewhere, network and limits but time are not enforced"
	}
	var words []string
	for _, l := range c.Layers {
		word := string(l)
		if l == cell.Landlock && c.Landlock > 0 {
			word = fmt.Sprintf("%s %d", l, c.Landlock)
		}
		words = append(words, word)
	}
	return fmt.Sprintf("%s; %d acts proven before the start", strings.Join(words, ", "), len(c.Proven))
}
