package cellnet

import (
	"slices"

	"cordon/internal/cell"
	"cordon/internal/policy"
)

// Unreached says what a command that failed may have missed of the network, in a cell
// of these layers, or "". Whoever wrote the command does not know what the cell had.
func Unreached(p policy.Policy, layers []cell.Layer, exit cell.Exit) string {
	n, err := For(p)
	switch {
	case err != nil || !slices.Contains(layers, cell.Namespaces) || !missedSomething(exit):
		return ""
	case n == nil && p.Network.Older() && len(p.Network.AllowedDomains) > 0:
		return "" // what it was told at its start
	case n == nil:
		return "the cell had no network: network.allowed_domains is empty (network.observe records attempts)"
	case n.missing(layers):
		return "the cell had no network: network.allowed_domains is empty"
	case !slices.Contains(layers, cell.Network):
		return "programs that ignore the proxy variables reached nothing (network.via: proxy)"
	}
	return ""
}

// Recorded reports whether it is written down what a worker under a policy tries.
func Recorded(p policy.Policy) bool {
	n, err := For(p)
	return err == nil && n != nil
}

// missedSomething reports whether a command ran and failed by itself, or waited for
// what did not come. A shell says 126 and 127 of what it could not run.
func missedSomething(exit cell.Exit) bool {
	switch exit.Reason {
	case cell.Exited:
		return exit.Code > 0 && exit.Code < 126
	case cell.TimedOut:
		return true
	}
	return false
}
