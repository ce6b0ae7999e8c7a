package git

import (
	"cmp"
	"strings"

	"cordon/internal/commands"
	"cordon/internal/commands/argtext"
	"cordon/internal/mark"
)

// checkout switches to another branch, or takes files from a revision.
func (g *gitCall) checkout() {
	before := g.before()
	if g.Has("ignore-other-worktrees") {
		g.ask("another worktree has that branch", "make a branch of your own")
	}
	switch {
	case g.Has("b"):
		g.newBranch(g.Text("b"), g.nth(0), true)
	case g.Has("B"):
		g.newBranch(g.Text("B"), g.nth(0), false)
	case g.Has("orphan"):
		g.newBranch(g.Text("orphan"), g.nth(0), true)
	case g.Has("detach", "d"):
		g.act(commands.GitSwitches, "", g.nth(0))
	case g.Has("t", "track") && len(before) == 1:
		g.track(before[0])
	case g.Tail >= 0 && len(g.after()) > 0 || g.Has("pathspec-from-file"):
		g.pathspecs(commands.Write, g.after())
	case len(before) > 1 || len(before) == 1 && onlyPath(before[0]):
		g.restores(before)
	case len(before) == 1:
		g.checkoutOne(before[0])
	}
}

// checkoutOne checks out what may be a branch, a commit or a file.
func (g *gitCall) checkoutOne(s string) {
	switch {
	case s == "HEAD" || s == "@":
		return
	case strings.ContainsAny(s, "~^:") || strings.Contains(s, "@{") || isHash(s):
		g.act(commands.GitSwitches, "", s)
		return
	case looksFile(s):
		g.pathspecs(commands.Write, []string{s})
	}
	g.act(commands.GitSwitches, s, "").Maybe = true
}

// restores takes files from a revision or from the index. The first operand may
// be that revision.
func (g *gitCall) restores(operands []string) {
	if first := operands[0]; len(operands) > 1 && !onlyPath(first) && !looksFile(first) {
		operands = operands[1:]
	}
	g.pathspecs(commands.Write, operands)
}

// switches switches to another branch.
func (g *gitCall) switches() {
	switch {
	case g.Has("c", "create"):
		g.newBranch(g.Text("c", "create"), g.nth(0), true)
	case g.Has("C", "force-create"):
		g.newBranch(g.Text("C", "force-create"), g.nth(0), false)
	case g.Has("orphan"):
		g.newBranch(g.Text("orphan"), "", true)
	case g.Has("d", "detach"):
		g.act(commands.GitSwitches, "", g.nth(0))
	case g.Has("t", "track") && len(g.Operands) == 1:
		g.track(g.nth(0))
	case len(g.Operands) > 0:
		g.act(commands.GitSwitches, g.nth(0), "")
	}
}

// newBranch makes a branch, or moves one that is there, and switches to it.
func (g *gitCall) newBranch(name, start string, fresh bool) {
	g.moves(heads, name, cmp.Or(start, "HEAD")).New = fresh
	g.act(commands.GitSwitches, name, start).New = fresh
}

// track makes a branch with the name of the upstream, without that of its remote.
func (g *gitCall) track(upstream string) {
	_, name, _ := strings.Cut(strings.TrimPrefix(upstream, "refs/remotes/"), "/")
	g.newBranch(cmp.Or(name, upstream), upstream, true)
}

// branch makes, moves, copies and removes branches; without operands it lists.
func (g *gitCall) branch() {
	forced := g.Has("f", "force")
	switch {
	case g.Has("d", "D", "delete"):
		below := heads
		if g.Has("r", "remotes") {
			below = "refs/remotes/"
		}
		for _, b := range g.Operands {
			g.moves(below, b, "")
		}
	case g.Has("m", "M", "move"):
		g.renames(forced || g.Has("M"), true)
	case g.Has("c", "C", "copy"):
		g.renames(forced || g.Has("C"), false)
	case g.Has("u", "set-upstream-to"):
		g.act(commands.GitConfigures, "branch."+cmp.Or(g.nth(0), "HEAD")+".merge", g.Text("u", "set-upstream-to"))
	case g.Has("unset-upstream", "edit-description"):
		g.act(commands.GitConfigures, "branch."+cmp.Or(g.nth(0), "HEAD")+".merge", "")
	case len(g.Operands) == 0 || g.lists():
	default:
		g.moves(heads, g.nth(0), cmp.Or(g.nth(1), "HEAD")).New = !forced
	}
}

