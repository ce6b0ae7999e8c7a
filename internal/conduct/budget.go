package conduct

import (
	"fmt"

	"cordon/internal/agent/clients"
	"cordon/internal/client"
	"cordon/internal/launch"
	"cordon/internal/plan"
	"cordon/internal/stream"
)

// left is what the next worker of a stage may use.
func left(report Report, st plan.Stage) launch.Budget {
	b, _, _ := st.Budget.Left(report.Used[st.ID], report.Run.Budgets[st.ID])
	return launch.Budget{Tokens: b.Tokens, Cost: b.Cost}
}

// lateReports say which budgets can stop a stage only between two runs of its client.
func lateReports(permits []plan.Permit, agent string) (notes []string) {
	for _, p := range permits {
		st, name := p.Stage, p.Stage.Agent
		if name == "" {
			name = agent
		}
		a, err := clients.Of(client.Name(name))
		if err != nil || a.Stream == nil {
			continue
		}
		for _, b := range []struct {
			asked bool
			said  stream.Reported
			what  string
		}{{st.Budget.Tokens > 0, a.Stream.Tokens, "tokens"}, {st.Budget.Cost > 0, a.Stream.Cost, "cost"}} {
			if b.asked && b.said == stream.AtEnd {
				notes = append(notes, fmt.Sprintf("%s: %s reports its %s at the end of a run: the budget keeps it from starting again, and does not stop a run",
					st.ID, name, b.what))
			}
		}
	}
	return notes
}
