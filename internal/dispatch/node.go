package dispatch

import (
	"slices"
	"strings"

	"cordon/internal/fault"
	"cordon/internal/ledger"
	"cordon/internal/legible"
)

// CheckNode refuses a node that is not there: a stage for it would wait until its lease expires. Any node is fine, also
// while there is none: nodes may join because stages wait.
func CheckNode(now *ledger.Ledger, on string) error {
	if on == "" || on == ledger.AnyNode {
		return nil
	}
	if _, ok := now.Node(on); ok {
		return nil
	}
	why := "has no node"
	var names []string
	for _, n := range now.Nodes {
		switch {
		case !n.Removed:
			names = append(names, n.Name)
		case n.Name == on:
			why = "has removed the node"
		}
	}
	slices.Sort(names)
	others := "it has none"
	if len(names) > 0 {
		others = "it has " + strings.Join(names, ", ")
	}
	return fault.Refuse("the fleet of this repository %s %s; %s. cordon fleet ls lists the nodes, and cordon fleet join adds one", why, legible.Line(on), others)
}