// renames moves or copies a branch: the current one, unless two are named.
func (g *gitCall) renames(forced, away bool) {
	from, to := g.nth(0), g.nth(1)
	if len(g.Operands) < 2 {
		from, to = "HEAD", g.nth(0)
	}
	if to == "" {
		return
	}
	if away {
		g.moves(heads, from, "")
	}
	g.moves(heads, to, from).New = !forced
}

// lists reports whether branch or tag only lists.
func (g *gitCall) lists() bool {
	return g.Has("l", "list", "a", "all", "r", "remotes", "contains", "no-contains", "merged", "no-merged", "points-at", "show-current")
}

// tag makes, moves and removes tags; without operands it lists.
func (g *gitCall) tag() {
	signed := g.Has("a", "annotate", "s", "sign", "u", "local-user", "m", "message", "F", "file")
	switch {
	case g.Has("d", "delete"):
		for _, t := range g.Operands {
			g.moves(tags, t, "")
		}
	case g.Has("v", "verify") || len(g.Operands) == 0:
	case !signed && !g.Has("f", "force") && (g.lists() || g.Has("n")):
	default:
		g.moves(tags, g.nth(0), cmp.Or(g.nth(1), "HEAD")).New = !g.Has("f", "force")
	}
}

// updateRef moves refs, the ones that are named or those on standard input.
func (g *gitCall) updateRef() {
	if !g.Has("stdin") {
		if len(g.Operands) > 0 {
			g.act(commands.GitMovesRef, g.nth(0), g.nth(1))
		}
		return
	}
	if g.call.Stdin == "" || mark.Has(g.call.Stdin, mark.Any) {
		g.act(commands.GitMovesRef, mark.Any, "")
	}
	for line := range strings.FieldsFuncSeq(g.call.Stdin, func(r rune) bool { return r == '\n' || r == 0 }) {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "update", "create", "delete", "symref-update", "symref-create", "symref-delete":
			ref, value, _ := strings.Cut(rest, " ")
			g.act(commands.GitMovesRef, strings.Trim(ref, `"`), value)
		}
	}
}

// symbolicRef lets a ref, mostly HEAD, lead to another.
func (g *gitCall) symbolicRef() {
	name, to := g.nth(0), g.nth(1)
	switch {
	case g.Has("d", "delete"):
		g.act(commands.GitMovesRef, name, "")
	case to == "":
	case name == "HEAD":
		g.act(commands.GitSwitches, strings.TrimPrefix(to, heads), "")
	default:
		g.act(commands.GitMovesRef, name, to)
	}
}

// bisect walks through history. What it marks is the tree's own.
func (g *gitCall) bisect() {
	switch g.nth(0) {
	case "run":
		if len(g.Operands) > 1 {
			g.use.Runs = append(g.use.Runs, commands.Run{Args: g.Operands[1:], Dir: g.dir, Why: "bisect run"})
		}
	case "replay":
		g.value("read", g.nth(1), "operand")
	case "view", "visualize":
		for _, o := range g.rest() {
			for _, p := range argtext.LooseArgument(o) {
				g.path(commands.Write, p, "bisect "+g.nth(0))
			}
		}
	case "start", "good", "bad", "old", "new", "skip", "next":
		g.act(commands.GitSwitches, "", "")
	case "reset":
		g.act(commands.GitSwitches, "-", g.nth(1))
	}
}
