package known

import (
	"slices"

	"cordon/internal/commands"
	"cordon/internal/mark"
)

// What a worker may ask of cordon: to pass something on, or to tell about itself.
// Everything else decides about workers.
var ownVerbs = [...]string{"ask", "briefing", "done", "help", "review", "status", "truth", "version"}

// cordon is this very program, called by a worker.
func (g *reading) cordon() {
	verb := g.verb(0)
	switch {
	case verb == "" || slices.Contains(ownVerbs[:], verb) || helpOnly(g.call.Args[1:]):
		return
	case mark.In(verb):
		g.ask("the cordon command is not known", "write the command out: cordon ask, cordon done or cordon status")
		return
	}
	g.use.Findings = append(g.use.Findings, commands.Finding{
		Weight:  commands.Deny,
		Reason:  "only the operator decides about workers: cordon " + verb + " is the operator's",
		Instead: `run cordon done when you have finished, or cordon ask "…" if you need something; merging, releasing and discarding are for the operator`,
	})
}

// helpOnly reports whether nothing is wanted but how a command is called.
func helpOnly(args []string) bool {
	return len(args) == 2 && (args[1] == "--help" || args[1] == "-h") && args[0] != "--"
}
