package launch

import (
	"sort"

	"cordon/internal/ledger"
	"cordon/internal/legible"
	"cordon/internal/stream"
)

// Bounds of what is recorded of a client's own stream, which whatever is in its cell may
// have written.
const (
	maxTools  = 50  // the others are one
	maxWord   = 200 // characters of a name
	otherTool = "…"
)

// streamRecord is what a stream says, as it is recorded.
func streamRecord(said stream.Summary) ledger.Stream {
	return ledger.Stream{
		Calls: len(said.Calls) + said.More, Tools: toolsOf(said), Input: said.Usage.Input, Output: said.Usage.Output,
		Cached: said.Usage.Cached, Cost: said.Usage.Cost, Turns: said.Usage.Turns, Model: shortWord(said.Model),
		Session: shortWord(said.Session), Reason: shortWord(said.Reason), Unknown: said.Unknown,
	}
}

func shortWord(s string) string { return legible.Clip(legible.PlainLine(s), maxWord) }

// toolsOf counts the calls of each tool: of those that were called most.
func toolsOf(said stream.Summary) map[string]int {
	all := map[string]int{}
	for _, c := range said.Calls {
		all[shortWord(c.Tool)]++
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := names[i], names[j]
		return all[a] > all[b] || all[a] == all[b] && a < b
	})
	tools := map[string]int{}
	for i, name := range names {
		if i >= maxTools {
			name = otherTool
		}
		tools[name] += all[names[i]]
	}
	if said.More > 0 {
		tools[otherTool] += said.More
	}
	return tools
}
