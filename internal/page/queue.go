package page

import (
	"strings"
	"time"

	"cordon/internal/terminal"
	"cordon/internal/view"
)

// Queue prints what waits for its landing.
func (p Page) Queue(v *view.Queue, now time.Time) error {
	if p.JSON {
		return p.Object(v)
	}
	if len(v.Branches) == 0 {
		p.Say("no result waits for its landing")
	}
	for _, b := range v.Branches {
		p.Print("%s: %s, at most %d tested at once", b.Target, terminal.Plural(len(b.Results), "result"), b.Window)
		var rows [][]string
		for _, r := range b.Results {
			rows = append(rows, []string{"  " + r.Worker, queueState(r), terminal.Age(now.Sub(r.Since))})
		}
		terminal.WrappedTable(p.Out, rows)
	}
	return nil
}

// queueState says what a result does in the queue, with those that it builds on.
func queueState(r view.QueueResult) string {
	text := map[string]string{
		"waits": "waits", "tested": "is tested", "passed": "passed", "failed": "failed; one ahead of it may be the cause", "landing": "lands",
	}[r.State]
	if len(r.Ahead) > 0 && r.State != "waits" {
		text += " behind " + strings.Join(r.Ahead, ", ")
	}
	if r.Again {
		text += ", for the second time"
	}
	return text
}
