package known

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/table"
)

// cmake has a small set of commands for files, behind -E, and scripts behind -P.
func (g *reading) cmake() {
	if !g.Has("E") {
		g.plainly()
		return
	}
	rest := afterE(g.call.Args)
	if len(rest) == 0 {
		return
	}
	command, args := rest[0], rest[1:]
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && command != "env" {
		args = args[1:]
	}
	g.Options, g.Operands = nil, args
	switch command {
	case "chdir":
		if len(args) > 1 {
			g.path(commands.Enter, args[0], "chdir")
			g.use.Runs = append(g.use.Runs, commands.Run{Args: args[1:], Dir: args[0], Why: "chdir"})
		}
		return
	case "env", "time", "tar":
		g.use.Runs = append(g.use.Runs, commands.Run{Args: append([]string{command}, args...), Why: command})
		return
	}
	r := *g.Rows[0]
	r.Operands, r.When = "write*", "" // most change files
	if strings.HasPrefix(command, "echo") || command == "sleep" {
		r.Operands = "text*"
	}
	g.Rows = []*table.Row{&r}
	g.plainly()
}

// afterE returns what follows -E.
func afterE(args []string) []string {
	for i, a := range args {
		if a == "-E" {
			return args[i+1:]
		}
	}
	return nil
}
