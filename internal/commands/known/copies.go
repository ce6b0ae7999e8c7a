package known

import (
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// copies are cp, mv and install: besides the paths, what is where afterwards.
func (g *reading) copies(name string) {
	g.plainly()
	sources, to, into := g.destination()
	symbolic := name == "cp" && g.Has("s", "symbolic-link")
	hard := name == "cp" && g.Has("l", "link")
	if name == "install" && g.Has("d", "directory") {
		return
	}
	exact := g.Has("T", "no-target-directory")
	for _, s := range sources {
		at, made := argtext.Made(s, to, into, exact)
		for _, m := range made {
			switch {
			case symbolic:
				g.use.Effects = append(g.use.Effects, commands.Effect{Path: m, Link: s})
			default:
				g.use.Effects = append(g.use.Effects, commands.Effect{Path: m, From: s})
			}
		}
		if symbolic {
			g.use.Access = append(g.use.Access, commands.Access{Role: commands.Target, Path: s, Dir: at, Why: "operand"})
		}
		if hard {
			g.path(commands.Write, s, "operand")
		}
	}
}

// destination returns what is copied or linked, where to, and whether that is
// certainly a directory.
func (g *reading) destination() (sources []string, to string, into bool) {
	if o, ok := g.Given("t", "target-directory"); ok {
		return g.Operands, o.Value, true
	}
	if len(g.Operands) < 2 {
		return nil, "", false
	}
	n := len(g.Operands) - 1
	to = g.Operands[n]
	return g.Operands[:n], to, n > 1 || strings.HasSuffix(to, "/") || to == "." || to == ".."
}

// links is ln.
func (g *reading) links() {
	g.plainly()
	sources, to, into := g.destination()
	if len(g.Operands) == 1 && !g.Has("t", "target-directory") {
		sources, to, into = g.Operands, ".", true
	}
	exact, relative := g.Has("T", "no-target-directory"), g.Has("r", "relative")
	symbolic := g.Has("s", "symbolic")
	for _, s := range sources {
		dir, paths := argtext.Made(s, to, into, exact)
		if symbolic {
			g.link(s, dir, paths, relative)
		} else {
			g.hard(s, paths)
		}
	}
	if symbolic && g.Has("n", "no-dereference", "T", "no-target-directory") {
		g.replaces()
	}
}

// replaces notes that the names of links are not followed themselves.
func (g *reading) replaces() {
	for i := range g.use.Access {
		if a := &g.use.Access[i]; a.Why == "link" {
			a.Link = true
		}
	}
}

// link is one symbolic link. What it leads to is relative to where it is, unless
// ln itself is asked to make that of a path relative to the working directory.
func (g *reading) link(target, dir string, paths []string, relative bool) {
	leads := target
	if relative {
		dir = ""
		if !strings.HasPrefix(target, "/") {
			leads = mark.Any
		}
	}
	g.use.Access = append(g.use.Access, commands.Access{Role: commands.Target, Path: target, Dir: dir, Why: "link target"})
	g.path(commands.Write, paths[0], "link")
	for _, p := range paths {
		g.use.Effects = append(g.use.Effects, commands.Effect{Path: p, Link: leads})
	}
}

// hard is a link of the other sort: the same file under two names, so that who
// writes to one writes to the other.
func (g *reading) hard(source string, paths []string) {
	g.path(commands.Read, source, "link target")
	g.path(commands.Write, source, "link target")
	g.path(commands.Write, paths[0], "link")
	for _, p := range paths {
		g.use.Effects = append(g.use.Effects, commands.Effect{Path: p, From: source})
	}
}

// hardLink is link, which takes two names and nothing else.
func (g *reading) hardLink() {
	if len(g.Operands) == 2 {
		g.use.Effects = append(g.use.Effects, commands.Effect{Path: g.Operands[1], From: g.Operands[0]})
	}
}

// tees are tee and sponge: what they read is what is in the files afterwards.
func (g *reading) tees() {
	g.plainly()
	text := g.call.Stdin
	if !g.call.Fed {
		text = mark.Any
	}
	for _, p := range g.Operands {
		if p != "-" {
			g.use.Effects = append(g.use.Effects, commands.Effect{Path: p, Text: text, Add: g.Has("a", "append")})
		}
	}
}
