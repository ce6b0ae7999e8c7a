package known

import (
	"slices"
	"strings"

	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/commands/wrap"
)

// activates reports whether a call prints code that sets up a shell: variables,
// functions, completions. It is meant to be run by eval and touches nothing, so
// that it is as good as nothing.
func activates(called string, args []string) bool {
	if ownProgram(called) && !strings.HasPrefix(called, "/opt/") && !strings.HasPrefix(called, "/home/linuxbrew/") {
		return false
	}
	name, first, second := argtext.CommandName(called), nthOf(args, 1), nthOf(args, 2)
	for program, row := range table.TableRows(changes) {
		if verbs, ok := strings.CutPrefix(row, "activates "); ok && program == name {
			words := strings.Split(verbs, ",")
			return slices.Contains(words, first) || first == "" && words[0] == "-" || verbs == "*" || slices.Contains(words, first+"+"+second)
		}
	}
	return name == "ssh-agent" && agentAlone(args[1:]) || name == "keychain" && slices.Contains(args, "--eval")
}

// agentAlone reports whether ssh-agent is given no command to run.
func agentAlone(args []string) bool { return len(wrap.Scan(args, "ssh-agent").Operands) == 0 }

func nthOf(args []string, n int) string {
	if n < len(args) {
		return args[n]
	}
	return ""
}
