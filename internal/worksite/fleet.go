package worksite

import (
	"encoding/json"
	"path/filepath"

	"cordon/internal/ledger"
	"cordon/internal/plainfile"
)

// maxWaiting bounds the file in which the home of a fleet says why stages wait.
const maxWaiting = 8 << 20

// WhereAway says where the command of a worker is that runs on a node of a fleet, or why no node has it.
func (s *Site) WhereAway(now *ledger.Ledger, w *ledger.Worker) string {
	node, _ := now.Node(w.Options.On)
	offered := "offered to " + w.Options.On
	if w.Options.On == ledger.AnyNode {
		offered = "offered to the nodes of the fleet"
	}
	switch why := s.WaitsInFleet(string(w.ID)); {
	case w.Away.Grant != nil:
		return "it runs on " + w.Away.Grant.Name
	case node.Draining:
		return w.Options.On + " is draining and gets nothing new; the stage waits: cordon fleet resume " + w.Options.On + " gives it to the node"
	case !s.HomeRuns():
		return offered + "; the home of the fleet does not run: cordon fleet home starts it"
	case why != "":
		return why
	}
	return offered
}

// HomeRuns reports whether the home of the fleet runs.
func (s *Site) HomeRuns() bool { return s.State.Held(filepath.Join("fleet", "home.lock")) }

// WaitsInFleet is why a stage waits, in the words of the home that runs; "": it has not said.
func (s *Site) WaitsInFleet(stage string) string {
	text, err := plainfile.Read(filepath.Join(s.State.Path(), "fleet", "waiting.json"), maxWaiting)
	var why map[string]string
	if err != nil || json.Unmarshal(text, &why) != nil {
		return ""
	}
	return why[stage]
}
