package wrap

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/commands/table"
	"cordon/internal/mark"
)

// wrapRunner knows the programs that run a command in an environment of theirs.
func wrapRunner(name string, c commands.Call) (commands.Use, bool) {
	switch name {
	case "npx", "npm":
		return npxUse(name, c)
	case "direnv", "uv":
		if use, ok := otherRunner(name, c); ok {
			return use, true
		}
	case "entr", "ts":
		return listRunner(name, c), true
	}
	return commands.Use{}, false
}

// renamed is the command behind the name that a runner was given.
func renamed(to table.Style, rest []string, module bool) []string {
	first, tail := rest[0], rest[1:]
	switch {
	case to&table.AsPython != 0 && module:
		return append([]string{"python3", "-m", first}, tail...)
	case to&table.AsPython != 0 && (strings.HasSuffix(first, ".py") || first == "-"):
		return append([]string{"python3", first}, tail...)
	case to&table.AsTask != 0:
		if _, command, ok := strings.Cut(first, ":"); ok && command != "" {
			first = command
		}
	case to&table.AsPackage != 0 && strings.Contains(first, "@") && len(tail) > 1 && tail[0] == "--" && !strings.HasPrefix(tail[1], "-"):
		return tail[1:] // mise exec node@20 -- command
	case to&table.AsPackage != 0:
		first = packedCommand(first)
	}
	return append([]string{first}, tail...)
}

// packedCommand is the command of a package: name of @scope/name@1.2.
func packedCommand(name string) string {
	if argtext.LooksLikePath(name) || strings.HasPrefix(name, "./") || mark.In(name) {
		return name
	}
	scoped := strings.HasPrefix(name, "@")
	name = strings.TrimPrefix(name, "@")
	name, _, _ = strings.Cut(name, "@")
	if i := strings.LastIndexByte(name, '/'); i >= 0 && (scoped || strings.Contains(name, ":")) {
		name = name[i+1:]
	}
	return name
}

// npxUse is npx, and npm exec.
func npxUse(name string, c commands.Call) (commands.Use, bool) {
	w := newWrapping(c)
	s := Scan(c.Args[1:], "npx")
	if name == "npm" {
		if len(s.Operands) == 0 || s.Operands[0] != "exec" && s.Operands[0] != "x" {
			return commands.Use{}, false
		}
		w.takeAll(s)
		// npm takes its own options up to --, wherever they are.
		s = Scan(s.Operands[1:], "npx")
	}
	w.takeAll(s)
	rest := s.Operands
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		rest = renamed(table.AsPackage, rest, false)
	}
	w.command(rest, 0)
	return w.done(), true
}
