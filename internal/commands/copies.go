package commands

import (
	"strings"

	"cordon/internal/mark"
)

// copies are cp, mv and install: besides the paths, what is where afterwards.
func (g *reading) copies(name string) {
	g.plainly()
	sources, to, into := g.destination()
	symbolic := name == "cp" && g.has("s", "symbolic-link")
	hard := name == "cp" && g.has("l", "link")
	if name == "install" && g.has("d", "directory") {
		return
	}
	exact := g.has("T", "no-target-directory")
	for _, s := range sources {
		at, made := made(s, to, into, exact)
		for _, m := range made {
			switch {
			case symbolic:
				g.use.Effects = append(g.use.Effects, Effect{Path: m, Link: s})
			default:
				g.use.Effects = append(g.use.Effects, Effect{Path: m, From: s})
			}
		}
		if symbolic {
			g.use.Access = append(g.use.Access, Access{Role: Target, Path: s, Dir: at, Why: "operand"})
		}
		if hard {
			g.path(Write, s, "operand")
		}
	}
}

// destination returns what is copied or linked, where to, and whether that is
// certainly a directory.
func (g *reading) destination() (sources []string, to string, into bool) {
	if o, ok := g.given("t", "target-directory"); ok {
		return g.operands, o.value, true
	}
	if len(g.operands) < 2 {
		return nil, "", false
	}
	n := len(g.operands) - 1
	to = g.operands[n]
	return g.operands[:n], to, n > 1 || strings.HasSuffix(to, "/") || to == "." || to == ".."
}

// links is ln.
func (g *reading) links() {
	g.plainly()
	sources, to, into := g.destination()
	if len(g.operands) == 1 && !g.has("t", "target-directory") {
		sources, to, into = g.operands, ".", true
	}
	exact, relative := g.has("T", "no-target-directory"), g.has("r", "relative")
	symbolic := g.has("s", "symbolic")
	for _, s := range sources {
		dir, paths := made(s, to, into, exact)
		if symbolic {
			g.link(s, dir, paths, relative)
		} else {
			g.hard(s, paths)
		}
	}
	if symbolic && g.has("n", "no-dereference", "T", "no-target-directory") {
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
	g.use.Access = append(g.use.Access, Access{Role: Target, Path: target, Dir: dir, Why: "link target"})
	g.path(Write, paths[0], "link")
	for _, p := range paths {
		g.use.Effects = append(g.use.Effects, Effect{Path: p, Link: leads})
	}
}

// hard is a link of the other sort: the same file under two names, so that who
// writes to one writes to the other.
func (g *reading) hard(source string, paths []string) {
	g.path(Read, source, "link target")
	g.path(Write, source, "link target")
	g.path(Write, paths[0], "link")
	for _, p := range paths {
		g.use.Effects = append(g.use.Effects, Effect{Path: p, From: source})
	}
}

// hardLink is link, which takes two names and nothing else.
func (g *reading) hardLink() {
	if len(g.operands) == 2 {
		g.use.Effects = append(g.use.Effects, Effect{Path: g.operands[1], From: g.operands[0]})
	}
}

// tees are tee and sponge: what they read is what is in the files afterwards.
func (g *reading) tees() {
	g.plainly()
	text := g.call.Stdin
	if !g.call.Fed {
		text = mark.Any
	}
	for _, p := range g.operands {
		if p != "-" {
			g.use.Effects = append(g.use.Effects, Effect{Path: p, Text: text, Add: g.has("a", "append")})
		}
	}
}
