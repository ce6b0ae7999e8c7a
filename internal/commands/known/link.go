package known

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// linked notes which operands of a command are links themselves, if they are
// links, and not what these lead to. That a trailing slash leads there anyway is
// the guard's business.
func (g *reading) linked(name string) {
	if g.follows(name) {
		g.deep()
	}
	switch name {
	case "rm", "unlink", "rmdir":
		g.ownLinks(len(g.Operands))
		g.gone(g.Operands)
	case "mv":
		g.ownLinks(g.sources())
		g.gone(g.Operands[:max(g.sources(), 0)])
	case "cp":
		if g.Has("P", "no-dereference", "a", "archive", "d", "r", "R", "recursive") && !g.Has("L", "dereference", "H", "s", "symbolic-link", "l", "link") {
			g.ownLinks(g.sources())
		}
	case "rsync":
		if g.Has("a", "archive", "l", "links") && !g.Has("L", "copy-links", "copy-unsafe-links", "k", "copy-dirlinks") {
			g.ownLinks(len(g.Operands) - 1)
			g.carries()
		}
	default:
		g.looksAtLink(name)
	}
}

// looksAtLink is the same for what only looks at files, or changes who they
// belong to.
func (g *reading) looksAtLink(name string) {
	own := false
	switch name {
	case "readlink":
		own = !g.Has("f", "canonicalize", "e", "canonicalize-existing", "m", "canonicalize-missing")
	case "realpath":
		own = g.Has("s", "strip", "no-symlinks")
	case "ls":
		own = g.Has("d", "directory", "l", "long") && !g.Has("L", "dereference", "H", "dereference-command-line",
			"dereference-command-line-symlink-to-dir", "R", "recursive")
	case "stat", "file":
		own = !g.Has("L", "dereference")
	case "du":
		own = !g.Has("L", "dereference", "D", "H", "dereference-args")
	case "touch", "chown":
		own = g.Has("h", "no-dereference")
	}
	if own {
		g.ownLinks(len(g.Operands))
	}
}

// ownLinks notes it of the first operands.
func (g *reading) ownLinks(n int) {
	for i := range g.use.Access {
		a := &g.use.Access[i]
		if a.Why != "operand" {
			continue
		}
		if n--; n < 0 {
			return
		}
		a.Link = true
	}
}

// sources counts the operands that are copied or moved.
func (g *reading) sources() int {
	if g.Has("t", "target-directory") {
		return len(g.Operands)
	}
	return len(g.Operands) - 1
}

// carries tells what is where after links were copied as links.
func (g *reading) carries() {
	sources, to, _ := g.destination()
	for _, s := range sources {
		if strings.Contains(s+to, ":") || strings.HasSuffix(s, "/") {
			continue
		}
		_, paths := argtext.Made(s, to, false, false)
		for _, p := range paths {
			g.use.Effects = append(g.use.Effects, commands.Effect{Path: p, From: s})
		}
	}
}

// follows reports whether a command takes along, or changes, what the links that
// it finds below its operands lead to. Searches that follow links are everyday
// commands, and are judged by where they begin.
func (g *reading) follows(name string) bool {
	switch name {
	case "cp":
		return g.Has("L", "dereference") && g.Has("r", "R", "recursive", "a")
	case "rsync":
		return g.Has("L", "copy-links")
	case "tar":
		return g.Has("h", "dereference") && g.Has("c", "create", "r", "append", "u", "update")
	case "chown", "chmod":
		return g.Has("L") && g.Has("R", "recursive")
	}
	return false
}

// deep notes it of the operands, or of the working directory.
func (g *reading) deep() {
	found := false
	for i := range g.use.Access {
		if a := &g.use.Access[i]; a.Why == "operand" {
			a.Deep, found = true, true
		}
	}
	if !found {
		g.path(commands.Read, ".", "the working directory")
		g.use.Access[len(g.use.Access)-1].Deep = true
	}
}

// gone notes what is not there afterwards. Where a trailing slash leads is not
// where the link is.
func (g *reading) gone(paths []string) {
	for _, p := range paths {
		if p != "" && !strings.HasSuffix(p, "/") && !mark.In(p) {
			g.use.Effects = append(g.use.Effects, commands.Effect{Path: p, Dir: g.dir, Gone: true})
		}
	}
}
