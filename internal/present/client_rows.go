package present

import (
	"fmt"
	"strings"
	"time"

	"cordon/internal/legible"
	"cordon/internal/terminal"
	"cordon/internal/view"
)

// agentRows are the rows of show about an agent client: what was started, whether its
// hooks were seen alive, and what it says it did.
func AgentRows(c *view.Client) (rows [][]string) {
	if c == nil || c.Wiring == nil {
		return nil
	}
	how := "hooks by arguments and variables"
	if len(c.Wiring.Managed) > 0 {
		how = "hooks in " + strings.Join(c.Wiring.Managed, ", ") + " of its cell"
	}
	rows = append(rows, []string{"client", fmt.Sprintf("%s %s, %s", c.Wiring.Client, c.Wiring.Version, how)})
	if p := c.Proof; p != nil {
		rows = append(rows, []string{"proof", fmt.Sprintf("%s after %.1f s; the canary: %s", p.Event, time.Duration(p.After).Seconds(), p.Canary)})
	} else {
		rows = append(rows, []string{"proof", "none: nothing was heard of its hooks"})
	}
	s := c.Stream
	if s == nil {
		return rows
	}
	rows = append(rows, []string{"says", streamLine(s)})
	switch {
	case len(s.Gap) > 0:
		rows = append(rows, []string{"gap", "ran without the guard: " + legible.Line(strings.Join(s.Gap, ", "))})
	case s.Why != "":
		rows = append(rows, []string{"", legible.Line(s.Why)})
	}
	return rows
}

// streamLine is what a client says it used.
func streamLine(s *view.Summary) string {
	parts := []string{terminal.Plural(s.Calls, "tool call")}
	if s.Input+s.Output > 0 {
		parts = append(parts, fmt.Sprintf("%d tokens in, %d out", s.Input, s.Output))
	}
	if s.Cost > 0 {
		parts = append(parts, fmt.Sprintf("$%.4f", s.Cost))
	}
	if s.Model != "" {
		parts = append(parts, "model "+legible.Line(s.Model))
	}
	if s.Reason != "" {
		parts = append(parts, "ended: "+legible.Line(s.Reason))
	}
	return strings.Join(parts, ", ")
}
