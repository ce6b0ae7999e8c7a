package page

import (
	"fmt"
	"strings"

	"cordon/internal/demo"
	"cordon/internal/present"
	"cordon/internal/terminal"
	"cordon/internal/view"
	"cordon/internal/worksite"
)

// Demo shows what became of every actor of the demo, and whether it is what the demo says.
// escapes are the traces that were found on the host.
func (p Page) Demo(dir, repo string, cast []demo.Played, escapes []string) error {
	surprise := len(escapes) > 0
	shown := view.Demo{Directory: dir}
	rows := [][]string{{"WORKER", "RESULT", "THE AGENT …", "WHY"}}
	for _, c := range cast {
		surprise = surprise || c.Status != c.Want
		v := view.Actor{Worker: string(c.Worker.ID), Status: string(c.Status), Agent: c.Does, AsExpected: c.Status == c.Want}
		v.Reason = present.Reason(c.Worker, worksite.Standing{Status: c.Status})
		shown.Workers = append(shown.Workers, v)
		rows = append(rows, []string{v.Worker, v.Status, v.Agent, strings.TrimLeft(present.Because(c.Worker, c.Status), ": ")})
	}
	if p.JSON {
		if err := p.Object(&shown); err != nil {
			return err
		}
	} else {
		p.Say("")
		terminal.Table(p.Out, rows)
		p.Say("%s", strings.Join(demo.LookAround(dir, repo, cast), "\n"))
	}
	for _, e := range escapes {
		p.Say("ESCAPED: %s", e)
	}
	if len(escapes) == 0 {
		p.Say("\nSearched the host for what the hostile agents tried to leave: no trace.")
	}
	if surprise {
		return fmt.Errorf("this is not what the demo is meant to show: please report it")
	}
	return nil
}
