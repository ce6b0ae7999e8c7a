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
	case "env", "time":
		g.use.Runs = append(g.use.Runs, commands.Run{Args: append([]string{"env"}, args...), Why: command})
		return
	case "tar":
		g.use.Runs = append(g.use.Runs, commands.Run{Args: append([]string{"tar"}, args...), Why: command})
		return
	}
	g.as(cmakeKinds(command))
}

// as works the operands out by kinds that no row has.
func (g *reading) as(kinds string) {
	r := *g.Rows[0]
	r.Operands, r.When = kinds, ""
	g.Rows = []*table.Row{&r}
	g.plainly()
}

// cmakeKinds returns the kinds of the operands of a command of cmake -E.
func cmakeKinds(command string) string {
	switch command {
	case "copy", "copy_if_different", "copy_if_newer", "copy_directory", "copy_directory_if_different", "copy_directory_if_newer":
		return "read* write"
	case "rename":
		return "write write"
	case "create_symlink", "create_hardlink":
		return "read write"
	case "remove", "rm", "remove_directory", "make_directory", "touch", "touch_nocreate":
		return "write*"
	case "cat", "compare_files", "md5sum", "sha1sum", "sha256sum", "sha512sum":
		return "read*"
	case "echo", "echo_append", "sleep", "true", "false", "capabilities", "environment", "server":
		return "text*"
	}
	return "arg*"
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
