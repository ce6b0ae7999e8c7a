package commands

import (
	"strings"

	"cordon/internal/mark"
)

// wrapRunner knows the programs that run a command in an environment of theirs.
func wrapRunner(name string, c Call) (Use, bool) {
	switch name {
	case "npx", "npm":
		return npxUse(name, c)
	case "mise", "rtx":
		return miseUse(c)
	case "nix", "nix-shell":
		return nixUse(name, c)
	case "direnv", "uv":
		if use, ok := otherRunner(name, c); ok {
			return use, true
		}
	case "entr", "nodemon", "concurrently", "hyperfine", "perf", "capsh", "xdg-open", "open", "run-parts", "inotifywait", "sudoedit", "ts":
		return listRunner(name, c), true
	}
	return Use{}, false
}

// renamed is the command behind the name that a runner was given.
func renamed(to style, rest []string, module bool) []string {
	first, tail := rest[0], rest[1:]
	switch {
	case to&asPython != 0 && module:
		return append([]string{"python3", "-m", first}, tail...)
	case to&asPython != 0 && (strings.HasSuffix(first, ".py") || first == "-"):
		return append([]string{"python3", first}, tail...)
	case to&asTask != 0:
		if _, command, ok := strings.Cut(first, ":"); ok && command != "" {
			first = command
		}
	case to&asPackage != 0:
		first = packedCommand(first)
	}
	return append([]string{first}, tail...)
}

// packedCommand is the command of a package: name of @scope/name@1.2.
func packedCommand(name string) string {
	if looksLikePath(name) || strings.HasPrefix(name, "./") || mark.In(name) {
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
func npxUse(name string, c Call) (Use, bool) {
	w := newWrapping(c)
	s := scan(c.Args[1:], "npx")
	if name == "npm" {
		if len(s.operands) == 0 || s.operands[0] != "exec" && s.operands[0] != "x" {
			return Use{}, false
		}
		w.takeAll(s)
		// npm takes its own options up to --, wherever they are.
		s = scan(s.operands[1:], "npx")
	}
	w.takeAll(s)
	rest := s.operands
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) > 0 {
		rest = renamed(asPackage, rest, false)
	}
	w.command(rest, 0)
	return w.done(), true
}

// miseUse is mise: tools, then -- and a command.
func miseUse(c Call) (Use, bool) {
	w := newWrapping(c)
	r := lookup("mise exec")
	s := parseArgs(c.Args[1:], &row{options: r.global}, stop|wraps)
	if len(s.operands) == 0 || s.operands[0] != "exec" && s.operands[0] != "x" {
		return Use{}, false
	}
	w.takeAll(s)
	s = parseArgs(s.operands[1:], r, stop|wraps)
	w.takeAll(s)
	rest := s.operands
	if !s.ended() {
		for len(rest) > 0 && strings.Contains(rest[0], "@") && rest[0] != "--" {
			rest = rest[1:]
		}
		again := parseArgs(rest, r, stop|wraps)
		w.takeAll(again)
		rest = again.operands
	}
	w.command(rest, 0)
	return w.done(), true
}

// nixUse is nix-shell, and the subcommands of nix that run a command.
func nixUse(name string, c Call) (Use, bool) {
	w := newWrapping(c)
	if name == "nix-shell" {
		s := scanAll(c.Args[1:], "nix-shell")
		w.takeAll(s)
		for _, word := range s.operands {
			if looksLikePath(word) {
				w.touch(Read, word, "operand")
			}
		}
		return w.done(), true
	}
	rest := c.Args[1:]
	for i, word := range rest {
		switch {
		case word == "-c" || word == "--command":
			w.command(rest[i+1:], 0)
			return w.done(), true
		case i > 0 && looksLikePath(strings.TrimPrefix(word, "path:")):
			file, _, _ := strings.Cut(strings.TrimPrefix(word, "path:"), "#")
			w.touch(Read, file, "operand")
		}
	}
	return Use{}, false
}
