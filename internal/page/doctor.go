package page

import (
	"cordon/internal/seccomp"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// RefusedCalls lists what the filter of a cell answers for.
func (p Page) RefusedCalls() error {
	shown := view.Calls{}
	for _, e := range seccomp.Table() {
		shown.Calls = append(shown.Calls, view.Call(e))
	}
	if p.JSON {
		return p.Object(&shown)
	}
	rows := [][]string{{"CALL", "ANSWER", "WHY"}}
	for _, e := range shown.Calls {
		why := e.Reason
		if e.When != "" {
			why = e.When + ": " + why
		}
		rows = append(rows, []string{e.Call, e.Errno, why})
	}
	terminal.Table(p.Out, rows)
	return nil
}
